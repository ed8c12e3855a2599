"""Objects over their schema: fields, differences, merges, and what does not fit."""

from __future__ import annotations

from app.apis import scheme, typed, typed_check

POD = scheme.for_kind("v1", "Pod")
DEPLOYMENT = scheme.for_kind("apps/v1", "Deployment")
SHAPE = typed.root(POD)


def pod(*containers, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bee"},
        "spec": {"containers": [*containers], **spec},
    }


def container(name, **fields):
    return {"name": name, **fields}


def names(obj):
    return [item["name"] for item in obj["spec"]["containers"]]


def test_items_of_lists_are_fields_of_their_own():
    fields = typed.field_set(pod(container("c", image="nginx")), SHAPE)
    assert fields["f:spec"] == {"f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}, "f:image": {}}}}


def test_a_selector_is_one_field():
    obj = {"spec": {"selector": {"matchLabels": {"app": "web"}}}}
    assert typed.field_set(obj, typed.root(DEPLOYMENT)) == {"f:spec": {"f:selector": {}}}


def test_a_port_without_a_protocol_is_known_by_tcp():
    fields = typed.field_set(pod(container("c", ports=[{"containerPort": 80}])), SHAPE)
    ports = fields["f:spec"]["f:containers"]['k:{"name":"c"}']["f:ports"]
    assert list(ports) == ['k:{"containerPort":80,"protocol":"TCP"}']


def test_an_empty_map_is_a_field_and_an_empty_list_of_items_is_none():
    fields = typed.field_set({"metadata": {"labels": {}}, "spec": {"containers": []}}, SHAPE)
    assert fields == {"f:metadata": {"f:labels": {}}}


def test_a_map_that_is_new_is_owned_with_its_keys():
    changed, removed = typed.compare({"metadata": {}}, {"metadata": {"labels": {"a": "b"}}}, SHAPE)
    assert changed == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}
    assert removed == {}


def test_a_new_object_has_the_structures_that_go_holds_by_value():
    changed, _ = typed.compare(typed.zero(SHAPE.element), pod(container("c")), SHAPE)
    assert changed["f:spec"] == {"f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}}}}


def test_what_is_gone_is_told_with_all_that_was_in_it():
    _, removed = typed.compare(pod(container("a"), container("b")), pod(container("a")), SHAPE)
    assert removed == {"f:spec": {"f:containers": {'k:{"name":"b"}': {".": {}, "f:name": {}}}}}


def test_applied_items_keep_their_order_and_the_others_their_place():
    live = pod(container("a"), container("b"), container("c"))
    merged = typed.merge(live, pod(container("c", image="x"), container("a")), SHAPE)
    assert names(merged) == ["b", "c", "a"]
    assert merged["spec"]["containers"][1] == {"name": "c", "image": "x"}


def test_an_item_that_is_new_goes_where_it_was_applied():
    live = pod(container("a"), container("c"))
    assert names(typed.merge(live, pod(container("a"), container("b"), container("c")), SHAPE)) == ["a", "b", "c"]


def test_a_merge_leaves_its_arguments_alone():
    live = pod(container("a"))
    typed.merge(live, pod(container("a", image="x")), SHAPE)
    assert live == pod(container("a"))


def test_what_nobody_owns_any_more_is_pruned():
    former = typed.field_set(pod(container("a"), container("b")), SHAPE)
    owned = typed.field_set(pod(container("a")), SHAPE)
    assert names(typed.pruned(pod(container("a"), container("b"), container("z")), SHAPE, former, owned)) == ["a", "z"]


def test_a_structure_that_lost_its_last_field_goes_too():
    live = pod(container("a"), securityContext={"runAsUser": 1})
    former, owned = typed.field_set(live, SHAPE), typed.field_set(pod(container("a")), SHAPE)
    assert typed.pruned(live, SHAPE, former, owned) == pod(container("a"))


def test_every_fault_of_a_configuration_is_told():
    wrong = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"a": 1}},
        "spec": {
            "replicas": "lots",
            "paused": "yes",
            "strategie": {},
            "selector": [],
            "template": {"spec": {"volumes": {}}},
        },
    }
    assert typed_check.problems(wrong, DEPLOYMENT).splitlines() == [
        "errors:",
        "  .metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}",
        "  .spec.replicas: expected numeric (int or float), got string",
        "  .spec.paused: expected boolean, got &{yes}",
        "  .spec.strategie: field not declared in schema",
        "  .spec.selector: expected map, got &{[]}",
        "  .spec.template.spec.volumes: expected list, got &{map[]}",
    ]


def test_items_without_a_key_and_with_the_same_are_told():
    assert typed_check.problems(pod({"image": "x"}), POD) == (
        '.spec.containers: element 0: associative list with keys has an element that omits key field "name" '
        "(and doesn't have default value)"
    )
    env = [{"name": "A"}, {"name": "A"}]
    assert typed_check.problems(pod(container("c", env=env)), POD) == (
        '.spec.containers[name="c"].env: duplicate entries for key [name="A"]'
    )


def test_a_configuration_that_fits_has_no_problem():
    good = pod(container("c", image="nginx", resources={"requests": {"cpu": 1}}, ports=[{"containerPort": 80}]))
    assert typed_check.problems(good, POD) == ""
