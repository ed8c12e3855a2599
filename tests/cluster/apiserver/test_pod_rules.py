"""What a new pod is refused for, beyond what learners usually get wrong, in the server's words."""

import pytest

from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import named, pod, refused, server

C = "spec.containers[0]"


def container(**fields) -> Object:
    return pod(container=fields)


def variable(**source) -> Object:
    return container(env=[{"name": "A", "valueFrom": source}])


def field_of(path: str, version: str = "v1") -> Object:
    return variable(fieldRef={"apiVersion": version, "fieldPath": path})


def resource(name: str, **fields) -> Object:
    return variable(resourceFieldRef={"resource": name, **fields})


def volume(**source) -> Object:
    return pod(volumes=[{"name": "v", **source}])


def projected(*sources: Object) -> Object:
    return volume(projected={"sources": list(sources)})


def item(**fields) -> Object:
    return {"key": "k", "path": "p", **fields}


def downward(**fields) -> Object:
    return volume(downwardAPI={"items": [{"path": "p", **fields}]})


def mount(**fields) -> Object:
    made = container(volumeMounts=[{"name": "v", "mountPath": "/a", **fields}])
    made["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    return made


def affinity(**term) -> Object:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return pod(affinity={"podAffinity": {required: [{"topologyKey": "zone", **term}]}})


def spread(**fields) -> Object:
    given = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **fields}
    return pod(topologySpreadConstraints=[given])


def sleeping(seconds: int) -> Object:
    made = container(lifecycle={"preStop": {"sleep": {"seconds": seconds}}})
    made["spec"]["terminationGracePeriodSeconds"] = 10
    return made


TERM = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"

