"""Rules for ConfigMaps and Namespaces (pkg/apis/core/validation/validation.go)."""

from __future__ import annotations

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden, invalid, too_long
from app.cluster.apiserver.validation import objectmeta

_SIZE_LIMIT = 1024 * 1024


_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def namespace_finalize(new: Object, old: Object) -> list[FieldError]:
    """What may be written through a namespace's finalize subresource (ValidateNamespaceFinalizeUpdate)."""
    errors = objectmeta.validate_update(new["metadata"], old["metadata"])
    for index, name in enumerate((new.get("spec") or {}).get("finalizers") or []):
        here = f"spec.finalizers[{index}]"
        errors += [invalid(here, name, text) for text in validation.qualified_name(name)]
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(here, name, detail))
    return errors


def config_map(obj: Object) -> list[FieldError]:
    """Keys are file names, no key stands twice, and all of it is at most 1 MiB."""
    errors: list[FieldError] = []
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in sorted(data):
        errors += [invalid(f"data[{key}]", key, text) for text in validation.config_map_key(key)]
        if key in binary:
            errors.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    for key in sorted(binary):
        errors += [invalid(f"binaryData[{key}]", key, text) for text in validation.config_map_key(key)]
    size = sum(len(str(value).encode()) for value in [*data.values(), *binary.values()])
    if size > _SIZE_LIMIT:
        errors.append(too_long("", _SIZE_LIMIT))
    return errors


def config_map_update(new: Object, old: Object) -> list[FieldError]:
    """An immutable ConfigMap stays as it is (ValidateConfigMapUpdate)."""
    errors = config_map(new)
    if old.get("immutable"):
        if not new.get("immutable"):
            errors.append(forbidden("immutable", "field is immutable when `immutable` is set"))
        errors += [
            forbidden(field, "field is immutable when `immutable` is set")
            for field in ("data", "binaryData")
            if (new.get(field) or {}) != (old.get(field) or {})
        ]
    return errors
