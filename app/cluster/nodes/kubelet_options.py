"""What a kubelet goes by: its flags and its configuration file, and what it dies of when they are wrong.

Mirrors cmd/kubelet/app/server.go: NewKubeletCommand, and pkg/kubelet/kubeletconfig/configfiles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import manifests
from app.cluster.nodes.filesystem import FileError, FileSystem

API_VERSION = "kubelet.config.k8s.io/v1beta1"
_FLAG_NAMES = """
address allowed-unsafe-sysctls anonymous-auth authentication-token-webhook authorization-mode
bootstrap-kubeconfig cert-dir cgroup-driver cgroup-root cgroups-per-qos client-ca-file cloud-provider
cluster-dns cluster-domain config config-dir container-log-max-files container-log-max-size
container-runtime-endpoint cpu-manager-policy enable-debugging-handlers enforce-node-allocatable event-burst
event-qps eviction-hard eviction-minimum-reclaim eviction-soft fail-swap-on feature-gates file-check-frequency
hairpin-mode healthz-bind-address healthz-port hostname-override http-check-frequency
image-credential-provider-bin-dir image-credential-provider-config image-gc-high-threshold
image-gc-low-threshold image-service-endpoint kube-api-burst kube-api-qps kube-reserved kubeconfig
log-flush-frequency log-json-info-buffer-size log-text-split-stream logging-format make-iptables-util-chains
manifest-url max-open-files max-pods memory-manager-policy minimum-image-ttl-duration node-ip node-labels
node-status-max-images node-status-update-frequency oom-score-adj pod-cidr pod-manifest-path pod-max-pids
pods-per-core port protect-kernel-defaults provider-id qos-reserved read-only-port register-node
register-with-taints registry-burst registry-qps reserved-cpus reserved-memory resolv-conf root-dir
rotate-certificates rotate-server-certificates runtime-cgroups runtime-request-timeout seccomp-default
serialize-image-pulls streaming-connection-idle-timeout sync-frequency system-cgroups system-reserved
system-reserved-cgroup tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file
topology-manager-policy topology-manager-scope v version vmodule volume-plugin-dir volume-stats-agg-period
"""
_FLAGS = frozenset(_FLAG_NAMES.split())
_SWITCHES = frozenset({"anonymous-auth", "fail-swap-on", "register-node", "rotate-certificates", "seccomp-default"})
_FIELDS = {
    "apiVersion": str, "kind": str, "staticPodPath": str, "syncFrequency": "span", "fileCheckFrequency": "span",
    "httpCheckFrequency": "span", "staticPodURL": str, "staticPodURLHeader": dict, "address": str, "port": int,
    "readOnlyPort": int, "podLogsDir": str, "authentication": dict, "authorization": dict, "registryPullQPS": int,
    "registryBurst": int, "eventRecordQPS": int, "eventBurst": int, "enableDebuggingHandlers": bool, "healthzPort": int,
    "healthzBindAddress": str, "oomScoreAdj": int, "clusterDomain": str, "clusterDNS": list, "tlsCertFile": str,
    "tlsPrivateKeyFile": str, "tlsCipherSuites": list, "tlsMinVersion": str, "rotateCertificates": bool,
    "serverTLSBootstrap": bool, "streamingConnectionIdleTimeout": "span", "nodeStatusUpdateFrequency": "span",
    "nodeStatusReportFrequency": "span", "nodeLeaseDurationSeconds": int, "imageMinimumGCAge": "span",
    "imageMaximumGCAge": "span", "imageGCHighThresholdPercent": int, "imageGCLowThresholdPercent": int,
    "volumeStatsAggPeriod": "span", "kubeletCgroups": str, "systemCgroups": str, "cgroupRoot": str,
    "cgroupsPerQOS": bool, "cgroupDriver": str, "cpuManagerPolicy": str, "cpuManagerPolicyOptions": dict,
    "cpuManagerReconcilePeriod": "span", "memoryManagerPolicy": str, "topologyManagerPolicy": str,
    "topologyManagerScope": str, "topologyManagerPolicyOptions": dict, "qosReserved": dict,
    "runtimeRequestTimeout": "span", "hairpinMode": str, "maxPods": int, "podCIDR": str, "podPidsLimit": int,
    "resolvConf": str, "runOnce": bool, "cpuCFSQuota": bool, "cpuCFSQuotaPeriod": "span", "nodeStatusMaxImages": int,
    "maxOpenFiles": int, "contentType": str, "kubeAPIQPS": int, "kubeAPIBurst": int, "serializeImagePulls": bool,
    "maxParallelImagePulls": int, "evictionHard": dict, "evictionSoft": dict, "evictionSoftGracePeriod": dict,
    "evictionPressureTransitionPeriod": "span", "evictionMaxPodGracePeriod": int, "evictionMinimumReclaim": dict,
    "mergeDefaultEvictionSettings": bool, "podsPerCore": int, "enableControllerAttachDetach": bool,
    "protectKernelDefaults": bool, "makeIPTablesUtilChains": bool, "iptablesMasqueradeBit": int,
    "iptablesDropBit": int, "featureGates": dict, "failSwapOn": bool, "memorySwap": dict, "containerLogMaxSize": str,
    "containerLogMaxFiles": int, "containerLogMaxWorkers": int, "containerLogMonitorInterval": "span",
    "configMapAndSecretChangeDetectionStrategy": str, "systemReserved": dict, "kubeReserved": dict,
    "reservedSystemCPUs": str, "showHiddenMetricsForVersion": str, "systemReservedCgroup": str,
    "kubeReservedCgroup": str, "enforceNodeAllocatable": list, "allowedUnsafeSysctls": list, "volumePluginDir": str,
    "providerID": str, "kernelMemcgNotification": bool, "logging": dict, "enableSystemLogHandler": bool,
    "enableSystemLogQuery": bool, "shutdownGracePeriod": "span", "shutdownGracePeriodCriticalPods": "span",
    "shutdownGracePeriodByPodPriority": list, "crashLoopBackOff": dict, "reservedMemory": list,
    "enableProfilingHandler": bool, "enableDebugFlagsHandler": bool, "seccompDefault": bool,
    "memoryThrottlingFactor": float,
    "registerWithTaints": list, "registerNode": bool, "tracing": dict, "localStorageCapacityIsolation": bool,
    "containerRuntimeEndpoint": str, "imageServiceEndpoint": str, "failCgroupV1": bool, "userNamespaces": dict,
    "imagePullCredentialsVerificationPolicy": str, "preloadedImagesVerificationAllowlist": list,
}  # fmt: skip
_GO_TYPES = {str: "string", int: "int32", bool: "bool", dict: "map", list: "[]string", float: "float64"}
_SPAN = re.compile(r"[+-]?(\d{1,9}(\.\d{1,9})?(ns|us|\u00b5s|ms|s|m|h)){1,8}|0")


class OptionsError(ValueError):
    """The kubelet ends at once. The text is the error that it logs."""


@dataclass(frozen=True)
class Options:
    """What matters of a kubelet's flags and file."""

    static_pod_path: str = ""
    kubeconfig: str = ""
    server: str = ""
    """The API server's address as the kubeconfig has it; empty where it names none."""
    hostname: str = ""
    max_pods: int = 110

    @property
    def stands_alone(self) -> bool:
        """Without a kubeconfig a kubelet runs its static pods and talks to no API server."""
        return not self.kubeconfig


