"""Roles and bindings (pkg/registry/rbac)."""

from __future__ import annotations

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import rbac


class RoleStrategy(Strategy):
    """Roles and ClusterRoles; their names may hold colons and capitals."""

    def name_problems(self, name: str) -> list[str]:
        """Anything that fits into a URL's path."""
        return validation.path_segment(name)

    def validate(self, obj: Object) -> list[FieldError]:
        """The rules."""
        return rbac.role(obj)


class BindingStrategy(Strategy):
    """RoleBindings and ClusterRoleBindings."""

    def name_problems(self, name: str) -> list[str]:
        """Anything that fits into a URL's path."""
        return validation.path_segment(name)

    def validate(self, obj: Object) -> list[FieldError]:
        """The role and the subjects."""
        return rbac.role_binding(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The role is fixed."""
        return rbac.role_binding(new) + rbac.fixed_role(new, old)


STRATEGIES: dict[str, Strategy] = {
    "roles.rbac.authorization.k8s.io": RoleStrategy(),
    "clusterroles.rbac.authorization.k8s.io": RoleStrategy(),
    "rolebindings.rbac.authorization.k8s.io": BindingStrategy(),
    "clusterrolebindings.rbac.authorization.k8s.io": BindingStrategy(),
}
