"""ImageLocality: prefer nodes that have the images (plugins/imagelocality/image_locality.go)."""

from __future__ import annotations

from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.interface import MAX_NODE_SCORE, Plugin
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo

_MIB = 1024 * 1024
_LEAST = 23 * _MIB
_MOST_A_CONTAINER = 1000 * _MIB


class ImageLocality(Plugin):
    """Scores by the bytes that need not be pulled, scaled by how widespread the image is."""

    NAME = "ImageLocality"
    LOCAL = True

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """0 below 23 MiB, 100 above 1000 MiB a container."""
        containers = [*(pod.spec.get("initContainers") or ()), *(pod.spec.get("containers") or ())]
        present = state.snapshot.images.get(node.name) or {}
        total = len(state.snapshot.nodes)
        size = 0
        for container in containers:
            image = present.get(normalized_image_name(str(container.get("image") or "")))
            if image is not None:
                size += int(image.size * (image.nodes / total))
        return _priority(size, len(containers))


def _priority(size: int, containers: int) -> int:
    most = _MOST_A_CONTAINER * containers
    size = min(max(size, _LEAST), most)
    return MAX_NODE_SCORE * (size - _LEAST) // (most - _LEAST)


def normalized_image_name(name: str) -> str:
    """With `:latest` where there is no tag (normalizedImageName)."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