def read(argv: Sequence[str], files: FileSystem) -> Options:
    """The options of a command line. OptionsError for what the kubelet dies of."""
    flags = _flags(argv[1:])
    config: dict[str, Any] = {}
    if path := flags.get("config", ""):
        config = _configuration(path, files)
    _need_authority(flags, config, files)
    kubeconfig = flags.get("kubeconfig", "")
    if kubeconfig and not files.exists(kubeconfig):
        bootstrap = flags.get("bootstrap-kubeconfig", "")
        reason = "no such file or directory"
        if bootstrap and not files.exists(bootstrap):
            raise OptionsError(
                f"failed to run Kubelet: unable to load bootstrap kubeconfig: stat {bootstrap}: {reason}"
            )
        if not bootstrap:
            raise OptionsError(f"failed to run Kubelet: invalid kubeconfig: stat {kubeconfig}: {reason}")
    return Options(
        static_pod_path=flags.get("pod-manifest-path", "") or str(config.get("staticPodPath") or ""),
        kubeconfig=kubeconfig,
        server=server_of(kubeconfig, files) if kubeconfig else "",
        hostname=flags.get("hostname-override", "").strip().lower(),
        max_pods=int(flags["max-pods"]) if flags.get("max-pods", "").isdecimal() else int(config.get("maxPods") or 110),
    )


