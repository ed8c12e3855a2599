"""Which volume a claim gets.

Mirrors pkg/controller/volume/persistentvolume/index.go and component-helpers/storage/volume: FindMatchingVolume.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.apimachinery import labels, meta, quantity
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import persistent_volumes as volumes


def size_of(volume: Object) -> int:
    """Bytes that a volume offers."""
    return quantity.parse(str((volume["spec"].get("capacity") or {}).get("storage", "0"))).value()


def wanted_of(claim: Object) -> int:
    """Bytes that a claim asks for."""
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return quantity.parse(str(requests.get("storage", "0"))).value()


def best_for(claim: Object, offered: Iterable[Object], *, only_reserved: bool) -> Object | None:
    """A volume that is reserved for the claim, else the smallest that fits.

    Volumes with fewer access modes come first, whatever their size. `only_reserved` leaves all others to a scheduler.
    """
    fitting: list[tuple[int, int, str, Object]] = []
    for volume in offered:
        if not _suits(claim, volume):
            continue
        if volume["spec"].get("claimRef"):
            if volumes.is_bound_to(volume, claim):
                return volume
        elif not only_reserved and _is_free(claim, volume):
            modes = len(set(volume["spec"].get("accessModes") or []))
            fitting.append((modes, size_of(volume), meta.name_of(volume), volume))
    return min(fitting, key=lambda row: row[:3])[3] if fitting else None


def _suits(claim: Object, volume: Object) -> bool:
    """What holds for reserved volumes, too."""
    if utils.is_terminating(volume) or size_of(volume) < wanted_of(claim):
        return False
    modes = set(claim["spec"].get("accessModes") or []) <= set(volume["spec"].get("accessModes") or [])
    return modes and mode_of(claim) == mode_of(volume)


def mode_of(obj: Object) -> str:
    """Filesystem or Block."""
    return str(obj["spec"].get("volumeMode") or "Filesystem")


def _is_free(claim: Object, volume: Object) -> bool:
    if (volume.get("status") or {}).get("phase") != "Available" or volumes.class_of(volume) != volumes.class_of(claim):
        return False
    selector = claim["spec"].get("selector")
    try:
        return not selector or labels.from_label_selector(selector).matches(meta.labels_of(volume))
    except labels.SelectorError:
        return False


def mismatch(claim: Object, volume: Object) -> str:
    """Why a volume that a claim names is not for it; empty where it is (checkVolumeSatisfyClaim)."""
    if size_of(volume) < wanted_of(claim):
        return "requested PV is too small"
    if volumes.class_of(volume) != volumes.class_of(claim):
        return "storageClassName does not match"
    if mode_of(volume) != mode_of(claim):
        return "incompatible volumeMode"
    if not set(claim["spec"].get("accessModes") or []) <= set(volume["spec"].get("accessModes") or []):
        return "incompatible accessMode"
    return ""
