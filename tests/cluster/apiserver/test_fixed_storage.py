"""What never changes in claims and volumes: the refusal ends with the difference, as the server words it."""

import pytest

from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import named, refused_change, server

CLAIM_FIXED = (
    'PersistentVolumeClaim "c" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests '
    "and volumeAttributesClassName for bound claims\n"
)


def claim(**spec) -> Object:
    given = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return named("v1", "PersistentVolumeClaim", "c", spec=given)


def volume(**spec) -> Object:
    given = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}, **spec}
    return named("v1", "PersistentVolume", "v", spec=given)


def on(node: str) -> Object:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]
    return {"required": {"nodeSelectorTerms": terms}}


def test_a_claim_that_is_not_bound_asks_for_what_it_asked_for():
    told = refused_change(claim(), {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    assert told == CLAIM_FIXED + (
        "@@ -6,7 +6,7 @@\n"
        '  "Resources": {\n'
        '   "Limits": null,\n'
        '   "Requests": {\n'
        '-   "storage": "1Gi"\n'
        '+   "storage": "2Gi"\n'
        "   }\n"
        "  },\n"
        '  "VolumeName": "",\n'
    )


def test_the_access_modes_of_a_claim_are_fixed():
    told = refused_change(claim(), {"spec": {"accessModes": ["ReadWriteMany"]}})
    assert told.startswith(CLAIM_FIXED)
    assert '-  "ReadWriteOnce"\n+  "ReadWriteMany"\n' in told


def test_the_mode_of_a_claim_is_refused_twice():
    told = refused_change(claim(), {"spec": {"volumeMode": "Block"}})
    assert '- "VolumeMode": "Filesystem",\n+ "VolumeMode": "Block",\n' in told
    assert 'volumeMode: Invalid value: "Block": field is immutable' in told


def test_the_attributes_class_of_a_claim_may_change():
    client, _ = server()
    client.create(claim())
    changed = client.patch("pvc", "c", "default", {"spec": {"volumeAttributesClassName": "gold"}}, "merge")
    assert changed["spec"]["volumeAttributesClassName"] == "gold"


def test_the_source_of_a_volume_is_fixed():
    told = refused_change(volume(), {"spec": {"hostPath": {"path": "/y"}}})
    assert told == (
        'PersistentVolume "v" is invalid: spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is '
        "immutable after creation\n"
        "@@ -2,7 +2,7 @@\n"
        '  "GCEPersistentDisk": null,\n'
        '  "AWSElasticBlockStore": null,\n'
        '  "HostPath": {\n'
        '-  "Path": "/x",\n'
        '+  "Path": "/y",\n'
        '   "Type": ""\n'
        "  },\n"
        '  "Glusterfs": null,\n'
    )


def test_the_mode_and_the_place_of_a_volume_are_fixed():
    told = refused_change(volume(), {"spec": {"volumeMode": "Block"}})
    assert told == 'PersistentVolume "v" is invalid: volumeMode: Invalid value: "Block": field is immutable'
    told = refused_change(volume(nodeAffinity=on("node01")), {"spec": {"nodeAffinity": on("node02")}})
    assert told == (
        'PersistentVolume "v" is invalid: nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":'
        '[{"MatchExpressions":[{"Key":"kubernetes.io/hostname","Operator":"In","Values":["node02"]}],'
        '"MatchFields":null}]}}: field is immutable'
    )


def test_a_volume_may_be_placed_later_and_given_a_secret_to_be_expanded_with():
    client, _ = server()
    client.create(volume())
    client.patch("pv", "v", "", {"spec": {"nodeAffinity": on("node01")}}, "merge")
    other = volume(hostPath=None, csi={"driver": "a.b", "volumeHandle": "h"})
    client.create({**other, "metadata": {"name": "w"}})
    secret = {"spec": {"csi": {"controllerExpandSecretRef": {"name": "s", "namespace": "default"}}}}
    assert client.patch("pv", "w", "", secret, "merge")["spec"]["csi"]["controllerExpandSecretRef"]["name"] == "s"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"kind": "PersistentVolumeClaim", "name": ""}, "spec.dataSource.name: Required value"),
        (
            {"kind": "VolumeSnapshot", "name": "s"},
            (
                "spec.dataSource: Invalid value: \"VolumeSnapshot\": must be 'PersistentVolumeClaim' when referencing the "
                "default apiGroup"
            ),
        ),
        (
            {"kind": "VolumeSnapshot", "name": "s", "apiGroup": "A"},
            'spec.dataSource.apiGroup: Invalid value: "A": a lowercase RFC 1123 subdomain',
        ),
    ],
)
def test_the_source_of_a_claim_is_judged(source, text):
    client, _ = server()
    with pytest.raises(Invalid) as caught:
        client.create(claim(dataSource=source))
    assert text in caught.value.message


def test_a_scope_that_does_not_fit_is_shown_with_the_whole_selector():
    client, _ = server()
    terms = [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
    quota = {"hard": {"configmaps": "1"}, "scopeSelector": {"matchExpressions": terms}}
    with pytest.raises(Invalid) as caught:
        client.create(named("v1", "ResourceQuota", "q", spec=quota))
    assert caught.value.message == (
        'ResourceQuota "q" is invalid: spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":'
        '[{"ScopeName":"PriorityClass","Operator":"In","Values":["high"]}]}: unsupported scope applied to resource'
    )
