"""Kinds and resources by their names."""

from __future__ import annotations

import pytest

from app.apis import scheme


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("pods", "Pod"),
        ("pod", "Pod"),
        ("po", "Pod"),
        ("Pod", "Pod"),
        ("PODS", "Pod"),
        ("deploy", "Deployment"),
        ("deployments.apps", "Deployment"),
        ("ds", "DaemonSet"),
        ("pc", "PriorityClass"),
        ("quota", "ResourceQuota"),
        ("cm", "ConfigMap"),
        ("sa", "ServiceAccount"),
        ("clusterrolebindings.rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ],
)
def test_a_resource_is_known_by_every_name_that_kubectl_takes(name, kind):
    assert scheme.for_resource(name).kind == kind


def test_an_unknown_resource_is_refused_in_kubectls_words():
    with pytest.raises(scheme.NoResourceMatchError) as caught:
        scheme.for_resource("foo")
    assert caught.value.message == 'the server doesn\'t have a resource type "foo"'


@pytest.mark.parametrize(
    ("api_version", "kind", "path", "advice"),
    [
        ("v1", "pod", "kind", "Write “kind: Pod”: capital letters count."),
        ("v1", "Pods", "kind", "Write “kind: Pod”: capital letters count."),
        ("v1", "Deployment", "apiVersion", "Write “apiVersion: apps/v1” for kind Deployment."),
        ("extensions/v1beta1", "Deployment", "apiVersion", "Write “apiVersion: apps/v1” for kind Deployment."),
        ("v1", "deployment", "kind", "Write “apiVersion: apps/v1” and “kind: Deployment”."),
        ("apps/v1", "Daemonset", "kind", "Write “kind: DaemonSet”: capital letters count."),
        ("apps/v1", "Deploymnet", "kind", "Write “kind: Deployment”: capital letters count."),
        ("v1", "Frobnicator", "kind", "“Frobnicator” is not a kind that this cluster knows."),
    ],
)
def test_an_unknown_kind_is_refused_with_the_near_one(api_version, kind, path, advice):
    with pytest.raises(scheme.NoKindMatchError) as caught:
        scheme.for_kind(api_version, kind)
    assert caught.value.message == f'no matches for kind "{kind}" in version "{api_version}"'
    hint = caught.value.hints[0]
    assert (hint.path, str(hint.advice)) == (path, advice)


def test_no_two_stored_kinds_share_a_name():
    stored = [info for info in scheme.KINDS if not info.stored_as]
    names = [name for info in stored for name in (info.plural, info.singular, *info.short_names)]
    assert len(set(names)) == len(names) - sum(info.plural == info.singular for info in stored)


def test_a_view_of_a_kind_is_reached_by_its_full_name_only():
    view = scheme.for_kind("events.k8s.io/v1", "Event")
    assert scheme.stored(view) is scheme.for_resource("events") is scheme.for_resource("ev")
    assert scheme.for_resource("events.events.k8s.io") is view


def test_group_names_print_as_messages_want_them():
    info = scheme.for_kind("apps/v1", "Deployment")
    assert (info.group_resource, info.group_kind, info.api_version) == (
        "deployments.apps",
        "Deployment.apps",
        "apps/v1",
    )
    core = scheme.for_kind("v1", "Pod")
    assert (core.group_resource, core.group_kind, core.api_version) == ("pods", "Pod", "v1")
