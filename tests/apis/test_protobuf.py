"""Kubernetes protobuf: the table against the published wire numbers, and what becomes of values."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.apimachinery.errors import BadRequest, UnsupportedMediaType
from app.apis import protobuf, schema

PUBLISHED = json.loads((Path(__file__).parent / "protobuf-fields.json").read_bytes())
TABLE = json.loads((Path(protobuf.__file__).parent / "schema" / "protobuf.json").read_bytes())


def short(name):
    for prefix in ("k8s.io.api.", "k8s.io.apimachinery.pkg.apis."):
        name = name.removeprefix(prefix)
    return name


NUMBERS = {
    short(message): {name: (number, kept, short(kind)) for number, (name, kept, kind) in fields.items()}
    for message, fields in PUBLISHED.items()
}


def varint(number):
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def encoded(message, values):
    """The bytes of a message, field by field as Go's generated code would write them, by the published numbers."""
    out = b""
    for name, value in values.items():
        number, kept, kind = NUMBERS[message][name]
        items = value if kept == "rep" else list(value.items()) if kept == "map" else [value]
        for item in items:
            if kept == "map":
                data = tagged(1, item[0].encode()) + field(2, kind, item[1])
                out += tagged(int(number), data)
            else:
                out += field(int(number), kind, item)
    return out


def field(number, kind, value):
    if kind in {"int32", "int64", "bool"}:
        return varint(number << 3) + varint(int(value))
    if kind == "string":
        return tagged(number, value.encode())
    return tagged(number, value if isinstance(value, bytes) else encoded(kind, value))


def tagged(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def posted(message, values, api_version="v1", kind="Pod"):
    names = tagged(1, api_version.encode()) + tagged(2, kind.encode())
    return b"k8s\0" + tagged(1, names) + tagged(2, encoded(message, values)) + tagged(3, b"") + tagged(4, b"")


def spec_of(values):
    return protobuf.decode(posted("core.v1.Pod", {"spec": values}))["spec"]


def test_each_number_of_the_table_is_the_published_one():
    for message, fields in TABLE["messages"].items():
        for number, text in fields.items():
            name = text.partition(" ")[0]
            published = {number: name for name, (number, _, _) in NUMBERS[message].items()}[number]
            assert name in {published, ""}, (message, number)


def test_the_table_knows_every_field_of_the_release_in_the_messages_that_it_has():
    for message, fields in TABLE["messages"].items():
        known = schema.type_of(message)
        if known is None:
            continue
        names = {text.partition(" ")[0] for text in fields.values()}
        embedded = {
            inner.partition(" ")[0]
            for text in fields.values()
            if text.startswith(" ")
            for inner in TABLE["messages"][text[1:]].values()
        }
        missing = set(known.fields) - names - embedded - {"apiVersion", "kind"}
        assert missing <= ({"workloadRef"} if message == "core.v1.PodSpec" else set()), message


def test_types_are_those_of_the_schema():
    for message, fields in TABLE["messages"].items():
        known = schema.type_of(message)
        for text in fields.values():
            name, _, kind = text.partition(" ")
            if known is not None and name:
                assert kind.removeprefix("*").replace("fields", "any") == known.fields[name].type, (message, name)


def test_the_envelope_names_the_kind():
    assert protobuf.decode(posted("core.v1.Pod", {"metadata": {"name": "bee"}})) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bee"},
    }


def test_embedded_structures_are_part_of_what_holds_them():
    volume = {"name": "v", "volumeSource": {"emptyDir": {"medium": ""}}}
    assert spec_of({"volumes": [volume]}) == {"volumes": [{"name": "v", "emptyDir": {}}]}
    probe = {"handler": {"httpGet": {"path": "/", "port": {"type": 0, "intVal": 80, "strVal": ""}}}}
    (container,) = spec_of({"containers": [{"name": "c", "livenessProbe": probe}]})["containers"]
    assert container["livenessProbe"] == {"httpGet": {"path": "/", "port": 80}}


