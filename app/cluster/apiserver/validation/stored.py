"""Rules for Secrets, storage, budgets and other kinds whose specs are small.

Mirrors pkg/apis/core/validation/validation.go, pkg/apis/storage/validation and pkg/apis/policy/validation.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object, annotations_of
from app.apimachinery.quantity import QuantityError
from app.apimachinery.validation import ErrorKind, FieldError, forbidden, invalid, not_supported, required
from app.apis import internal_types
from app.cluster.apiserver.validation import selectors
from app.cluster.apiserver.validation.meaning import meant

_SECRET_LIMIT = 1024 * 1024
_NEEDED_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_ACCOUNT_NAME = "kubernetes.io/service-account.name"
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_RECLAIM = ("Delete", "Recycle", "Retain")
_VOLUME_MODES = ("Block", "Filesystem")
_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
_VOLUME_FIELDS = {
    "capacity",
    "accessModes",
    "claimRef",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "mountOptions",
    "volumeMode",
    "nodeAffinity",
    "volumeAttributesClassName",
}
_FROZEN = "field is immutable when `immutable` is set"
_CLAIM_FIXED = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)


def secret(obj: Object) -> list[FieldError]:
    """Keys, size, and the keys that the type asks for (ValidateSecret)."""
    data, kind = obj.get("data") or {}, obj.get("type") or ""
    errors = [invalid(f"data[{key}]", key, text) for key in sorted(data) for text in validation.config_map_key(key)]
    if sum(_size(value) for value in data.values()) > _SECRET_LIMIT:
        errors.append(FieldError("data", ErrorKind.TOO_LONG, None, f"may not be more than {_SECRET_LIMIT} bytes"))
    if kind == "kubernetes.io/service-account-token" and not annotations_of(obj).get(_ACCOUNT_NAME):
        errors.append(required(f"metadata.annotations[{_ACCOUNT_NAME}]"))
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        errors += [required("data[username]"), required("data[password]")]
    errors += [required(f"data[{key}]") for key in _NEEDED_KEYS.get(kind, ()) if key not in data]
    return errors


def _size(value: Any) -> int:
    try:
        return len(base64.b64decode(str(value)))
    except (binascii.Error, ValueError):
        return len(str(value))


def secret_update(new: Object, old: Object) -> list[FieldError]:
    """The type is fixed, and an immutable Secret all of it (ValidateSecretUpdate)."""
    errors: list[FieldError] = []
    if new.get("type") != old.get("type"):
        errors.append(invalid("type", new.get("type"), "field is immutable"))
    if old.get("immutable"):
        if not new.get("immutable"):
            errors.append(forbidden("immutable", _FROZEN))
        if (new.get("data") or {}) != (old.get("data") or {}):
            errors.append(forbidden("data", _FROZEN))
    return errors + secret(new)


def persistent_volume(obj: Object) -> list[FieldError]:
    """Capacity, access modes, one source (ValidatePersistentVolume)."""
    spec = obj.get("spec") or {}
    errors = _access_modes(spec, "spec.accessModes")
    capacity = spec.get("capacity") or {}
    if not capacity:
        errors.append(required("spec.capacity"))
    elif set(capacity) != {"storage"}:
        errors.append(not_supported("spec.capacity", capacity, ("storage",)))
    errors += _positive(capacity, "spec.capacity[storage]")
    errors += _one_of(spec, "persistentVolumeReclaimPolicy", _RECLAIM) + _one_of(spec, "volumeMode", _VOLUME_MODES)
    sources = [name for name in spec if name not in _VOLUME_FIELDS and spec[name] is not None]
    if not sources:
        errors.append(required("spec", "must specify a volume type"))
    errors += [forbidden(f"spec.{name}", "may not specify more than 1 volume type") for name in sorted(sources)[1:]]
    if "local" in sources and not (spec.get("nodeAffinity") or {}).get("required"):
        errors.append(required("spec.nodeAffinity", "Local volume requires node affinity"))
    name = spec.get("storageClassName") or ""
    return errors + [invalid("spec.storageClassName", name, text) for text in _class_name(name)]


def persistent_volume_update(new: Object, old: Object) -> list[FieldError]:
    """The source, the mode and where it can be reached are fixed (ValidatePersistentVolumeUpdate)."""
    now, before = new.get("spec") or {}, old.get("spec") or {}
    errors = persistent_volume(new)
    source, former = _source_of(now, before), _source_of(before, before)
    if meant(source) != meant(former):
        field = "spec.persistentvolumesource"
        difference = internal_types.diff("PersistentVolumeSource", former, source)
        errors.append(forbidden(field, f"{field} is immutable after creation\n{difference}"))
    if now.get("volumeMode") != before.get("volumeMode"):
        errors.append(invalid("volumeMode", now.get("volumeMode"), "field is immutable"))
    if before.get("nodeAffinity") is not None and meant(now.get("nodeAffinity")) != meant(before["nodeAffinity"]):
        shown = internal_types.shown("VolumeNodeAffinity", now.get("nodeAffinity"))
        errors.append(invalid("nodeAffinity", shown, "field is immutable"))
    return errors


def _source_of(spec: Object, former: Object) -> Object:
    """What a volume is made of; the secret that it is expanded with may be added once."""
    source = {name: value for name, value in spec.items() if name not in _VOLUME_FIELDS}
    driver, earlier = source.get("csi"), (former.get("csi") or {}).get("controllerExpandSecretRef")
    if driver is not None and earlier is None:
        source["csi"] = {name: value for name, value in driver.items() if name != "controllerExpandSecretRef"}
    return source


def claim(obj: Object) -> list[FieldError]:
    """Access modes and what is asked for (ValidatePersistentVolumeClaimSpec)."""
    return claim_spec(obj.get("spec") or {}, "spec")


def claim_spec(spec: Object, field: str) -> list[FieldError]:
    """The same, for a template of a claim too."""
    errors = _access_modes(spec, f"{field}.accessModes")
    if spec.get("selector") is not None:
        errors += selectors.label_selector(spec["selector"], f"{field}.selector")
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        errors.append(required(f"{field}.resources[storage]"))
    errors += _positive(requests, f"{field}.resources[storage]")
    for name in ("storageClassName", "volumeAttributesClassName"):
        value = spec.get(name) or ""
        errors += [invalid(f"{field}.{name}", value, text) for text in _class_name(value)]
    return errors + _one_of(spec, "volumeMode", _VOLUME_MODES, field) + _data_sources(spec, field)


def _data_sources(spec: Object, field: str) -> list[FieldError]:
    """What a claim is filled from (validateDataSource, validateDataSourceRef)."""
    errors: list[FieldError] = []
    for name in ("dataSource", "dataSourceRef"):
        source, here = spec.get(name), f"{field}.{name}"
        if source is None:
            continue
        errors += [required(f"{here}.{part}") for part in ("name", "kind") if not source.get(part)]
        group, kind = source.get("apiGroup") or "", source.get("kind") or ""
        if not group and kind != "PersistentVolumeClaim":
            detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            errors.append(invalid(here, kind, detail))
        if group:
            errors += [invalid(f"{here}.apiGroup", group, text) for text in validation.dns1123_subdomain(group)]
    return errors


def claim_update(new: Object, old: Object) -> list[FieldError]:
    """A claim is bound, and a bound one may grow (ValidatePersistentVolumeClaimUpdate)."""
    now, before = dict(new.get("spec") or {}), dict(old.get("spec") or {})
    mode, former_mode = now.get("volumeMode"), before.get("volumeMode")
    wanted, former = _storage(now), _storage(before)
    errors = claim(new)
    if not before.get("volumeName"):
        before["volumeName"] = now.get("volumeName") or ""
    if before.get("storageClassName") is None:
        now["storageClassName"] = None
    if (old.get("status") or {}).get("phase") == "Bound" and (now.get("resources") or {}).get("requests"):
        requests = {**now["resources"]["requests"]}
        requests["storage"] = ((before.get("resources") or {}).get("requests") or {}).get("storage")
        now["resources"] = {**now["resources"], "requests": requests}
    now["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
    if meant(now) != meant(before):
        difference = internal_types.diff("PersistentVolumeClaimSpec", before, now)
        errors.append(forbidden("spec", f"{_CLAIM_FIXED}\n{difference}"))
    if wanted is not None and former is not None and wanted < former and wanted <= _held(old):
        errors.append(forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"))
    if mode != former_mode:
        errors.append(invalid("volumeMode", mode, "field is immutable"))
    return errors


def _held(obj: Object) -> quantity.Quantity:
    """How large the claim's volume is; an expansion that fails may be taken back down to just above it."""
    return quantity.parse(str(((obj.get("status") or {}).get("capacity") or {}).get("storage") or "0"))