REFUSED = [
    (variable(), f'{C}.env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`'),
    (
        variable(configMapKeyRef={"name": "A", "key": "k"}),
        f'{C}.env[0].valueFrom.configMapKeyRef.name: Invalid value: "A": a lowercase RFC 1123 subdomain',
    ),
    (variable(secretKeyRef={"name": "a"}), f"{C}.env[0].valueFrom.secretKeyRef.key: Required value"),
    (
        variable(secretKeyRef={"name": "a", "key": "a b"}),
        f'{C}.env[0].valueFrom.secretKeyRef.key: Invalid value: "a b": a valid config key must consist of',
    ),
    (
        field_of("metadata.nam"),
        (
            f'{C}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.nam": error converting fieldPath: field '
            "label not supported: metadata.nam"
        ),
    ),
    (
        field_of("metadata.labels"),
        (
            f'{C}.env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: '
            '"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", '
            '"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"'
        ),
    ),
    (field_of("spec.nodeName['a']"), "field label does not support subscript: spec.nodeName['a']"),
    (field_of("metadata.labels['a b']"), f'{C}.env[0].valueFrom.fieldRef: Invalid value: "a b": name part must'),
    (field_of("metadata.name", "v2"), "error converting fieldPath: unsupported pod version: v2"),
    (
        resource("limits.disk"),
        (
            f'{C}.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.disk": supported values: '
            '"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", '
            '"requests.memory"'
        ),
    ),
    (
        resource("limits.cpu", divisor="2"),
        (
            f'{C}.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 '
            "are supported with the cpu resource"
        ),
    ),
    (
        resource("limits.memory", divisor="2Mi"),
        "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory",
    ),
    (
        container(env=[{"name": "A", "value": "b", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "k"}}}]),
        f'{C}.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
    ),
    (
        container(envFrom=[{}]),
        f'{C}.envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
    ),
    (
        container(envFrom=[{"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}]),
        f'{C}.envFrom: Invalid value: "": may not have more than one field specified at a time',
    ),
    (container(envFrom=[{"secretRef": {}}]), f"{C}.envFrom[0].secretRef.name: Required value"),
    (
        container(envFrom=[{"prefix": "=", "secretRef": {"name": "a"}}]),
        f'{C}.envFrom[0].prefix: Invalid value: "=": a valid environment variable name must consist only of',
    ),
    (volume(secret={}), "spec.volumes[0].secret.secretName: Required value"),
    (
        volume(secret={"secretName": "s", "defaultMode": 512}),
        (
            "spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both "
            "inclusive"
        ),
    ),
    (
        volume(configMap={"name": "m", "items": [item(key="")]}),
        "spec.volumes[0].configMap.items[0].key: Required value",
    ),
    (
        volume(configMap={"name": "m", "items": [item(path="/p")]}),
        'spec.volumes[0].configMap.items[0].path: Invalid value: "/p": must be a relative path',
    ),
    (
        volume(configMap={"name": "m", "items": [item(path="a/../b")]}),
        "spec.volumes[0].configMap.items[0].path: Invalid value: \"a/../b\": must not contain '..'",
    ),
    (
        volume(configMap={"name": "m", "items": [item(path="..p")]}),
        "spec.volumes[0].configMap.items[0].path: Invalid value: \"..p\": must not start with '..'",
    ),
    (volume(hostPath={"path": ""}), "spec.volumes[0].hostPath.path: Required value"),
    (
        volume(hostPath={"path": "/a", "type": "Folder"}),
        'spec.volumes[0].hostPath.type: Unsupported value: "Folder": supported values: "", "BlockDevice"',
    ),
    (
        volume(nfs={"server": "s", "path": "p"}),
        'spec.volumes[0].nfs.path: Invalid value: "p": must be an absolute path',
    ),
    (
        volume(persistentVolumeClaim={"claimName": "A"}),
        'spec.volumes[0].persistentVolumeClaim.claimName: Invalid value: "A": a lowercase RFC 1123 subdomain',
    ),
    (
        volume(emptyDir={}, hostPath={"path": "/a"}),
        "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
    ),
    (downward(), "spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"),
    (
        downward(fieldRef={"fieldPath": "status.podIP"}),
        (
            'spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: '
            '"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"'
        ),
    ),
    (
        downward(resourceFieldRef={"resource": "limits.cpu"}),
        "spec.volumes[0].downwardAPI.resourceFieldRef.containerName: Required value",
    ),
    (
        projected({"secret": {"name": "a", "items": [item()]}}, {"configMap": {"name": "b", "items": [item()]}}),
        'spec.volumes[0].projected: Invalid value: "b": conflicting duplicate paths',
    ),
    (
        projected({"secret": {"name": "a"}, "configMap": {"name": "b"}}),
        "spec.volumes[0].projected.sources[0].configMap: Forbidden: may not specify more than 1 volume type per source",
    ),
    (
        projected({"serviceAccountToken": {"path": "t", "expirationSeconds": 10}}),
        (
            "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 10: may not specify "
            "a duration less than 10 minutes"
        ),
    ),
    (volume(csi={"driver": ""}), "spec.volumes[0].csi.driver: Required value"),
    (volume(ephemeral={}), "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"),
    (
        volume(ephemeral={"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}}),
        (
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is "
            "required"
        ),
    ),
    (volume(image={"pullPolicy": "Always"}), "spec.volumes[0].image.reference: Required value"),
    (
        mount(subPath="a", subPathExpr="b"),
        f'{C}.volumeMounts[0].subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive',
    ),
    (
        mount(mountPropagation="Both"),
        (
            f'{C}.volumeMounts.mountPropagation: Unsupported value: "Both": supported values: "Bidirectional", '
            '"HostToContainer", "None"'
        ),
    ),
    (
        pod(securityContext={"runAsUser": -1}),
        "spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
    ),
    (
        pod(securityContext={"supplementalGroups": [-1]}),
        "spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
    ),
    (
        pod(securityContext={"fsGroupChangePolicy": "Never"}),
        (
            'spec.securityContext.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", '
            '"OnRootMismatch"'
        ),
    ),
    (
        pod(securityContext={"sysctls": [{"name": "a.b", "value": "1"}, {"name": "a.b", "value": "2"}]}),
        'spec.securityContext.sysctls[1].name: Duplicate value: "a.b"',
    ),
    (
        pod(securityContext={"sysctls": [{"name": "A", "value": "1"}]}),
        'spec.securityContext.sysctls[0].name: Invalid value: "A": must have at most 253 characters and match regex',
    ),
    (
        pod(securityContext={"seccompProfile": {"type": "Localhost"}}),
        (
            "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is "
            "Localhost"
        ),
    ),
    (
        pod(shareProcessNamespace=True, hostPID=True),
        "spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
    ),
    (
        container(securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
        (
            '"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set '
            "`allowPrivilegeEscalation` to false and `privileged` to true"
        ),
    ),
    (
        container(securityContext={"capabilities": {"add": ["CAP_SYS_ADMIN"]}, "allowPrivilegeEscalation": False}),
        "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
    ),
    (
        container(securityContext={"runAsUser": 2**31}),
        f"{C}.securityContext.runAsUser: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
    ),
    (
        pod(hostAliases=[{"ip": "x"}]),
        'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ),
    (
        pod(hostAliases=[{"ip": "1.2.3.4", "hostnames": ["A"]}]),
        'spec.hostAliases[0].hostnames[0]: Invalid value: "A": a lowercase RFC 1123 subdomain',
    ),
    (
        pod(dnsPolicy="None"),
        "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
    ),
    (
        pod(dnsPolicy="None", dnsConfig={"searches": ["a"]}),
        "spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None",
    ),
    (
        pod(dnsConfig={"nameservers": ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]}),
        (
            'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 '
            "nameservers"
        ),
    ),
    (
        pod(dnsConfig={"options": [{"value": "2"}]}),
        "spec.dnsConfig.options[0]: Required value: must not be empty",
    ),
    (pod(dnsConfig={"searches": ["A"]}), 'spec.dnsConfig.searches[0]: Invalid value: "A": a lowercase RFC 1123'),
    (
        pod(readinessGates=[{"conditionType": "a b"}]),
        'spec.readinessGates[0].conditionType: Invalid value: "a b": name part must consist of',
    ),
    (
        pod(overhead={"cpu": "-1"}),
        'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    (
        affinity(matchLabelKeys=["a"]),
        f"{TERM}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
    ),
    (
        affinity(labelSelector={}, matchLabelKeys=["a"], mismatchLabelKeys=["a"]),
        f'{TERM}.matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys',
    ),
    (
        affinity(labelSelector={}, mismatchLabelKeys=["a b"]),
        f'{TERM}.mismatchLabelKeys[0]: Invalid value: "a b": name part must consist of',
    ),
    (
        spread(matchLabelKeys=["a"]),
        "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not",
    ),
    (
        sleeping(11),
        (
            f"{C}.lifecycle.preStop.sleep: Invalid value: 11: must be non-negative and less than "
            "terminationGracePeriodSeconds (10)"
        ),
    ),
    (
        container(livenessProbe={"httpGet": {"port": 80, "httpHeaders": [{"name": "a b", "value": "c"}]}}),
        (
            f'{C}.livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of '
            "alphanumeric characters or '-'"
        ),
    ),
    (
        pod(ephemeralContainers=[{"name": "d", "image": "busybox"}]),
        "spec.ephemeralContainers: Forbidden: cannot be set on create",
    ),
]


@pytest.mark.parametrize(("obj", "text"), REFUSED, ids=range(len(REFUSED)))
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refused(obj)


@pytest.mark.parametrize(
    "obj",
    [
        field_of("metadata.annotations['example.com/Key']"),
        field_of("status.hostIPs"),
        resource("limits.cpu", divisor="1m"),
        resource("requests.hugepages-2Mi"),
        container(envFrom=[{"prefix": "A_", "configMapRef": {"name": "a", "optional": True}}]),
        volume(secret={"secretName": "s", "defaultMode": 511, "items": [item(path="a/b", mode=0)]}),
        downward(fieldRef={"fieldPath": "metadata.labels"}),
        projected({"serviceAccountToken": {"path": "t"}}, {"configMap": {"name": "a", "items": [item()]}}),
        mount(subPathExpr="$(POD_NAME)"),
        pod(securityContext={"runAsUser": 0, "fsGroup": 2000, "seccompProfile": {"type": "RuntimeDefault"}}),
        pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]}),
        container(securityContext={"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}),
        pod(dnsPolicy="None", dnsConfig={"nameservers": ["1.1.1.1"], "searches": ["svc.local.", "_a.b"]}),
        pod(hostAliases=[{"ip": "01.2.3.4", "hostnames": ["a.b"]}]),
        affinity(labelSelector={}, matchLabelKeys=["pod-template-hash"]),
        spread(labelSelector={"matchLabels": {"a": "b"}}, matchLabelKeys=["pod-template-hash"]),
        sleeping(10),
    ],
    ids=range(17),
)
def test_it_takes_what_kubernetes_takes(obj):
    client, _ = server()
    assert client.create(obj)["metadata"]["uid"]


@pytest.mark.parametrize(
    "obj",
    [
        pod(dnsConfig={"nameservers": ["1" * 100_000]}),
        field_of("metadata.labels['" + "[" * 50_000 + "']"),
        pod(securityContext={"sysctls": [{"name": "a." * 50_000, "value": "1"}]}),
        pod(dnsConfig={"searches": ["a" * 100_000]}),
        volume(configMap={"name": "m", "items": [item(path="../" * 30_000)]}),
    ],
    ids=range(5),
)
def test_huge_texts_are_refused_at_once(obj):
    client, _ = server()
    with pytest.raises(Invalid):
        client.create(obj)


def test_a_pod_template_is_judged_as_the_workloads_are():
    client, _ = server()
    broken = named("v1", "PodTemplate", "t", template={"spec": {"containers": [{"name": "c"}]}})
    with pytest.raises(Invalid) as caught:
        client.create(broken)
    assert "template.spec.containers[0].image: Required value" in caught.value.message
    made = client.create(named("v1", "PodTemplate", "t", template={"spec": pod()["spec"]}))
    assert made["template"]["spec"]["restartPolicy"] == "Always"
    changed = client.patch("podtemplates", "t", "default", {"template": {"spec": {"restartPolicy": "Never"}}}, "merge")
    assert changed["metadata"]["generation"] == 2
