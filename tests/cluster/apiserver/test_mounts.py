"""What containers may do with their pod's volumes, and when they may start again, in the server's words."""

import pytest

from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import pod, server

C = "spec.containers[0]"
VOLUMES = [
    {"name": "v", "emptyDir": {}},
    {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}},
    {"name": "art", "image": {"reference": "registry.k8s.io/pause:3.10"}},
]


def using(*, volumes: list[Object] = VOLUMES, **fields) -> Object:
    made = pod(container=fields)
    made["spec"]["volumes"] = volumes
    return made


def mount(**fields) -> Object:
    return using(volumeMounts=[{"name": "v", "mountPath": "/a", **fields}])


def device(*items: Object, **more) -> Object:
    return using(volumeDevices=[{"name": "disk", "devicePath": "/dev/x", **item} for item in items], **more)


def rules(*items: Object, **more) -> Object:
    return pod(container={"restartPolicy": "Never", "restartPolicyRules": list(items), **more})


def on_exit(operator: str, *values: int, action: str = "Restart") -> Object:
    return {"action": action, "exitCodes": {"operator": operator, "values": list(values)}}


REFUSED = [
    (mount(name=""), f'{C}.volumeMounts[0].name: Required value, {C}.volumeMounts[0].name: Not found: ""'),
    (mount(name="w"), f'{C}.volumeMounts[0].name: Not found: "w"'),
    (mount(mountPath=""), f"{C}.volumeMounts[0].mountPath: Required value"),
    (mount(subPath="/b"), f'{C}.volumeMounts.subPath: Invalid value: "/b": must be a relative path'),
    (mount(subPath="a/../b"), f"""{C}.volumeMounts.subPath: Invalid value: "a/../b": must not contain '..'"""),
    (mount(subPathExpr="/b"), f'{C}.volumeMounts.subPathExpr: Invalid value: "/b": must be a relative path'),
    (
        mount(mountPropagation="Bidirectional"),
        (
            f"{C}.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to "
            "privileged containers"
        ),
    ),
    (
        mount(recursiveReadOnly="Enabled"),
        f"{C}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
    ),
    (
        mount(recursiveReadOnly="IfPossible", readOnly=True, mountPropagation="HostToContainer"),
        (
            f"{C}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or "
            "not specified"
        ),
    ),
    (
        mount(recursiveReadOnly="Yes"),
        (
            f'{C}.volumeMounts.recursiveReadOnly: Unsupported value: "Yes": supported values: "Disabled", "Enabled", '
            '"IfPossible"'
        ),
    ),
    (
        mount(name="art", subPath="x"),
        f'{C}.volumeMounts[0].subPath: Invalid value: "x": not allowed in image volume sources',
    ),
    (
        using(volumes=[{"name": "v", "csi": {}}], volumeMounts=[{"name": "v", "mountPath": "/a"}]),
        f'{C}.volumeMounts[0].name: Not found: "v"',
    ),
    (device({"name": ""}), f"{C}.volumeDevices[0].name: Required value"),
    (device({"name": "w"}), f'{C}.volumeDevices[0].name: Not found: "w"'),
    (
        device({"name": "v"}),
        (
            f'{C}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim '
            "or Ephemeral for block mode"
        ),
    ),
    (device({}, {"devicePath": "/dev/y"}), f'{C}.volumeDevices[1].name: Invalid value: "disk": must be unique'),
    (device({"devicePath": ""}), f"{C}.volumeDevices[0].devicePath: Required value"),
    (device({}, {}), f'{C}.volumeDevices[1].devicePath: Invalid value: "/dev/x": must be unique'),
    (
        device({"devicePath": "/dev/../x"}),
        f"""{C}.volumeDevices[0].devicePath: Invalid value: "/dev/../x": can not contain backsteps ('..')""",
    ),
    (
        device({}, volumeMounts=[{"name": "disk", "mountPath": "/a"}]),
        f'{C}.volumeMounts[0].name: Invalid value: "disk": must not already exist in volumeDevices',
    ),
    (
        device({}, volumeMounts=[{"name": "disk", "mountPath": "/a"}]),
        f'{C}.volumeDevices[0].name: Invalid value: "disk": must not already exist in volumeMounts',
    ),
    (
        device({}, volumeMounts=[{"name": "v", "mountPath": "/dev/x"}]),
        f'{C}.volumeMounts[0].mountPath: Invalid value: "/dev/x": must not already exist as a path in volumeDevices',
    ),
    (
        device({}, volumeMounts=[{"name": "v", "mountPath": "/dev/x"}]),
        f'{C}.volumeDevices[0].devicePath: Invalid value: "/dev/x": must not already exist as a path in volumeMounts',
    ),
    (
        pod(container={"restartPolicy": "Sometimes"}),
        f'{C}.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
    ),
    (
        rules(on_exit("In", 3), restartPolicy=None),
        f"{C}.restartPolicy: Required value: must specify restartPolicy when restart rules are used",
    ),
    (
        rules(on_exit("In", 3, action="DoNotRestart")),
        f'{C}.restartPolicyRules[0].action: Unsupported value: "DoNotRestart": supported values: "Restart"',
    ),
    (rules({"action": "Restart"}), f"{C}.restartPolicyRules[0].exitCodes: Required value: must be specified"),
    (
        rules(on_exit("Equals", 3)),
        f'{C}.restartPolicyRules[0].exitCodes.operator: Unsupported value: "Equals": supported values: "In", "NotIn"',
    ),
    (rules(*[on_exit("In", 3)] * 21), f"{C}.restartPolicyRules: Too many: 21: must have at most 20 items"),
    (
        rules(on_exit("In", *range(256))),
        f"{C}.restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items",
    ),
]


@pytest.mark.parametrize(("obj", "text"), REFUSED, ids=range(len(REFUSED)))
def test_it_refuses_what_kubernetes_refuses(obj, text):
    client, _ = server()
    with pytest.raises(Invalid) as caught:
        client.create(obj)
    assert text in caught.value.message


@pytest.mark.parametrize(
    "obj",
    [
        mount(mountPropagation="Bidirectional"),
        mount(recursiveReadOnly="Disabled"),
        mount(recursiveReadOnly="Enabled", readOnly=True, mountPropagation="None"),
        mount(name="art"),
        device({}),
        rules(on_exit("In", 3), on_exit("NotIn", 0, 1)),
        pod(container={"restartPolicy": "OnFailure"}),
    ],
    ids=range(7),
)
def test_it_takes_what_kubernetes_takes(obj):
    client, _ = server()
    for container in obj["spec"]["containers"]:
        container["securityContext"] = {"privileged": True}
    assert client.create(obj)["metadata"]["uid"]