def _storage(spec: Object) -> quantity.Quantity | None:
    text = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    try:
        return None if text is None else quantity.parse(str(text))
    except QuantityError:
        return None


def _access_modes(spec: Object, field: str) -> list[FieldError]:
    modes = spec.get("accessModes") or []
    if not modes:
        return [required(field, "at least 1 access mode is required")]
    errors = [not_supported(field, mode, _ACCESS_MODES) for mode in modes if mode not in _ACCESS_MODES]
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        errors.append(forbidden(field, "may not use ReadWriteOncePod with other access modes"))
    return errors


def _positive(amounts: Object, field: str) -> list[FieldError]:
    text = amounts.get("storage")
    if text is None or quantity.parse(str(text)).nanos > 0:
        return []
    return [invalid(field, str(text), "must be greater than zero")]


def _one_of(spec: Object, name: str, values: tuple[str, ...], field: str = "spec") -> list[FieldError]:
    value = spec.get(name)
    return [] if not value or value in values else [not_supported(f"{field}.{name}", value, values)]


def _class_name(name: str) -> list[str]:
    return validation.dns1123_subdomain(name) if name else []


def storage_class(obj: Object) -> list[FieldError]:
    """Provisioner, reclaim policy, binding mode (ValidateStorageClass)."""
    errors: list[FieldError] = []
    provisioner = obj.get("provisioner") or ""
    if not provisioner:
        errors.append(required("provisioner"))
    errors += [invalid("provisioner", provisioner, text) for text in _qualified(provisioner)]
    if obj.get("reclaimPolicy") not in {"Delete", "Retain", None}:
        errors.append(not_supported("reclaimPolicy", obj["reclaimPolicy"], ("Delete", "Retain")))
    mode = obj.get("volumeBindingMode")
    if not mode:
        errors.append(required("volumeBindingMode"))
    elif mode not in _BINDING_MODES:
        errors.append(not_supported("volumeBindingMode", mode, _BINDING_MODES))
    return errors


