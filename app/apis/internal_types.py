"""A pod's spec as the API server holds it inside: Go's field names, in the order of the Go structures.

The server's own types carry no JSON names, so wherever it prints a structure (an invalid value, the difference
that refuses a pod update) the Go names show, every field with them, set or not. Mirrors pkg/apis/core/types.go.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any

from app.apis import schema

_LAYOUT: Mapping[str, str] = {
    "PodSpec": "Volumes* InitContainers* Containers* EphemeralContainers* RestartPolicy TerminationGracePeriodSeconds* "
    "ActiveDeadlineSeconds* DNSPolicy NodeSelector* ServiceAccountName AutomountServiceAccountToken* NodeName "
    "SecurityContext* ImagePullSecrets* Hostname Subdomain SetHostnameAsFQDN* Affinity* SchedulerName Tolerations* "
    "HostAliases* PriorityClassName Priority* PreemptionPolicy* DNSConfig* ReadinessGates* RuntimeClassName* "
    "Overhead* EnableServiceLinks* TopologySpreadConstraints* OS* SchedulingGates* ResourceClaims* Resources* "
    "HostnameOverride* WorkloadRef*",
    "Volume": "Name HostPath* EmptyDir* GCEPersistentDisk* AWSElasticBlockStore* GitRepo* Secret* NFS* ISCSI* "
    "Glusterfs* PersistentVolumeClaim* RBD* Quobyte* FlexVolume* Cinder* CephFS* Flocker* DownwardAPI* FC* AzureFile* "
    "ConfigMap* VsphereVolume* AzureDisk* PhotonPersistentDisk* Projected* PortworxVolume* ScaleIO* StorageOS* CSI* "
    "Ephemeral* Image*",
    "Container": "Name Image Command* Args* WorkingDir Ports* EnvFrom* Env* Resources. ResizePolicy* RestartPolicy* "
    "RestartPolicyRules* VolumeMounts* VolumeDevices* LivenessProbe* ReadinessProbe* StartupProbe* Lifecycle* "
    "TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext* Stdin? StdinOnce? TTY?",
    "EphemeralContainer": "Name Image Command* Args* WorkingDir Ports* EnvFrom* Env* Resources. ResizePolicy* "
    "RestartPolicy* RestartPolicyRules* VolumeMounts* VolumeDevices* LivenessProbe* ReadinessProbe* StartupProbe* "
    "Lifecycle* TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext* Stdin? StdinOnce? "
    "TTY? TargetContainerName",
    "ContainerPort": "Name HostPort# ContainerPort# Protocol HostIP",
    "EnvFromSource": "Prefix ConfigMapRef* SecretRef*",
    "ConfigMapEnvSource": "Name Optional*",
    "SecretEnvSource": "Name Optional*",
    "EnvVar": "Name Value ValueFrom*",
    "EnvVarSource": "FieldRef* ResourceFieldRef* ConfigMapKeyRef* SecretKeyRef* FileKeyRef*",
    "ObjectFieldSelector": "APIVersion FieldPath",
    "ResourceFieldSelector": "ContainerName Resource Divisor",
    "ConfigMapKeySelector": "Name Key Optional*",
    "SecretKeySelector": "Name Key Optional*",
    "FileKeySelector": "VolumeName Path Key Optional*",
    "ResourceRequirements": "Limits* Requests* Claims*",
    "ResourceClaim": "Name Request",
    "ContainerResizePolicy": "ResourceName RestartPolicy",
    "VolumeMount": "Name ReadOnly? RecursiveReadOnly* MountPath SubPath MountPropagation* SubPathExpr",
    "VolumeDevice": "Name DevicePath",
    "Probe": "Exec* HTTPGet* TCPSocket* GRPC* InitialDelaySeconds# TimeoutSeconds# PeriodSeconds# SuccessThreshold# "
    "FailureThreshold# TerminationGracePeriodSeconds*",
    "Lifecycle": "PostStart* PreStop* StopSignal*",
    "LifecycleHandler": "Exec* HTTPGet* TCPSocket* Sleep*",
    "ExecAction": "Command*",
    "HTTPGetAction": "Path Port Host Scheme HTTPHeaders*",
    "HTTPHeader": "Name Value",
    "TCPSocketAction": "Port Host",
    "GRPCAction": "Port# Service*",
    "SleepAction": "Seconds#",
    "SecurityContext": "Capabilities* Privileged* SELinuxOptions* WindowsOptions* RunAsUser* RunAsGroup* RunAsNonRoot* "
    "ReadOnlyRootFilesystem* AllowPrivilegeEscalation* ProcMount* SeccompProfile* AppArmorProfile*",
    "Capabilities": "Add* Drop*",
    "SELinuxOptions": "User Role Type Level",
    "SeccompProfile": "Type LocalhostProfile*",
    "AppArmorProfile": "Type LocalhostProfile*",
    "PodSecurityContext": "SELinuxOptions* WindowsOptions* RunAsUser* RunAsGroup* RunAsNonRoot* SupplementalGroups* "
    "SupplementalGroupsPolicy* FSGroup* FSGroupChangePolicy* Sysctls* SeccompProfile* AppArmorProfile* "
    "SELinuxChangePolicy*",
    "Sysctl": "Name Value",
    "Toleration": "Key Operator Value Effect TolerationSeconds*",
    "Taint": "Key Value Effect TimeAdded*",
    "Affinity": "NodeAffinity* PodAffinity* PodAntiAffinity*",
    "NodeAffinity": "RequiredDuringSchedulingIgnoredDuringExecution* PreferredDuringSchedulingIgnoredDuringExecution*",
    "PodAffinity": "RequiredDuringSchedulingIgnoredDuringExecution* PreferredDuringSchedulingIgnoredDuringExecution*",
    "PodAntiAffinity": "RequiredDuringSchedulingIgnoredDuringExecution* "
    "PreferredDuringSchedulingIgnoredDuringExecution*",
    "NodeSelector": "NodeSelectorTerms*",
    "NodeSelectorTerm": "MatchExpressions* MatchFields*",
    "NodeSelectorRequirement": "Key Operator Values*",
    "PreferredSchedulingTerm": "Weight# Preference.",
    "WeightedPodAffinityTerm": "Weight# PodAffinityTerm.",
    "PodAffinityTerm": "LabelSelector* Namespaces* TopologyKey NamespaceSelector* MatchLabelKeys* MismatchLabelKeys*",
    "TopologySpreadConstraint": "MaxSkew# TopologyKey WhenUnsatisfiable LabelSelector* MinDomains* NodeAffinityPolicy* "
    "NodeTaintsPolicy* MatchLabelKeys*",
    "HostAlias": "IP Hostnames*",
    "PodDNSConfig": "Nameservers* Searches* Options*",
    "PodDNSConfigOption": "Name Value*",
    "PodReadinessGate": "ConditionType",
    "PodOS": "Name",
    "PodSchedulingGate": "Name",
    "PodResourceClaim": "Name ResourceClaimName* ResourceClaimTemplateName*",
    "LocalObjectReference": "Name",
    "ObjectReference": "Kind Namespace Name UID APIVersion ResourceVersion FieldPath",
    "EventSource": "Component Host",
    "WorkloadReference": "Name PodGroup PodGroupReplicaKey",
    "HostPathVolumeSource": "Path Type*",
    "EmptyDirVolumeSource": "Medium SizeLimit*",
    "SecretVolumeSource": "SecretName Items* DefaultMode* Optional*",
    "ConfigMapVolumeSource": "Name Items* DefaultMode* Optional*",
    "KeyToPath": "Key Path Mode*",
    "DownwardAPIVolumeSource": "Items* DefaultMode*",
    "DownwardAPIVolumeFile": "Path FieldRef* ResourceFieldRef* Mode*",
    "ProjectedVolumeSource": "Sources* DefaultMode*",
    "VolumeProjection": "Secret* DownwardAPI* ConfigMap* ServiceAccountToken* ClusterTrustBundle* PodCertificate*",
    "SecretProjection": "Name Items* Optional*",
    "ConfigMapProjection": "Name Items* Optional*",
    "DownwardAPIProjection": "Items*",
    "ServiceAccountTokenProjection": "Audience ExpirationSeconds# Path",
    "PersistentVolumeClaimVolumeSource": "ClaimName ReadOnly?",
    "NFSVolumeSource": "Server Path ReadOnly?",
    "CSIVolumeSource": "Driver ReadOnly* FSType* VolumeAttributes* NodePublishSecretRef*",
    "PersistentVolumeClaimSpec": "AccessModes* Selector* Resources. VolumeName StorageClassName* VolumeMode* "
    "DataSource* DataSourceRef* VolumeAttributesClassName*",
    "VolumeResourceRequirements": "Limits* Requests*",
    "TypedLocalObjectReference": "APIGroup* Kind Name",
    "TypedObjectReference": "APIGroup* Kind Name Namespace*",
    "PersistentVolumeSource": "GCEPersistentDisk* AWSElasticBlockStore* HostPath* Glusterfs* NFS* RBD* Quobyte* ISCSI* "
    "FlexVolume* Cinder* CephFS* FC* Flocker* AzureFile* VsphereVolume* AzureDisk* PhotonPersistentDisk* "
    "PortworxVolume* ScaleIO* Local* StorageOS* CSI*",
    "GCEPersistentDiskVolumeSource": "PDName FSType Partition# ReadOnly?",
    "AWSElasticBlockStoreVolumeSource": "VolumeID FSType Partition# ReadOnly?",
    "LocalVolumeSource": "Path FSType*",
    "CSIPersistentVolumeSource": "Driver VolumeHandle ReadOnly? FSType VolumeAttributes* ControllerPublishSecretRef* "
    "NodeStageSecretRef* NodePublishSecretRef* ControllerExpandSecretRef* NodeExpandSecretRef*",
    "SecretReference": "Name Namespace",
    "VolumeNodeAffinity": "Required*",
    "ScopeSelector": "MatchExpressions*",
    "ScopedResourceSelectorRequirement": "ScopeName Operator Values*",
}
"""Structure to its fields in order. `*`: null when unset (pointer, list, map), `?`: false, `#`: 0, `.`: a structure,
nothing: an empty string."""

_PARTS = {"PersistentVolumeSource": "PersistentVolumeSpec"}
"""Structures that in v1 are a part of another one."""
_HOST_FIELDS = (
    ("HostNetwork", "hostNetwork", False),
    ("HostPID", "hostPID", False),
    ("HostIPC", "hostIPC", False),
    ("ShareProcessNamespace", "shareProcessNamespace", None),
    ("HostUsers", "hostUsers", None),
)
"""In v1 they are fields of the spec, inside they belong to its security context."""
_ZERO: Mapping[str, Any] = {"*": None, "?": False, "#": 0}
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_CONTEXT = 3
_LONGEST = 5_000
"""Lines; to compare more of them takes too long for an answer."""


def shown(name: str, value: Any) -> Any:
    """A value of a core/v1 type (`Toleration`, or `[]NodeSelectorTerm` for a list) with Go's fields, as JSON values."""
    if value is None:
        return None
    if name.startswith("[]"):
        return [shown(name[2:], item) for item in value]
    if name not in _LAYOUT or not isinstance(value, Mapping):
        return _plain(value)
    types = _field_types(name)
    given = {key.lower(): item for key, item in value.items()}
    found: dict[str, Any] = {}
    for field in _LAYOUT[name].split():
        go_name = field.rstrip("*?#.")
        found[go_name] = _field(field[len(go_name) :], types.get(go_name.lower(), ""), given.get(go_name.lower()))
    if name == "PodSpec":
        hosts = {go_name: value.get(own, zero) for go_name, own, zero in _HOST_FIELDS}
        found["SecurityContext"] = {**hosts, **shown("PodSecurityContext", value.get("securityContext") or {})}
    return found


