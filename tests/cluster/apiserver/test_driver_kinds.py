"""Drivers, attachments, leases and runtime classes: defaults, and what is refused in the server's words."""

import pytest

from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import named, refused, refused_change, server

STORAGE = "storage.k8s.io/v1"


def csi_node(*drivers: Object) -> Object:
    given = [{"name": "a.b", "nodeID": "n", **driver} for driver in drivers]
    return named(STORAGE, "CSINode", "node01", spec={"drivers": given})


def csi_driver(name: str = "a.b", **spec) -> Object:
    return named(STORAGE, "CSIDriver", name, spec=spec)


def attachment(**spec) -> Object:
    given = {"attacher": "a.b", "nodeName": "node01", "source": {"persistentVolumeName": "v"}, **spec}
    return named(STORAGE, "VolumeAttachment", "a", spec=given)


def lease(**spec) -> Object:
    return named("coordination.k8s.io/v1", "Lease", "l", spec=spec)


def runtime_class(**fields) -> Object:
    return named("node.k8s.io/v1", "RuntimeClass", "r", **{"handler": "runc", **fields})


REFUSED = [
    (csi_node({"name": ""}), 'CSINode.storage.k8s.io "node01" is invalid: [spec.drivers[0].name: Required value'),
    (csi_node({"nodeID": ""}), "spec.drivers[0].nodeID: Required value"),
    (csi_node({"nodeID": "n" * 193}), "must be 192 characters or less"),
    (
        csi_node({"allocatable": {"count": -1}}),
        "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
    ),
    (csi_node({}, {}), 'spec.drivers[1].name: Duplicate value: "a.b"'),
    (csi_node({"topologyKeys": ["a", "a"]}), 'spec.drivers[0].topologyKeys: Duplicate value: "a"'),
    (csi_node({"topologyKeys": ["a b"]}), 'spec.drivers[0].topologyKeys: Invalid value: ["a b"]: name part'),
    (csi_driver("a" * 64), "name: Too long: may not be more than 63 bytes"),
    (
        csi_driver(fsGroupPolicy="Always"),
        'spec.fsGroupPolicy: Unsupported value: "Always": supported values: "ReadWriteOnceWithFSType", "File", "None"',
    ),
    (
        csi_driver(volumeLifecycleModes=["Shared"]),
        'spec.volumeLifecycleModes: Unsupported value: "Shared": supported values: "Persistent", "Ephemeral"',
    ),
    (
        csi_driver(tokenRequests=[{"audience": "a"}, {"audience": "a"}]),
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
    ),
    (
        csi_driver(tokenRequests=[{"audience": "a", "expirationSeconds": 1}]),
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
    ),
    (attachment(attacher=""), "spec.attacher: Required value"),
    (
        attachment(source={}),
        "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
    ),
    (attachment(nodeName="A"), 'spec.nodeName: Invalid value: "A": a lowercase RFC 1123 subdomain'),
    (
        lease(leaseDurationSeconds=0),
        'Lease.coordination.k8s.io "l" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
    ),
    (
        lease(leaseTransitions=-1),
        "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
    ),
    (
        lease(strategy="Newest"),
        'spec.strategy.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"',
    ),
    (lease(preferredHolder="a"), "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"),
    (
        runtime_class(handler="a.b"),
        'RuntimeClass.node.k8s.io "r" is invalid: handler: Invalid value: "a.b": must not contain dots',
    ),
    (
        runtime_class(overhead={"podFixed": {"cpu": "-1"}}),
        'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ),
    (
        runtime_class(scheduling={"nodeSelector": {"a b": "c"}}),
        'scheduling.nodeSelector: Invalid value: "a b": name part',
    ),
    (
        runtime_class(scheduling={"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}),
        "scheduling.tolerations[0].operator: Invalid value",
    ),
    (
        named(STORAGE, "CSIStorageCapacity", "c", storageClassName="fast", capacity="-1"),
        'capacity: Invalid value: "-1": must be greater than or equal to 0',
    ),
]


@pytest.mark.parametrize(("obj", "text"), REFUSED, ids=range(len(REFUSED)))
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refused(obj)


FIXED = [
    (
        csi_node({}),
        {"spec": {"drivers": [{"name": "a.b", "nodeID": "other"}]}},
        (
            'CSINodeDriver: Invalid value: {"Name":"a.b","NodeID":"other","TopologyKeys":null,"Allocatable":null}: field is '
            "immutable"
        ),
    ),
    (
        csi_driver(),
        {"spec": {"attachRequired": False}},
        "spec.attachedRequired: Invalid value: false: field is immutable",
    ),
    (
        attachment(),
        {"spec": {"nodeName": "node02"}},
        (
            'spec: Invalid value: {"Attacher":"a.b","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},'
            '"NodeName":"node02"}: field is immutable'
        ),
    ),
    (runtime_class(), {"handler": "kata"}, 'handler: Invalid value: "kata": field is immutable'),
]


@pytest.mark.parametrize(("obj", "changes", "text"), FIXED, ids=range(len(FIXED)))
def test_some_fields_never_change(obj, changes, text):
    assert text in refused_change(obj, changes)


def test_the_count_of_a_driver_may_change():
    client, _ = server()
    client.create(csi_node({"allocatable": {"count": 3}}))
    fewer = {"spec": {"drivers": [{"name": "a.b", "nodeID": "n", "allocatable": {"count": 2}}]}}
    made = client.patch("csinodes", "node01", "", fewer, "merge")
    assert made["spec"]["drivers"][0]["allocatable"] == {"count": 2}


def test_a_driver_attaches_persistent_volumes_unless_it_says_otherwise():
    client, _ = server()
    assert client.create(csi_driver())["spec"] == {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "requiresRepublish": False,
        "seLinuxMount": False,
        "volumeLifecycleModes": ["Persistent"],
    }