def test_zero_is_left_out_where_go_would_and_kept_behind_a_pointer():
    assert spec_of({"hostNetwork": False, "priority": 0, "nodeName": "", "hostUsers": False}) == {
        "priority": 0,
        "hostUsers": False,
    }


def test_negative_numbers_keep_their_sign():
    assert spec_of({"priority": -5, "terminationGracePeriodSeconds": -1}) == {
        "priority": -5,
        "terminationGracePeriodSeconds": -1,
    }


def test_quantities_numbers_or_names_and_times():
    requests = {"cpu": {"string": "100m"}, "memory": {"string": "1Gi"}}
    (container,) = spec_of({"containers": [{"name": "c", "resources": {"requests": requests}}]})["containers"]
    assert container["resources"]["requests"] == {"cpu": "100m", "memory": "1Gi"}
    budget = {"spec": {"minAvailable": {"type": 1, "intVal": 0, "strVal": "50%"}}}
    read = protobuf.decode(posted("policy.v1.PodDisruptionBudget", budget, "policy/v1", "PodDisruptionBudget"))
    assert read["spec"] == {"minAvailable": "50%"}
    for moment, text in (({"seconds": 1_767_225_600, "nanos": 5}, "2026-01-01T00:00:00Z"), ({}, None)):
        metadata = protobuf.decode(posted("core.v1.Pod", {"metadata": {"creationTimestamp": moment}}))["metadata"]
        assert metadata.get("creationTimestamp") == text


def test_bytes_are_base64_and_lists_of_numbers_stay_lists():
    secret = {"data": {"p": b"q"}, "stringData": {"a": "b"}, "type": ""}
    read = protobuf.decode(posted("core.v1.Secret", secret, "v1", "Secret"))
    assert (read["data"], read["stringData"], "type" in read) == ({"p": "cQ=="}, {"a": "b"}, False)
    assert spec_of({"securityContext": {"supplementalGroups": [0, 5]}})["securityContext"] == {
        "supplementalGroups": [0, 5]
    }


def test_fields_of_a_later_release_are_left_out():
    body = posted("core.v1.Pod", {"spec": {}})
    later = tagged(2, tagged(2, tagged(999, b"x") + field(1000, "int32", 3)))
    assert protobuf.decode(body + later)["spec"] == {}


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        (b"", BadRequest, r"expected prefix \[107 56 115 0\]"),
        (b"{}", BadRequest, r"expected prefix \[107 56 115 0\]"),
        (b"k8s\0", UnsupportedMediaType, "does not read  in version ''"),
        (posted("core.v1.Pod", {}, "v1", "Gadget"), UnsupportedMediaType, "does not read Gadget"),
        (b"k8s\0" + tagged(1, tagged(1, b"v1") + tagged(2, b"Pod")) + b"\x12\x05a", BadRequest, "unexpected EOF"),
        (b"k8s\0" + tagged(1, tagged(1, b"\xff")), BadRequest, "invalid UTF-8"),
        (b"k8s\0" + varint(1 << 3) + b"\x01", BadRequest, "wrong wireType = 0"),
    ],
)
def test_what_is_no_envelope_of_a_known_kind_is_refused_with_its_cause(body, error, says):
    with pytest.raises(error, match=says):
        protobuf.decode(body)


def test_managed_fields_nested_without_end_are_refused():
    entry = {"metadata": {"managedFields": [{"fieldsV1": {"Raw": b'{"a":' * 100_000 + b"1" + b"}" * 100_000}}]}}
    with pytest.raises(BadRequest, match="managed fields are no JSON"):
        protobuf.decode(posted("core.v1.Pod", entry))


@given(st.sampled_from(sorted(TABLE["kinds"])), st.binary(max_size=300))
def test_any_bytes_are_an_object_or_a_bad_request(known, content):
    api_version, _, kind = known.rpartition("/")
    body = b"k8s\0" + tagged(1, tagged(1, api_version.encode()) + tagged(2, kind.encode())) + tagged(2, content)
    try:
        read = protobuf.decode(body)
    except BadRequest:
        return
    assert (read["apiVersion"], read["kind"]) == (api_version, kind)