def _field_types(name: str) -> dict[str, str]:
    """The names of a structure's fields in lower case, with what they hold: a core/v1 name, or nothing."""
    known = schema.type_of(f"core.v1.{_PARTS.get(name, name)}")
    return {} if known is None else {key.lower(): own.type for key, own in known.fields.items()}


def _field(mark: str, held: str, value: Any) -> Any:
    own = held.replace("core.v1.", "")
    if mark == ".":
        return shown(own, value or {})
    if value is None:
        return _ZERO.get(mark, "0" if held == "quantity" else "")
    return shown(own, value)


def _plain(value: Any) -> Any:
    """What has no Go names of its own; maps print in the order of their keys, selectors in that of their fields."""
    if isinstance(value, Mapping):
        selector = {"matchLabels", "matchExpressions"} >= value.keys()
        names = [*value] if selector else sorted(value)
        return {name: _plain(value[name]) for name in (sorted(names, reverse=True) if selector else names)}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def diff(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """How two values of a core/v1 type differ, as a unified diff of their JSON (apimachinery/pkg/util/diff: Diff)."""
    before, now = _lines(shown(name, old)), _lines(shown(name, new))
    if len(before) + len(now) > _LONGEST:
        return ""
    return "".join([*difflib.unified_diff(before, now, n=_CONTEXT)][2:])


def _lines(value: Any) -> list[str]:
    text = json.dumps(value, indent=1, ensure_ascii=False)
    for letter, escape in _ESCAPES.items():
        text = text.replace(letter, escape)
    return [f"{line}\n" for line in text.split("\n")]
