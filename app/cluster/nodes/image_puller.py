"""Gets the image of a container onto the node (pkg/kubelet/images/image_manager.go: EnsureImageExists)."""

from __future__ import annotations

from app.apimachinery.clock import SECOND, Micros
from app.cluster import events
from app.cluster.nodes import images
from app.cluster.nodes.worker import Worker, duration

CREATE: Micros = 200_000
"""How long it takes to make a container whose image is there."""
RESYNC: Micros = SECOND
FIRST_BACKOFF: Micros = 10 * SECOND
MAX_BACKOFF: Micros = 300 * SECOND


class ImagePuller(Worker):
    """The steps from a container that waits to one whose image is on the node."""

    def start(self, name: str) -> None:
        """Look whether the container's image is there, and pull it where it is not."""
        if self.record.get("busy") not in {None, "", name}:
            self.at(name, "retry", CREATE)
            return
        container, state = self.specs[name], self.record["containers"][name]
        written = str(container.get("image") or "")
        reference = images.parse(written)
        state["begun"] = True
        if reference is None:
            problem = f'couldn\'t parse image name "{written}": invalid reference format'
            message = f'Failed to apply default image tag "{written}": {problem}'
            self.wait(name, "InvalidImageName", message)
            self.event("InspectFailed", message, name, kind=events.WARNING)
            self.event("Failed", "Error: InvalidImageName", name, kind=events.WARNING)
            return
        policy = container.get("imagePullPolicy") or "IfNotPresent"
        here = str(reference) in self.present
        if here and policy != "Always":
            self.event(
                "Pulled", f'Container image "{written}" already present on machine and can be accessed by the pod', name
            )
            self.hold(name, "create", CREATE)
        elif policy == "Never":
            message = f'Container image "{written}" is not present with pull policy of Never'
            self.wait(name, "ErrImageNeverPull", message)
            self.event("ErrImageNeverPull", message, name, kind=events.WARNING)
            self.event("Failed", "Error: ErrImageNeverPull", name, kind=events.WARNING)
            self.release()
        else:
            self.event("Pulling", f'Pulling image "{written}"', name)
            image = images.find(reference)
            took = SECOND if image is None else CREATE if here else images.pull_time(image)
            state["took"] = took
            self.hold(name, "pull", took)

    def pulled(self, name: str) -> None:
        """The pull has come to its end, good or bad."""
        container, state = self.specs[name], self.record["containers"][name]
        written = str(container.get("image") or "")
        reference = images.parse(written)
        if reference is None:
            return
        image = images.find(reference)
        if image is None:
            code, description = images.pull_error(written, reference)
            problem = f"rpc error: code = {code} desc = {description}"
            message = f'Failed to pull image "{written}": {problem}'
            self.event("Failed", message, name, kind=events.WARNING)
            self.event("Failed", "Error: ErrImagePull", name, kind=events.WARNING)
            self.wait(name, "ErrImagePull", problem)
            state["pull_error"] = problem
            state["pull_pause"] = min(state.get("pull_pause", FIRST_BACKOFF // 2) * 2, MAX_BACKOFF)
            self.at(name, "backoff", 2 * RESYNC)
            self.release()
            return
        for leftover in ("pull_pause", "pull_error"):
            state.pop(leftover, None)
        self.present.add(str(reference))
        took = duration(state.pop("took", 0))
        timing = f"in {took} ({took} including waiting)"
        message = f'Successfully pulled image "{written}" {timing}. Image size: {image.size} bytes.'
        self.event("Pulled", message, name)
        self.hold(name, "create", CREATE)

    def pull_backoff(self, name: str) -> None:
        """Wait before the next try, and say so."""
        state = self.record["containers"][name]
        written = self.specs[name].get("image")
        self.event("BackOff", f'Back-off pulling image "{written}"', name)
        self.event("Failed", "Error: ImagePullBackOff", name, kind=events.WARNING)
        self.wait(
            name, "ImagePullBackOff", f'Back-off pulling image "{written}": ErrImagePull: {state.get("pull_error", "")}'
        )
        self.at(name, "retry", state["pull_pause"], idle=True)
