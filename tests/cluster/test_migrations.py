"""Snapshots that earlier versions wrote are read, and their clusters live on."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.cluster.apiserver import dispatch
from app.cluster.apiserver.exchange import ApiRequest
from app.cluster.cluster import FORMAT, Cluster, FormatError
from app.cluster.migrations import migrated
from tests.cluster.builders import MINUTE, fresh, phase, pod

FOLDER = Path(__file__).parent / "snapshots"
KEPT = sorted(FOLDER.glob("format-*.json.gz"))


def kept(path: Path) -> Any:
    return orjson.loads(gzip.decompress(path.read_bytes()))


def test_every_earlier_format_is_kept() -> None:
    assert [kept(path)["format"] for path in KEPT] == list(range(1, FORMAT))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_a_kept_snapshot_lives_on(path: Path) -> None:
    cluster = Cluster.load(gzip.decompress(path.read_bytes()))
    cluster.advance_to(cluster.now + 60 * MINUTE)
    cluster.client.create(pod("new"))
    cluster.advance_to(cluster.now + MINUTE)
    assert phase(cluster, "new") == "Running"
    ready = cluster.client.get("deployments", "late", "default")["status"]["readyReplicas"]
    assert ready == 2, "what was under way at the dump is finished"
    again = Cluster.load(cluster.dump())
    assert again.dump() == cluster.dump()


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_a_migration_leaves_what_it_was_given(path: Path) -> None:
    document = kept(path)
    before = orjson.dumps(document)
    assert migrated(document)["format"] == FORMAT
    assert orjson.dumps(document) == before


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_an_old_cluster_that_only_slept_is_dumped_as_it_was_loaded(path: Path) -> None:
    once = Cluster.load(gzip.decompress(path.read_bytes())).dump()
    assert Cluster.load(once).dump() == once


def test_a_snapshot_of_a_newer_version_is_refused_in_words() -> None:
    document = {**orjson.loads(fresh().dump()), "format": FORMAT + 1}
    with pytest.raises(FormatError, match="a newer version of the lab wrote"):
        Cluster.restore(document)


@pytest.mark.parametrize("document", [None, [], {}, {"format": "1"}, {"format": 0}])
def test_what_is_no_snapshot_is_refused(document: Any) -> None:
    with pytest.raises(FormatError, match="has format"):
        Cluster.restore(document)


def test_a_loop_that_the_snapshot_does_not_know_looks_at_everything_once() -> None:
    cluster = fresh()
    cluster.client.create(pod())
    cluster.settle()
    document = orjson.loads(cluster.dump())
    older = {**document, "loops": document["loops"][1:]}
    loaded = Cluster.restore(older)
    assert orjson.loads(loaded.dump())["loops"] == document["loops"][1:]
    loaded.advance_to(loaded.now)
    assert orjson.loads(loaded.dump())["loops"] == document["loops"]


def test_a_cluster_of_format_1_gets_the_default_roles_that_it_lacks() -> None:
    cluster = Cluster.load(gzip.decompress((FOLDER / "format-1.json.gz").read_bytes()))
    new = fresh()
    for kind in ("clusterroles", "clusterrolebindings", "roles", "rolebindings"):
        there = {(obj["metadata"].get("namespace"), obj["metadata"]["name"]) for obj in cluster.client.list(kind)}
        assert there >= {(obj["metadata"].get("namespace"), obj["metadata"]["name"]) for obj in new.client.list(kind)}
    made, there = (one.client.get("clusterroles", "system:node-proxier")["rules"] for one in (new, cluster))
    assert made == there
    assert dispatch.handle(cluster, ApiRequest("GET", "/api/v1/secrets")).code == 200, "its administrator may do all"