def server_of(path: str, files: FileSystem) -> str:
    """The server of a kubeconfig's current context; empty where the file or the entry is missing."""
    try:
        (config,) = manifests.load(files.read(path))
        clusters = {entry["name"]: entry["cluster"] for entry in config["clusters"]}
        contexts = {entry["name"]: entry["context"] for entry in config["contexts"]}
        return str(clusters[contexts[config["current-context"]]["cluster"]]["server"])
    except (FileError, manifests.ManifestError, KeyError, TypeError, ValueError):
        return ""


def _need_authority(flags: Mapping[str, str], config: Mapping[str, Any], files: FileSystem) -> None:
    """The file with the authority of clients must be there (server.go: UnsecuredDependencies)."""
    authentication = config.get("authentication") or {}
    x509 = authentication.get("x509") if isinstance(authentication, dict) else None
    path = flags.get("client-ca-file", "") or (x509.get("clientCAFile") if isinstance(x509, dict) else "") or ""
    if path and not files.exists(str(path)):
        raise OptionsError(
            f"failed to construct kubelet dependencies: unable to load client CA file {path}: open {path}: "
            "no such file or directory"
        )


def _flags(words: Sequence[str]) -> dict[str, str]:
    """Flags as spf13/pflag reads them. OptionsError in its words."""
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            raise OptionsError(f"unknown command {word!r}".replace("'", '"'))
        if not word.startswith("--"):
            if word[1:2] != "v":
                raise OptionsError(f"failed to parse kubelet flag: unknown shorthand flag: '{word[1:2]}' in {word}")
            word = f"--v={word[2:].lstrip('=')}"
        name, equals, value = word[2:].partition("=")
        if name not in _FLAGS:
            raise OptionsError(f"failed to parse kubelet flag: unknown flag: --{name}")
        if not equals and name not in _SWITCHES:
            if not rest:
                raise OptionsError(f"failed to parse kubelet flag: flag needs an argument: --{name}")
            value = rest.pop(0)
        found[name] = value
    return found


def _configuration(path: str, files: FileSystem) -> dict[str, Any]:
    """The configuration file. OptionsError in the words of configfiles.Load."""
    failed = (
        f"failed to load kubelet config file, path: {path}, error: failed to load Kubelet config file {path}, error "
    )
    try:
        text = files.read(path)
    except FileError as error:
        reason = error.text.lower()
        raise OptionsError(
            f"{failed}failed to read kubelet config file {path!r}, error: open {path}: {reason}".replace("'", '"')
        ) from error
    try:
        document = manifests.load(text)
    except manifests.ManifestError as error:
        line = f"yaml: line {error.line}: {error.problem}"
        raise OptionsError(f"{failed}failed to decode: error converting YAML to JSON: {line}") from error
    content: Any = document[0] if len(document) == 1 else None
    problem = _problem(content)
    if problem:
        raise OptionsError(f"{failed}failed to decode: {problem}")
    found: dict[str, Any] = content
    return found


def _problem(content: Any) -> str:
    if not isinstance(content, dict):
        return "couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type struct"
    version, kind = str(content.get("apiVersion") or ""), str(content.get("kind") or "")
    if not kind:
        return "Object 'Kind' is missing in the configuration"
    if version != API_VERSION or kind != "KubeletConfiguration":
        scheme = "pkg/kubelet/apis/config/scheme/scheme.go"
        return f'no kind "{kind}" is registered for version "{version}" in scheme "{scheme}"'
    unknown = [f'unknown field "{name}"' for name in content if name not in _FIELDS]
    if unknown:
        return f"strict decoding error: {', '.join(unknown)}"
    for name, value in content.items():
        if problem := _value_problem(name, value):
            return problem
    return ""


def _value_problem(name: str, value: Any) -> str:
    wanted = _FIELDS[name]
    if value is None:
        return ""
    if wanted == "span":
        fine = isinstance(value, str) and (not value or _SPAN.fullmatch(value))
        return "" if fine else f'time: invalid duration "{value}"'
    if not isinstance(wanted, type):
        return ""
    is_bool = isinstance(value, bool)
    fine = isinstance(value, wanted) and (wanted is bool or not is_bool)
    if wanted is float:
        fine = isinstance(value, int | float) and not is_bool
    if fine:
        return ""
    kind = "bool" if is_bool else "number" if isinstance(value, int | float) else "string"
    kind = "array" if isinstance(value, list) else "object" if isinstance(value, dict) else kind
    return f"json: cannot unmarshal {kind} into Go struct field KubeletConfiguration.{name} of type {_GO_TYPES[wanted]}"
