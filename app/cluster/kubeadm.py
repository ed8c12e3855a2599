"""What kubeadm 1.35 leaves on a control plane: the manifests of its static pods.

Mirrors cmd/kubeadm/app/phases/controlplane/manifests.go and phases/etcd/local.go. The text is what `cat` shows of
/etc/kubernetes/manifests, so that a learner finds the flags, mounts and probes of a real cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from app.apimachinery.meta import Object

VERSION = "v1.35.7"
ETCD_IMAGE = "registry.k8s.io/etcd:3.6.6-0"
MANIFESTS = "/etc/kubernetes/manifests"
PKI = "/etc/kubernetes/pki"
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
_CERTIFICATES = {
    "ca-certs": "/etc/ssl/certs",
    "etc-ca-certificates": "/etc/ca-certificates",
    "usr-local-share-ca-certificates": "/usr/local/share/ca-certificates",
    "usr-share-ca-certificates": "/usr/share/ca-certificates",
}
_DIRECTORY, _FILE = "DirectoryOrCreate", "FileOrCreate"


def manifests(host: str, address: str) -> dict[str, Object]:
    """The pods of a control plane by component, as their manifests hold them."""
    return {
        "etcd": _etcd(host, address),
        "kube-apiserver": _api_server(address),
        "kube-controller-manager": _controller_manager(),
        "kube-scheduler": _scheduler(),
    }


def text_of(manifest: Object) -> str:
    """A manifest as kubeadm writes it (sigs.k8s.io/yaml: keys in order, lists not indented)."""
    return yaml.dump({**manifest, "status": {}}, Dumper=_Dumper, default_flow_style=False, width=10_000)


class _Dumper(yaml.CSafeDumper):
    """Without anchors: equal parts are written each time."""

    def ignore_aliases(self, data: Any) -> bool:
        """Never an alias."""
        del data
        return True


def _etcd(host: str, address: str) -> Object:
    clients, peers = f"https://{address}:2379", f"https://{address}:2380"
    folder = f"{PKI}/etcd"
    flags = [
        f"--advertise-client-urls={clients}",
        f"--cert-file={folder}/server.crt",
        "--client-cert-auth=true",
        "--data-dir=/var/lib/etcd",
        "--feature-gates=InitialCorruptCheck=true",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster={host}={peers}",
        f"--key-file={folder}/server.key",
        f"--listen-client-urls=https://127.0.0.1:2379,{clients}",
        "--listen-metrics-urls=http://127.0.0.1:2381",
        f"--listen-peer-urls={peers}",
        f"--name={host}",
        f"--peer-cert-file={folder}/peer.crt",
        "--peer-client-cert-auth=true",
        f"--peer-key-file={folder}/peer.key",
        f"--peer-trusted-ca-file={folder}/ca.crt",
        "--snapshot-count=10000",
        f"--trusted-ca-file={folder}/ca.crt",
        "--watch-progress-notify-interval=5s",
    ]
    volumes = {"etcd-data": ("/var/lib/etcd", _DIRECTORY, False), "etcd-certs": (folder, _DIRECTORY, False)}
    pod = _pod("etcd", ETCD_IMAGE, flags, volumes, {"cpu": "100m", "memory": "100Mi"})
    pod["metadata"]["annotations"] = {"kubeadm.kubernetes.io/etcd.advertise-client-urls": clients}
    (container,) = pod["spec"]["containers"]
    container["ports"] = [_port(2381)]
    probe = {"host": "127.0.0.1", "scheme": "HTTP"}
    container |= _probes({**probe, "path": "/livez"}, {**probe, "path": "/readyz"}, {**probe, "path": "/readyz"})
    return pod


def _api_server(address: str) -> Object:
    flags = [
        f"--advertise-address={address}",
        "--allow-privileged=true",
        "--authorization-mode=Node,RBAC",
        f"--client-ca-file={PKI}/ca.crt",
        "--enable-admission-plugins=NodeRestriction",
        "--enable-bootstrap-token-auth=true",
        f"--etcd-cafile={PKI}/etcd/ca.crt",
        f"--etcd-certfile={PKI}/apiserver-etcd-client.crt",
        f"--etcd-keyfile={PKI}/apiserver-etcd-client.key",
        "--etcd-servers=https://127.0.0.1:2379",
        f"--kubelet-client-certificate={PKI}/apiserver-kubelet-client.crt",
        f"--kubelet-client-key={PKI}/apiserver-kubelet-client.key",
        "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
        f"--proxy-client-cert-file={PKI}/front-proxy-client.crt",
        f"--proxy-client-key-file={PKI}/front-proxy-client.key",
        "--requestheader-allowed-names=front-proxy-client",
        f"--requestheader-client-ca-file={PKI}/front-proxy-ca.crt",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        "--secure-port=6443",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={PKI}/sa.pub",
        f"--service-account-signing-key-file={PKI}/sa.key",
        "--service-cluster-ip-range=10.96.0.0/12",
        f"--tls-cert-file={PKI}/apiserver.crt",
        f"--tls-private-key-file={PKI}/apiserver.key",
    ]
    volumes = {"k8s-certs": (PKI, _DIRECTORY, True), **_certificates()}
    pod = _pod("kube-apiserver", _image("kube-apiserver"), flags, volumes, {"cpu": "250m"})
    pod["metadata"]["annotations"] = {
        "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint": f"{address}:6443"
    }
    (container,) = pod["spec"]["containers"]
    container["ports"] = [_port(6443)]
    probe = {"host": address, "scheme": "HTTPS"}
    container |= _probes({**probe, "path": "/livez"}, {**probe, "path": "/readyz"}, {**probe, "path": "/livez"})
    return pod


def _controller_manager() -> Object:
    kubeconfig = "/etc/kubernetes/controller-manager.conf"
    flags = [
        "--allocate-node-cidrs=true",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--client-ca-file={PKI}/ca.crt",
        "--cluster-cidr=10.244.0.0/16",
        "--cluster-name=kubernetes",
        f"--cluster-signing-cert-file={PKI}/ca.crt",
        f"--cluster-signing-key-file={PKI}/ca.key",
        "--controllers=*,bootstrapsigner,tokencleaner",
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=true",
        f"--requestheader-client-ca-file={PKI}/front-proxy-ca.crt",
        f"--root-ca-file={PKI}/ca.crt",
        f"--service-account-private-key-file={PKI}/sa.key",
        "--service-cluster-ip-range=10.96.0.0/12",
        "--use-service-account-credentials=true",
    ]
    volumes = {
        "flexvolume-dir": ("/usr/libexec/kubernetes/kubelet-plugins/volume/exec", _DIRECTORY, False),
        "k8s-certs": (PKI, _DIRECTORY, True),
        "kubeconfig": (kubeconfig, _FILE, True),
        **_certificates(),
    }
    pod = _pod("kube-controller-manager", _image("kube-controller-manager"), flags, volumes, {"cpu": "200m"})
    (container,) = pod["spec"]["containers"]
    container["ports"] = [_port(10257)]
    probe = {"host": "127.0.0.1", "scheme": "HTTPS", "path": "/healthz"}
    container |= _probes(probe, None, probe)
    return pod


def _scheduler() -> Object:
    kubeconfig = "/etc/kubernetes/scheduler.conf"
    flags = [
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=true",
    ]
    volumes = {"kubeconfig": (kubeconfig, _FILE, True)}
    pod = _pod("kube-scheduler", _image("kube-scheduler"), flags, volumes, {"cpu": "100m"})
    (container,) = pod["spec"]["containers"]
    container["ports"] = [_port(10259)]
    probe = {"host": "127.0.0.1", "scheme": "HTTPS"}
    container |= _probes({**probe, "path": "/livez"}, {**probe, "path": "/readyz"}, {**probe, "path": "/livez"})
    return pod


def _image(component: str) -> str:
    return f"registry.k8s.io/{component}:{VERSION}"


def _certificates() -> dict[str, tuple[str, str, bool]]:
    return {name: (path, _DIRECTORY, True) for name, path in _CERTIFICATES.items()}


def _pod(
    component: str,
    image: str,
    flags: Sequence[str],
    volumes: Mapping[str, tuple[str, str, bool]],
    requests: Mapping[str, str],
) -> Object:
    """A static pod (util/staticpod/utils.go: ComponentPod); volumes are (path, type, read only)."""
    mounts = [
        {"mountPath": path, "name": name, **({"readOnly": True} if read_only else {})}
        for name, (path, _, read_only) in sorted(volumes.items())
    ]
    container = {
        "name": component,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": [component, *flags],
        "resources": {"requests": dict(requests)},
        "volumeMounts": mounts,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": component,
            "namespace": "kube-system",
            "labels": {"component": component, "tier": "control-plane"},
        },
        "spec": {
            "containers": [container],
            "hostNetwork": True,
            "priority": 2_000_001_000,
            "priorityClassName": "system-node-critical",
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": [
                {"name": name, "hostPath": {"path": path, "type": kind}}
                for name, (path, kind, _) in sorted(volumes.items())
            ],
        },
    }


def _port(number: int) -> dict[str, Any]:
    return {"containerPort": number, "name": "probe-port", "protocol": "TCP"}


def _probes(live: Mapping[str, str], ready: Mapping[str, str] | None, start: Mapping[str, str]) -> dict[str, Any]:
    """The probes of a component (util/staticpod/utils.go: LivenessProbe, ReadinessProbe, StartupProbe)."""
    found = {
        "livenessProbe": _probe(live, failureThreshold=8, initialDelaySeconds=10, periodSeconds=10),
        "startupProbe": _probe(start, failureThreshold=24, initialDelaySeconds=10, periodSeconds=10),
    }
    if ready is not None:
        found["readinessProbe"] = _probe(ready, failureThreshold=3, periodSeconds=1)
    return found


def _probe(target: Mapping[str, str], **numbers: int) -> dict[str, Any]:
    return {"httpGet": {**target, "port": "probe-port"}, "timeoutSeconds": 15, **numbers}
