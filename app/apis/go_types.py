"""Fields whose Go type has a name of its own, because the name shows in decoding errors (k8s.io/api: types.go)."""

from __future__ import annotations

GO_NAMES: dict[str, str] = {
    "Container.imagePullPolicy": "v1.PullPolicy",
    "Container.restartPolicy": "v1.ContainerRestartPolicy",
    "Container.terminationMessagePolicy": "v1.TerminationMessagePolicy",
    "ContainerPort.protocol": "v1.Protocol",
    "DaemonSetUpdateStrategy.type": "v1.DaemonSetUpdateStrategyType",
    "DeploymentStrategy.type": "v1.DeploymentStrategyType",
    "HTTPGetAction.scheme": "v1.URIScheme",
    "LabelSelectorRequirement.operator": "v1.LabelSelectorOperator",
    "NamespaceStatus.phase": "v1.NamespacePhase",
    "NodeSelectorRequirement.operator": "v1.NodeSelectorOperator",
    "PersistentVolumeClaimSpec.volumeMode": "v1.PersistentVolumeMode",
    "PodSpec.dnsPolicy": "v1.DNSPolicy",
    "PodSpec.preemptionPolicy": "v1.PreemptionPolicy",
    "PodSpec.restartPolicy": "v1.RestartPolicy",
    "PodStatus.phase": "v1.PodPhase",
    "PriorityClass.preemptionPolicy": "v1.PreemptionPolicy",
    "ServicePort.protocol": "v1.Protocol",
    "ServiceSpec.type": "v1.ServiceType",
    "Taint.effect": "v1.TaintEffect",
    "Toleration.effect": "v1.TaintEffect",
    "Toleration.operator": "v1.TolerationOperator",
    "TopologySpreadConstraint.whenUnsatisfiable": "v1.UnsatisfiableConstraintAction",
}