def _qualified(name: str) -> list[str]:
    return validation.qualified_name(name.lower()) if name else []


def storage_class_update(new: Object, old: Object) -> list[FieldError]:
    """Only labels, mount options and whether volumes may grow (ValidateStorageClassUpdate)."""
    errors: list[FieldError] = []
    if (new.get("parameters") or {}) != (old.get("parameters") or {}):
        errors.append(forbidden("parameters", "updates to parameters are forbidden."))
    if new.get("provisioner") != old.get("provisioner"):
        errors.append(forbidden("provisioner", "updates to provisioner are forbidden."))
    if new.get("reclaimPolicy") != old.get("reclaimPolicy"):
        errors.append(forbidden("reclaimPolicy", "updates to reclaimPolicy are forbidden."))
    if new.get("volumeBindingMode") != old.get("volumeBindingMode"):
        errors.append(invalid("volumeBindingMode", new.get("volumeBindingMode"), "field is immutable"))
    return errors


def disruption_budget(obj: Object) -> list[FieldError]:
    """One of minAvailable and maxUnavailable (ValidatePodDisruptionBudgetSpec)."""
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    errors: list[FieldError] = []
    if least is not None and most is not None:
        shown = {"MinAvailable": least, "Selector": spec.get("selector"), "MaxUnavailable": most}
        shown["UnhealthyPodEvictionPolicy"] = spec.get("unhealthyPodEvictionPolicy")
        errors.append(invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"))
    for name, value in (("minAvailable", least), ("maxUnavailable", most)):
        errors += _count_or_percent(value, f"spec.{name}")
    if spec.get("selector") is not None:
        errors += selectors.label_selector(spec["selector"], "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in {"AlwaysAllow", "IfHealthyBudget"}:
        supported = ("AlwaysAllow", "IfHealthyBudget")
        errors.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, supported))
    return errors


def _count_or_percent(value: Any, field: str) -> list[FieldError]:
    if isinstance(value, int):
        return [invalid(field, value, "must be greater than or equal to 0")] if value < 0 else []
    if value is None:
        return []
    wrong = validation.percentage(value)
    if wrong:
        return [invalid(field, value, text) for text in wrong]
    return [invalid(field, value, "must not be greater than 100%")] if int(value[:-1][:9]) > 100 else []
