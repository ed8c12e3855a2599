"""Rules for a pod's volumes (pkg/apis/core/validation/validation.go: ValidateVolumes, validateVolumeSource)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, duplicate, forbidden, invalid, not_supported, required
from app.cluster.apiserver.validation import drivers, environment, stored

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
_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"
_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 1 << 32
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_DUPLICATE = "conflicting duplicate paths"

Source = Mapping[str, Any]
Rule = Callable[[Source, str], "Iterator[FieldError]"]


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
    """The first source is judged, every other one forbidden, in the order of Go's structure."""
    ranked = {name: rank for rank, name in enumerate(_RULES)}
    given = [name for name in volume if name != "name" and volume[name] is not None]
    given.sort(key=lambda name: (ranked.get(name, len(ranked)), name))
    if not given:
        return [required(here, "must specify a volume type")]
    errors = [forbidden(f"{here}.{name}", "may not specify more than 1 volume type") for name in given[1:]]
    rule = _RULES.get(given[0])
    return errors if rule is None else errors + list(rule(volume[given[0]], f"{here}.{given[0]}"))


def _needing(*names: str) -> Rule:
    """A source of which some fields must be set."""

    def rule(source: Source, field: str) -> Iterator[FieldError]:
        for name in names:
            if not source.get(name):
                yield required(f"{field}.{name}")

    return rule


