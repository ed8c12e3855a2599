"""The working of scores that come from rules about nodes: soft taints, preferred labels, images."""

from __future__ import annotations

from typing import Any

from app.apimachinery.messages import N_, Message
from app.apis import helpers
from app.scheduler.framework.interface import MAX_NODE_SCORE, Plugin
from app.scheduler.why.model import Situation, Working
from app.scheduler.why.node_facts import compares, taint_text

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SOFT = "PreferNoSchedule"
_MIB = 1024 * 1024
_LEAST, _MOST = 23 * _MIB, 1000 * _MIB


def soft_taints(here: Situation, _plugin: Plugin) -> Working:
    """PreferNoSchedule taints that nothing tolerates (plugins/tainttoleration/taint_toleration.go: Score)."""
    compare = compares(here.framework)
    found = [
        taint_text(taint)
        for taint in here.node.taints
        if helpers.find_untolerated_taint([taint], here.pod.tolerations, [_SOFT], compare=compare) is not None
    ]
    facts = {"count": len(found), "taints": ", ".join(found)}
    message = (
        Message(N_("PreferNoSchedule taints that the pod does not tolerate: {count} ({taints})"), facts)
        if found
        else Message(N_("no PreferNoSchedule taint that the pod does not tolerate"))
    )
    return Working(message, len(found), {"taints": found})


def preferred_nodes(here: Situation, plugin: Plugin) -> Working:
    """Weights of the preferred terms that match (plugins/nodeaffinity/node_affinity.go: Score)."""
    own = ((here.pod.spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_PREFERRED) or ()
    terms = [*((plugin.args.get("addedAffinity") or {}).get(_PREFERRED) or ()), *own]
    weights = [
        int(term.get("weight") or 0)
        for term in terms
        if helpers.node_selector_term_matches(term.get("preference") or {}, here.node.node)
    ]
    total = sum(weights)
    steps = f"{' + '.join(map(str, weights))} = {total}" if len(weights) > 1 else str(total)
    message = Message(N_("weights of the preferred terms that match: {steps}"), {"steps": steps})
    return Working(message, total, {"steps": [steps], "weights": weights})


def images(here: Situation, _plugin: Plugin) -> Working:
    """Bytes that need not be pulled (plugins/imagelocality/image_locality.go: Score)."""
    spec = here.pod.spec
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    present = here.state.snapshot.images.get(here.node.name) or {}
    total = len(here.state.snapshot.nodes)
    found: list[dict[str, Any]] = []
    size = 0
    for container in containers:
        name = _with_tag(str(container.get("image") or ""))
        image = present.get(name)
        if image is not None:
            size += int(image.size * (image.nodes / total))
            found.append({"image": name, "size": image.size, "nodes": image.nodes})
    most = _MOST * len(containers)
    score = MAX_NODE_SCORE * (min(max(size, _LEAST), most) - _LEAST) // (most - _LEAST)
    data = {"images": found, "bytes": size}
    if not found:
        return Working(Message(N_("none of the pod's images is on the node")), score, data)
    listed = ", ".join(f"{item['image']} {item['size'] // _MIB}Mi * {item['nodes']}/{total}" for item in found)
    facts = {"images": listed, "size": size // _MIB, "most": most // _MIB, "score": score}
    text = N_("images on the node: {images}; of 23Mi to {most}Mi that {size}Mi make {score}")
    return Working(Message(text, facts), score, data)


def _with_tag(name: str) -> str:
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
