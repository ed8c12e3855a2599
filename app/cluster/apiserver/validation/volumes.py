"""Rules for a pod's volumes (pkg/apis/core/validation/validation.go: ValidateVolumes)."""

from __future__ import annotations

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, duplicate, forbidden, invalid, not_supported, required

_NEEDED = {
    "configMap": "name",
    "secret": "secretName",
    "hostPath": "path",
    "persistentVolumeClaim": "claimName",
    "nfs": "server",
}
_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)


def validate(volumes: list[Object], field: str) -> list[FieldError]:
    """Names, and one source each."""
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        here = f"{field}[{index}]"
        errors += _source(volume, here)
        name = volume.get("name") or ""
        if not name:
            errors.append(required(f"{here}.name"))
            continue
        errors += [invalid(f"{here}.name", name, text) for text in validation.dns1123_label(name)]
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
    return errors


def _source(volume: Object, here: str) -> list[FieldError]:
    given = sorted(name for name in volume if name != "name" and volume[name] is not None)
    if not given:
        return [required(here, "must specify a volume type")]
    errors = [forbidden(f"{here}.{name}", "may not specify more than 1 volume type") for name in given[1:]]
    kind, source = given[0], volume[given[0]]
    needed = _NEEDED.get(kind)
    if needed and not source.get(needed):
        errors.append(required(f"{here}.{kind}.{needed}"))
    if kind == "hostPath":
        if ".." in (source.get("path") or "").split("/"):
            errors.append(invalid(f"{here}.hostPath.path", source["path"], "must not contain '..'"))
        if (source.get("type") or "") not in _HOST_PATH_TYPES:
            errors.append(not_supported(f"{here}.hostPath.type", source["type"], _HOST_PATH_TYPES))
    limit = source.get("sizeLimit") if kind == "emptyDir" else None
    if limit is not None and quantity.parse(str(limit)).nanos < 0:
        errors.append(forbidden(f"{here}.emptyDir.sizeLimit", "SizeLimit field must be a valid resource quantity"))
    return errors