def _empty_dir(source: Source, field: str) -> Iterator[FieldError]:
    limit = source.get("sizeLimit")
    if limit is not None and quantity.of(limit).nanos < 0:
        yield forbidden(f"{field}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _host_path(source: Source, field: str) -> Iterator[FieldError]:
    path, kind = source.get("path") or "", source.get("type") or ""
    if not path:
        yield required(f"{field}.path")
    elif ".." in path.split("/"):
        yield invalid(f"{field}.path", path, "must not contain '..'")
    if kind not in _HOST_PATH_TYPES:
        yield not_supported(f"{field}.type", kind, _HOST_PATH_TYPES)


def _git_repo(source: Source, field: str) -> Iterator[FieldError]:
    if not source.get("repository"):
        yield required(f"{field}.repository")
    yield from environment.local_path(source.get("directory") or "", f"{field}.directory")


def _nfs(source: Source, field: str) -> Iterator[FieldError]:
    path = source.get("path") or ""
    if not source.get("server"):
        yield required(f"{field}.server")
    if not path:
        yield required(f"{field}.path")
    elif not path.startswith("/"):
        yield invalid(f"{field}.path", path, "must be an absolute path")


def _claim(source: Source, field: str) -> Iterator[FieldError]:
    name = source.get("claimName") or ""
    if not name:
        yield required(f"{field}.claimName")
    else:
        yield from (invalid(f"{field}.claimName", name, text) for text in validation.dns1123_subdomain(name))


def _mode(source: Source, name: str, field: str) -> Iterator[FieldError]:
    mode = source.get(name)
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{field}.{name}", mode, _MODE_TEXT)


def _keys(items: Sequence[Source], field: str) -> Iterator[FieldError]:
    """ValidateKeyToPath of each item."""
    for index, item in enumerate(items):
        here, path = f"{field}[{index}]", item.get("path") or ""
        if not item.get("key"):
            yield required(f"{here}.key")
        if not path:
            yield required(f"{here}.path")
        yield from environment.local_path(path, f"{here}.path", reserved=True)
        yield from _mode(item, "mode", here)


def _secret(source: Source, field: str) -> Iterator[FieldError]:
    if not source.get("secretName"):
        yield required(f"{field}.secretName")
    yield from _mode(source, "defaultMode", field)
    yield from _keys(source.get("items") or [], f"{field}.items")


def _config_map(source: Source, field: str) -> Iterator[FieldError]:
    if not source.get("name"):
        yield required(f"{field}.name")
    yield from _mode(source, "defaultMode", field)
    yield from _keys(source.get("items") or [], f"{field}.items")


def _downward(source: Source, field: str) -> Iterator[FieldError]:
    yield from _mode(source, "defaultMode", field)
    for item in source.get("items") or []:
        yield from _downward_file(item, field)


def _downward_file(item: Source, field: str) -> Iterator[FieldError]:
    """validateDownwardAPIVolumeFile; the paths have no index upstream."""
    path, pod_field, resource = item.get("path") or "", item.get("fieldRef"), item.get("resourceFieldRef")
    if not path:
        yield required(f"{field}.path")
    yield from environment.local_path(path, f"{field}.path", reserved=True)
    if pod_field is not None:
        yield from environment.pod_field(pod_field, f"{field}.fieldRef", environment.VOLUME_FIELDS)
        if resource is not None:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid(field, "resource", detail)
    elif resource is not None:
        yield from environment.container_resource(resource, f"{field}.resourceFieldRef", volume=True)
    else:
        yield required(field, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(item, "mode", field)


def _projected(source: Source, field: str) -> Iterator[FieldError]:
    """validateProjectedVolumeSource, validateProjectionSources."""
    yield from _mode(source, "defaultMode", field)
    taken: set[str] = set()
    for index, part in enumerate(source.get("sources") or []):
        here = f"{field}.sources[{index}]"
        given = [name for name in _PROJECTIONS if part.get(name) is not None]
        for name in given[1:]:
            yield forbidden(f"{here}.{name}", "may not specify more than 1 volume type per source")
        for name in given[:1]:
            yield from _PROJECTIONS[name](part[name], f"{here}.{name}")
            named = part[name].get("name") or ("downwardAPI" if name == "downwardAPI" else "")
            for path in _projected_paths(part[name]):
                if path in taken:
                    yield invalid(field, named, _DUPLICATE)
                taken.add(path)


def _projected_paths(part: Source) -> list[str]:
    items = part.get("items")
    listed = [part] if items is None else items
    return [str(item["path"]) for item in listed if item.get("path")]


def _named_keys(part: Source, field: str) -> Iterator[FieldError]:
    if not part.get("name"):
        yield required(f"{field}.name")
    yield from _keys(part.get("items") or [], f"{field}.items")


def _projected_downward(part: Source, field: str) -> Iterator[FieldError]:
    for item in part.get("items") or []:
        yield from _downward_file(item, field)


def _token(part: Source, field: str) -> Iterator[FieldError]:
    seconds, path = part.get("expirationSeconds"), part.get("path") or ""
    if seconds is not None and seconds < _SHORTEST_TOKEN:
        yield invalid(f"{field}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > _LONGEST_TOKEN:
        detail = "may not specify a duration larger than 2^32 seconds"
        yield invalid(f"{field}.expirationSeconds", seconds, detail)
    if not path:
        yield required(f"{field}.path")
    else:
        yield from environment.local_path(path, f"{field}.path", reserved=True)


_PROJECTIONS: Mapping[str, Rule] = {
    "secret": _named_keys,
    "configMap": _named_keys,
    "downwardAPI": _projected_downward,
    "serviceAccountToken": _token,
}


def _csi(source: Source, field: str) -> Iterator[FieldError]:
    yield from drivers.driver_name(source.get("driver") or "", f"{field}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is not None and not secret.get("name"):
        yield required(f"{field}.nodePublishSecretRef.name")


def _ephemeral(source: Source, field: str) -> Iterator[FieldError]:
    template = source.get("volumeClaimTemplate")
    if template is None:
        yield required(f"{field}.volumeClaimTemplate")
        return
    yield from stored.claim_spec(template.get("spec") or {}, f"{field}.volumeClaimTemplate.spec")


def _image(source: Source, field: str) -> Iterator[FieldError]:
    if not source.get("reference"):
        yield required(f"{field}.reference")
    policy = source.get("pullPolicy") or ""
    if policy and policy not in _PULL_POLICIES:
        yield not_supported(f"{field}.pullPolicy", policy, _PULL_POLICIES)


_RULES: Mapping[str, Rule] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": _needing("pdName"),
    "awsElasticBlockStore": _needing("volumeID"),
    "secret": _secret,
    "nfs": _nfs,
    "iscsi": _needing("targetPortal", "iqn"),
    "glusterfs": _needing("endpoints", "path"),
    "persistentVolumeClaim": _claim,
    "rbd": _needing("monitors", "image"),
    "cinder": _needing("volumeID"),
    "cephfs": _needing("monitors"),
    "downwardAPI": _downward,
    "configMap": _config_map,
    "azureFile": _needing("secretName", "shareName"),
    "flexVolume": _needing("driver"),
    "vsphereVolume": _needing("volumePath"),
    "photonPersistentDisk": _needing("pdID"),
    "portworxVolume": _needing("volumeID"),
    "azureDisk": _needing("diskName", "diskURI"),
    "projected": _projected,
    "scaleIO": _needing("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
"""In the order in which the sources are looked for."""
