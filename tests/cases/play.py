"""One case, played by the engine: what became of its pods, attempt by attempt."""

import copy
import re
from dataclasses import dataclass

from app.scheduler.replay.world import World
from tests.cases import reader

_EXCLUDED_BY = re.compile(r"didn't satisfy plugin\(s\) \[(\w+)\]")
_UID = "00000000-0000-4000-8000-00000000cafe"


@dataclass
class Outcome:
    """Attempts, events and final states by pod name, in the order in which the pods were made."""

    pods: list[str]
    nodes: dict[str, str]
    attempts: dict[str, list[dict]]
    failures: dict[str, list[str]]
    victims: list[str]

    def of(self, name):
        """The pods that an expectation's name means: a pod, all of a Deployment, or `name#2`, the second of them."""
        if name in self.pods:
            return [name]
        owner, _, number = name.partition("#")
        group = [pod for pod in self.pods if pod.rpartition("-")[0] == owner]
        return [group[int(number) - 1]] if number else group


def scheduled_objects(case):
    """The objects that stand before the input comes, and the pods that the input is or makes."""
    cluster = reader.objects(case["cluster"])
    (wanted,) = reader.objects(case["input"])
    cluster = [*cluster, *_claims_kept_for(cluster)]
    if wanted["kind"] == "Pod":
        return cluster, [wanted]
    return [*cluster, _replica_set(wanted)], _replicas(wanted)


def play(case):
    """Let the engine decide a case."""
    cluster, pods = scheduled_objects(case)
    world = World(copy.deepcopy(cluster))
    step = world.play({"op": "createAll", "objects": copy.deepcopy(pods)})
    names = [pod["metadata"]["name"] for pod in pods]
    namespace = pods[0]["metadata"]["namespace"]
    final = world.final()
    outcome = Outcome(names, {}, {name: [] for name in names}, {name: [] for name in names}, [])
    for name in names:
        key = f"{namespace}/{name}"
        outcome.nodes[name] = final.get(key, {}).get("nodeName", "")
        outcome.attempts[name] = [attempt for attempt in step.attempts if attempt["pod"] == key]
        notes = [event for event in step.events if event["regarding"] == key]
        outcome.failures[name] = [event["note"] for event in notes if event["reason"] == "FailedScheduling"]
    outcome.victims = [key.partition("/")[2] for key in world.deleted]
    return outcome


def rejected(attempt, nodes):
    """Node to the plugin that turned it down, for one attempt."""
    if "preFilter" in attempt:
        return dict.fromkeys(nodes, attempt["preFilter"]["plugin"])
    found = {node: status["plugin"] for node, status in attempt.get("rejected", {}).items()}
    tried = attempt.get("preFilterNodes", nodes)
    for node in set(nodes) - set(tried):
        found[node] = _EXCLUDED_BY.search(attempt["message"])[1]
    return found


def _replica_set(deployment):
    """What the Deployment controller makes of it: default spreading asks for it."""
    name, spec = deployment["metadata"]["name"], deployment["spec"]
    metadata = {"name": name, "namespace": deployment["metadata"]["namespace"], "uid": _UID}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": copy.deepcopy(spec)}


def _replicas(deployment):
    name, spec = deployment["metadata"]["name"], deployment["spec"]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": _UID, "controller": True}
    found = []
    for number in range(1, spec["replicas"] + 1):
        template = copy.deepcopy(spec["template"])
        metadata = {
            **template["metadata"],
            "name": f"{name}-{number}",
            "namespace": deployment["metadata"]["namespace"],
            "ownerReferences": [owner],
        }
        found.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
    return found


def _claims_kept_for(cluster):
    """The claims that volumes are kept for: cases with such a volume mean its claim without writing it."""
    written = {obj["metadata"]["name"] for obj in cluster if obj["kind"] == "PersistentVolumeClaim"}
    for volume in cluster:
        claim = volume["spec"].get("claimRef") if volume["kind"] == "PersistentVolume" else None
        if claim and claim["name"] not in written:
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": claim["name"], "namespace": claim["namespace"]},
                "spec": {
                    "storageClassName": volume["spec"]["storageClassName"],
                    "volumeName": volume["metadata"]["name"],
                    "accessModes": volume["spec"]["accessModes"],
                    "resources": {"requests": dict(volume["spec"]["capacity"])},
                },
            }
