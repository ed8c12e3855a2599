"""How one kind differs from the generic create, update and delete (k8s.io/apiserver/pkg/registry/rest: strategies).

The registry owns the objects that it hands to a strategy: `prepare_*` may change them in place, `validate*` only
look. A kind without its own strategy is served by `Strategy` as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from app.apimachinery import meta, validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.validation import objectmeta
from app.cluster.store import Store


@dataclass(frozen=True)
class Subresource:
    """A part of a kind that is written by sending the whole object: what else of it is kept, and what is refused."""

    prepare: Callable[[Object, Object], None] | None
    """Given (new, old), puts back in the new object whatever this part may not change, but for metadata and status."""
    validate: Callable[[Object, Object], list[FieldError]]
    keeps_metadata: bool = True


class Strategy:
    """The defaults: spec and status apart where there is a status, no generation, nothing graceful."""

    has_status: ClassVar[bool] = False
    """Whether `status` is written through the subresource only."""
    has_generation: ClassVar[bool] = False
    """Whether `metadata.generation` counts changes of `spec`."""

    subresources: ClassVar[Mapping[str, Subresource]] = MappingProxyType({})
    """The kind's own writable subresources, beside `status`."""

    def name_problems(self, name: str) -> list[str]:
        """What is wrong with a name."""
        return validation.dns1123_subdomain(name)

    def begin_create(self, obj: Object, store: Store) -> list[FieldError]:
        """Give the new object what is given out once in the cluster (genericregistry.Store: BeginCreate)."""
        del obj, store
        return []

    def begin_update(self, new: Object, old: Object, store: Store) -> list[FieldError]:
        """The same for a change (genericregistry.Store: BeginUpdate)."""
        del new, old, store
        return []

    def new_status(self) -> dict[str, Any]:
        """The status of a new object: Go writes a structure without content as `{}`."""
        return {}

    def prepare_for_create(self, obj: Object) -> None:
        """Drop what a client may not set (rest.RESTCreateStrategy: PrepareForCreate)."""
        if self.has_status:
            obj["status"] = self.new_status()
        if self.has_generation:
            obj["metadata"]["generation"] = 1

    def prepare_for_update(self, new: Object, old: Object) -> None:
        """Keep what this update may not touch (rest.RESTUpdateStrategy: PrepareForUpdate)."""
        if self.has_status:
            self.keep(new, old, "status")
        if self.has_generation:
            generation = int(old["metadata"].get("generation") or 1)
            changed = new.get("spec") != old.get("spec")
            new["metadata"]["generation"] = generation + 1 if changed else generation

    def prepare_for_status_update(self, new: Object, old: Object) -> None:
        """Keep everything but the status."""
        for field in old.keys() | new.keys():
            if field not in {"status", "metadata"}:
                self.keep(new, old, field)
        self.keep_metadata(new, old)

    def prepare_for_subresource_update(self, part: Subresource, new: Object, old: Object) -> None:
        """Keep everything but the part."""
        if part.prepare is not None:
            part.prepare(new, old)
        if self.has_status:
            self.keep(new, old, "status")
        if part.keeps_metadata:
            self.keep_metadata(new, old)
        if self.has_generation and new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] = int(old["metadata"].get("generation") or 1) + 1

    @staticmethod
    def keep_metadata(new: Object, old: Object) -> None:
        """Put the old metadata back, but for the version that the change is meant for (ResetObjectMetaForStatus)."""
        version = new["metadata"].get("resourceVersion")
        new["metadata"] = {**old["metadata"], **({"resourceVersion": version} if version else {})}

    @staticmethod
    def keep(new: Object, old: Object, field: str) -> None:
        """Put the old field back."""
        if field in old:
            new[field] = old[field]
        else:
            new.pop(field, None)

    def validate(self, obj: Object) -> list[FieldError]:
        """What is wrong with a new object, beyond its metadata."""
        del obj
        return []

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """What is wrong with a change, beyond its metadata."""
        del old
        return self.validate(new)

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        """What is wrong with a change of the status."""
        del new, old
        return []

    def validate_metadata(self, obj: Object, *, namespaced: bool) -> list[FieldError]:
        """What is wrong with the metadata of a new object."""
        return objectmeta.validate(obj["metadata"], namespaced=namespaced, name_rule=self.name_problems)

    def grace_seconds(self, obj: Object, asked: int | None) -> int:
        """How long the object lives on after a delete; 0 for at once (rest.RESTGracefulDeleteStrategy)."""
        del obj, asked
        return 0

    def begin_delete(self, obj: Object) -> None:
        """Change the object as its deletion is marked."""
        del obj

    def may_be_removed(self, obj: Object) -> bool:
        """Whether nothing of the kind's own holds an object back whose deletion is marked."""
        del obj
        return True

    def selectable_fields(self, obj: Object) -> Mapping[str, str]:
        """The fields that field selectors may name, and their values (registry: GetAttrs)."""
        fields = {"metadata.name": meta.name_of(obj)}
        if namespace := meta.namespace_of(obj):
            fields["metadata.namespace"] = namespace
        return fields
