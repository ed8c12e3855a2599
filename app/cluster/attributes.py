"""What a request is about, as admission sees it (k8s.io/apiserver/pkg/admission: Attributes)."""

from __future__ import annotations

from dataclasses import dataclass

from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo
from app.cluster import users
from app.cluster.users import User

DEFAULT_USER = users.ADMIN


@dataclass(frozen=True)
class Attributes:
    """One write on its way in. `operation` is CREATE, UPDATE or DELETE; `object` is None for a delete."""

    operation: str
    info: KindInfo
    name: str
    namespace: str
    object: Object | None
    old: Object | None = None
    subresource: str = ""
    user: User = DEFAULT_USER
    dry_run: bool = False

    @property
    def resource(self) -> str:
        """The resource's plural name."""
        return self.info.plural
