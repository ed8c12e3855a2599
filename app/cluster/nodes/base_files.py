"""The files that a machine comes with: a kubeadm node on Ubuntu, its control plane's where it has one.

Contents follow cmd/kubeadm (phases/kubelet, phases/kubeconfig), the Debian packages of kubelet and kubeadm and
containerd's unit; certificates and keys are there by name, their bytes stand for themselves.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from types import MappingProxyType

from app.apimachinery.clock import Instant
from app.cluster import kubeadm
from app.cluster.nodes.filesystem import LINK, Entry, directory, file

KUBELET_CONFIG = "/var/lib/kubelet/config.yaml"
KUBELET_UNIT = "/usr/lib/systemd/system/kubelet.service"
ADMIN_CONF = "/etc/kubernetes/admin.conf"
_PROGRAMS = ("kubelet", "kubeadm", "kubectl", "containerd", "crictl", "ctr", "systemctl", "journalctl", "sleep", "cat",
             "bash", "sh", "true", "false", "python3", "curl", "vi", "ssh", "date", "env", "ls")  # fmt: skip
_FOLDERS = (
    "/bin", "/boot", "/dev", "/etc", "/etc/apt", "/etc/ca-certificates", "/etc/cni", "/etc/cni/net.d",
    "/etc/containerd", "/etc/default", "/etc/kubernetes", kubeadm.MANIFESTS, kubeadm.PKI, "/etc/ssl", "/etc/ssl/certs",
    "/etc/systemd", "/etc/systemd/system", "/etc/systemd/system/multi-user.target.wants", "/home", "/media", "/mnt",
    "/opt", "/opt/cni", "/opt/cni/bin", "/proc", "/run", "/run/containerd", "/srv", "/sys", "/usr", "/usr/bin",
    "/usr/lib", "/usr/lib/systemd", "/usr/lib/systemd/system", "/usr/lib/systemd/system/kubelet.service.d",
    "/usr/libexec", "/usr/libexec/kubernetes", "/usr/local", "/usr/local/bin", "/usr/local/share",
    "/usr/local/share/ca-certificates", "/usr/sbin", "/usr/share", "/usr/share/ca-certificates", "/var", "/var/lib",
    "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/kubelet/pki", "/var/log", "/var/log/containers",
    "/var/log/pods",
)  # fmt: skip
_KUBELET_SERVICE = """\
[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
"""
_KUBEADM_DROP_IN = """\
# How kubeadm starts the kubelet. Put flags of your own into /etc/default/kubelet.
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \
--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""
_CONTAINERD_SERVICE = """\
[Unit]
Description=containerd container runtime
Documentation=https://containerd.io
After=network.target dbus.service

[Service]
ExecStart=/usr/bin/containerd
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=5
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
OOMScoreAdjust=-999

[Install]
WantedBy=multi-user.target
"""
_KUBELET_YAML = """\
apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kind: KubeletConfiguration
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
resolvConf: /run/systemd/resolve/resolv.conf
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
"""
_OS_RELEASE = """\
PRETTY_NAME="Ubuntu 24.04.3 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.3 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
"""
_PASSWD = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"


@lru_cache(maxsize=64)
def of(host: str, address: str, server: str, made: Instant, *, control_plane: bool) -> MappingProxyType[str, Entry]:
    """The files of a machine by path. `server` is the API server's address, `made` when the machine was set up."""
    found = {path: directory(0o755, made) for path in ("/", *_FOLDERS)}
    found |= {"/root": directory(0o700, made), "/tmp": directory(0o1777, made)}  # noqa: S108 (of the simulated machine)
    if control_plane:
        found |= {path: directory(0o755, made) for path in ("/root/.kube", f"{kubeadm.PKI}/etcd")}
        found["/var/lib/etcd"] = directory(0o700, made)
    texts = _texts(host, address)
    kubeconfigs = {"/etc/kubernetes/kubelet.conf": f"system:node:{host}"}
    if control_plane:
        kubeconfigs |= {
            ADMIN_CONF: "kubernetes-admin",
            "/etc/kubernetes/super-admin.conf": "kubernetes-super-admin",
            "/etc/kubernetes/controller-manager.conf": "system:kube-controller-manager",
            "/etc/kubernetes/scheduler.conf": "system:kube-scheduler",
            "/root/.kube/config": "kubernetes-admin",
        }
    private = {path: kubeconfig(user, server) for path, user in kubeconfigs.items()}
    if control_plane:
        for name, manifest in kubeadm.manifests(host, address).items():
            private[f"{kubeadm.MANIFESTS}/{name}.yaml"] = kubeadm.text_of(manifest)
    found |= {path: file(text, 0o644, made) for path, text in texts.items()}
    found |= {path: file(text, 0o600, made) for path, text in private.items()}
    found |= {path: file(_pem(path), 0o600 if path.endswith(".key") else 0o644, made) for path in _pki(control_plane)}
    found |= {f"/usr/bin/{name}": file("\x7fELF", 0o755, made) for name in _PROGRAMS}
    for unit in ("kubelet", "containerd"):
        target = f"/usr/lib/systemd/system/{unit}.service"
        found[f"/etc/systemd/system/multi-user.target.wants/{unit}.service"] = Entry(LINK, 0o777, target, changed=made)
    return MappingProxyType(found)


def kubeconfig(user: str, server: str) -> str:
    """A kubeconfig as kubeadm writes it."""
    authority = base64.b64encode(_pem(f"{kubeadm.PKI}/ca.crt").encode()).decode()
    if user.startswith("system:node:"):
        pem = "/var/lib/kubelet/pki/kubelet-client-current.pem"
        credentials = f"    client-certificate: {pem}\n    client-key: {pem}\n"
    else:
        parts = {part: base64.b64encode(_pem(f"{user}.{part}").encode()).decode() for part in ("crt", "key")}
        credentials = f"    client-certificate-data: {parts['crt']}\n    client-key-data: {parts['key']}\n"
    context = f"{user}@kubernetes"
    return (
        "apiVersion: v1\nclusters:\n- cluster:\n"
        f"    certificate-authority-data: {authority}\n    server: https://{server}:6443\n  name: kubernetes\n"
        f"contexts:\n- context:\n    cluster: kubernetes\n    user: {user}\n  name: {context}\n"
        f"current-context: {context}\nkind: Config\nusers:\n- name: {user}\n  user:\n{credentials}"
    )


def _texts(host: str, address: str) -> dict[str, str]:
    return {
        KUBELET_CONFIG: _KUBELET_YAML,
        "/var/lib/kubelet/instance-config.yaml": "apiVersion: kubelet.config.k8s.io/v1beta1\n"
        "containerRuntimeEndpoint: unix:///var/run/containerd/containerd.sock\nkind: KubeletConfiguration\n",
        "/var/lib/kubelet/kubeadm-flags.env": 'KUBELET_KUBEADM_ARGS=""\n',
        "/etc/default/kubelet": "KUBELET_EXTRA_ARGS=\n",
        KUBELET_UNIT: _KUBELET_SERVICE,
        f"{KUBELET_UNIT}.d/10-kubeadm.conf": _KUBEADM_DROP_IN,
        "/usr/lib/systemd/system/containerd.service": _CONTAINERD_SERVICE,
        "/etc/hostname": f"{host}\n",
        "/etc/hosts": f"127.0.0.1 localhost\n{address} {host}\n",
        "/etc/os-release": _OS_RELEASE,
        "/etc/passwd": _PASSWD,
        "/etc/crictl.yaml": "runtime-endpoint: unix:///run/containerd/containerd.sock\n",
        "/etc/containerd/config.toml": "version = 3\n",
        "/etc/cni/net.d/10-flannel.conflist": '{\n  "name": "cbr0",\n  "cniVersion": "0.3.1",\n  "plugins": []\n}\n',
    }


def _pki(control_plane: bool) -> list[str]:
    found = [f"{kubeadm.PKI}/ca.crt", "/var/lib/kubelet/pki/kubelet.crt", "/var/lib/kubelet/pki/kubelet.key"]
    found.append("/var/lib/kubelet/pki/kubelet-client-current.pem")
    if control_plane:
        pairs = ("apiserver", "apiserver-etcd-client", "apiserver-kubelet-client", "front-proxy-ca",
                 "front-proxy-client", "etcd/ca", "etcd/server", "etcd/peer", "etcd/healthcheck-client")  # fmt: skip
        found += [f"{kubeadm.PKI}/{name}.{part}" for name in pairs for part in ("crt", "key")]
        found += [f"{kubeadm.PKI}/{name}" for name in ("ca.key", "sa.key", "sa.pub")]
    return found


def _pem(name: str) -> str:
    """Something in the place of a certificate or a key: the form of one, the same each time, and nothing secret."""
    kind = "RSA PRIVATE KEY" if name.endswith(".key") else "PUBLIC KEY" if name.endswith(".pub") else "CERTIFICATE"
    body = base64.b64encode(hashlib.sha256(name.encode()).digest()).decode()
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n"
