"""The structure of the served kinds, and its data file."""

from __future__ import annotations

import json

import pytest

from app.apis import schema, scheme
from app.cli import schema_data


def test_every_served_kind_has_a_type():
    for info in scheme.KINDS:
        assert {"apiVersion", "kind", "metadata"} <= set(schema.type_of_kind(info).fields), info.kind


def test_every_type_that_a_field_names_is_there():
    scalars = {"string", "int32", "int64", "bool", "double", "bytes", "time", "quantity", "intstr", "any"}
    data = json.loads(schema_data.TARGET.read_bytes())
    for name in data["types"]:
        for field in schema.type_of(name).fields.values():
            element = field.type
            while element[:2] in {"[]", "{}"}:
                element = element[2:]
            assert element in scalars or schema.type_of(element), (name, field.name)


def test_the_data_file_is_what_the_generator_writes():
    built = schema_data.build(schema_data._definitions())
    assert json.dumps(built, sort_keys=True, separators=(",", ":")) + "\n" == schema_data.TARGET.read_text("utf-8")


def test_the_data_hold_structure_and_no_texts():
    assert "description" not in json.loads(schema_data.TARGET.read_bytes())["types"]["core.v1.Pod"]
    assert schema_data.TARGET.stat().st_size < 150_000


@pytest.mark.parametrize(
    ("kind", "path", "type_", "merge_key", "strategies"),
    [
        (("v1", "Pod"), "spec.containers", "[]core.v1.Container", "name", ("merge",)),
        (("v1", "Pod"), "spec.volumes", "[]core.v1.Volume", "name", ("merge", "retainKeys")),
        (("v1", "Pod"), "spec.containers.ports", "[]core.v1.ContainerPort", "containerPort", ("merge",)),
        (("v1", "Node"), "spec.taints", "[]core.v1.Taint", "", ()),
        (("apps/v1", "Deployment"), "spec.strategy", "apps.v1.DeploymentStrategy", "", ("retainKeys",)),
        (("v1", "Pod"), "spec.containers.resources.limits", "{}quantity", "", ()),
        (("v1", "Pod"), "metadata.finalizers", "[]string", "", ("merge",)),
    ],
)
def test_fields_know_their_type_and_how_they_merge(kind, path, type_, merge_key, strategies):
    found = schema.field(scheme.for_kind(*kind), path)
    assert (found.type, found.merge_key, found.strategies) == (type_, merge_key, strategies)


def test_a_path_that_leads_nowhere_has_no_field():
    assert schema.field(scheme.for_kind("v1", "Pod"), "spec.nonsense.deeper") is None


def test_names_print_as_go_prints_them():
    spec = schema.type_of("core.v1.PodSpec")
    assert (spec.go_name, spec.struct_name) == ("v1.PodSpec", "PodSpec")
