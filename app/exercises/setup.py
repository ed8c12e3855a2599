"""The cluster that a learner finds: the template, the exercise's own objects, and some minutes to settle."""

from __future__ import annotations

from collections.abc import Callable

from app.apimachinery import manifests, meta
from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from app.exercises import answers
from app.exercises.model import Variant

AGE: Micros = 12 * MINUTE
"""How long the exercise's own objects have been there when the learner comes."""


class SetupError(Exception):
    """The exercise's cluster cannot be made: the file's fault, in the API server's words."""


def start(
    variant: Variant,
    now: Instant,
    seed: int | None = None,
    prepare: Callable[[Cluster], Cluster] = lambda cluster: cluster,
) -> Cluster:
    """The cluster at `now` (microseconds since the epoch), settled. The same seed gives the same cluster.

    `prepare` may exchange the bare cluster before the exercise's own objects come.

    Raises:
        SetupError: a manifest is refused, or there is no static pod of a name that is to be taken away.
    """
    wanted = variant.spec.cluster
    documents = manifests.parse(wanted.manifests) if wanted.manifests else []
    nodes = [document.object for document in documents if document.object["kind"] == "Node"]
    bare = _made(wanted.template, now, variant.seed if seed is None else seed, [])
    new = [node for node in nodes if bare.client.find("nodes", meta.name_of(node)) is None]
    cluster = prepare(_made(wanted.template, now, variant.seed if seed is None else seed, new) if new else bare)
    for name in wanted.withoutStaticPods:
        try:
            cluster.remove_static_pod(name)
        except KeyError as error:
            raise SetupError(f"there is no static pod {name} to take away") from error
    cluster.advance_to(cluster.now + MINUTE)
    for document in documents:
        # One by one, because a new namespace needs a moment to get its service account.
        refused = answers.carry_out_documents(cluster, [document])
        if refused:
            raise SetupError(refused)
        cluster.advance_to(cluster.now + SECOND)
    cluster.settle()
    cluster.advance_to(max(now, cluster.now))
    return cluster


def _made(template: str, now: Instant, seed: int, nodes: list[Object]) -> Cluster:
    try:
        return Cluster.new(seed=seed, now=now - AGE, template=template, objects=nodes)
    except StatusError as error:
        raise SetupError(error.message) from error
