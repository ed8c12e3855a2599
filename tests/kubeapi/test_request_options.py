"""The options of writes: what is refused, with the kind and the words of the server, and what they do."""

import json

import pytest

from tests.kubeapi.asking import Server, loaded, pod

PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


@pytest.fixture
def server():
    made = Server()
    made.client.create(pod("a"))
    return made


def refused(response):
    status = loaded(response, 422)
    assert status["reason"] == "Invalid"
    assert status["details"]["kind"] == status["message"].partition(".")[0]
    assert status["details"]["group"] == "meta.k8s.io"
    return status["message"]


WRITES = [
    (
        "dryRun=Some",
        'dryRun: Unsupported value: ["Some"]: supported values: "All"',
    ),
    (
        "dryRun=All&dryRun=Some",
        'dryRun: Unsupported value: ["All","Some"]: supported values: "All"',
    ),
    (
        "fieldValidation=Maybe",
        'fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
    ),
    ("fieldManager=" + "m" * 129, "fieldManager: Too long: may not be more than 128 bytes"),
    (
        "fieldManager=a\x07",
        'fieldManager: Invalid value: "a\\u0007": invalid character U+0007 (at position 1)',
    ),
]


@pytest.mark.parametrize(("query", "text"), WRITES)
@pytest.mark.parametrize(
    ("method", "path", "body", "kind"),
    [
        ("POST", PODS, pod("b"), "CreateOptions"),
        ("PUT", f"{PODS}/a", pod("a"), "UpdateOptions"),
        ("PATCH", f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}}, "PatchOptions"),
    ],
)
def test_a_write_with_wrong_options_is_invalid(server, method, path, body, kind, query, text):
    before = server.client.revision
    content_type = MERGE if method == "PATCH" else "application/json"
    told = refused(server.ask(method, f"{path}?{query}", body, content_type=content_type))
    assert told == f'{kind}.meta.k8s.io "" is invalid: {text}'
    assert server.client.revision == before


def test_several_wrong_options_are_told_together(server):
    told = refused(server.ask("POST", f"{PODS}?dryRun=Some&fieldValidation=Maybe", pod("b")))
    assert told == (
        'CreateOptions.meta.k8s.io "" is invalid: [dryRun: Unsupported value: ["Some"]: supported values: "All", '
        'fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"]'
    )


def test_only_an_apply_may_be_forced_and_it_names_its_manager(server):
    patch = {"metadata": {"labels": {"x": "y"}}}
    told = refused(server.ask("PATCH", f"{PODS}/a?force=true", patch, content_type=MERGE))
    assert told == (
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'
    )
    told = refused(server.ask("PATCH", f"{PODS}/a", patch, content_type=APPLY))
    assert told == 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'


DELETES = [
    (
        {"propagationPolicy": "Sometimes"},
        'propagationPolicy: Unsupported value: "Sometimes": supported values: "Foreground", "Background", "Orphan", "nil"',
    ),
    (
        {"propagationPolicy": "Orphan", "orphanDependents": True},
        'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ),
    ({"dryRun": ["Some"]}, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'),
]


@pytest.mark.parametrize(("options", "text"), DELETES)
def test_a_delete_with_wrong_options_is_invalid(server, options, text):
    told = refused(server.ask("DELETE", f"{PODS}/a", options))
    assert told == f'DeleteOptions.meta.k8s.io "" is invalid: {text}'
    assert server.client.find("pods", "a") is not None
    told = refused(server.ask("DELETE", PODS, options))
    assert told == f'DeleteOptions.meta.k8s.io "" is invalid: {text}'


def test_the_query_says_the_same_where_there_is_no_body(server):
    told = refused(server.ask("DELETE", f"{PODS}/a?propagationPolicy=Sometimes"))
    assert 'propagationPolicy: Unsupported value: "Sometimes"' in told
    assert server.ask("DELETE", f"{PODS}/a?dryRun=All").code == 200
    assert server.client.find("pods", "a") is not None


def test_with_a_body_the_query_is_not_looked_at(server):
    assert server.ask("DELETE", f"{PODS}/a?propagationPolicy=Sometimes&dryRun=All", {}).code == 200
    assert server.client.find("pods", "a") is None


def test_a_negative_grace_is_a_second(server):
    server.client.bind("default", "a", "node01")
    made = json.loads(server.ask("DELETE", f"{PODS}/a", {"gracePeriodSeconds": -7}).body)
    assert made["metadata"]["deletionGracePeriodSeconds"] == 1
