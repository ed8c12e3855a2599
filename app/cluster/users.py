"""Who asks: names and groups as the API server's authenticators make them (apiserver/pkg/authentication)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS = "system:anonymous"
NODES = "system:nodes"
CLUSTER_ADMINS = "kubeadm:cluster-admins"

_SERVICE_ACCOUNT = "system:serviceaccount:"
_NODE = "system:node:"


@dataclass(frozen=True)
class User:
    """One user (user.Info). `extra` is pairs of a key and its values."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def is_node(self) -> bool:
        """Whether this is some node's kubelet (pkg/auth/nodeidentifier)."""
        return self.name.startswith(_NODE) and NODES in self.groups

    @property
    def node(self) -> str:
        """The node whose kubelet this is, or nothing."""
        return self.name.removeprefix(_NODE) if self.is_node else ""


ADMIN = User(
    "kubernetes-admin",
    (CLUSTER_ADMINS, AUTHENTICATED),
    extra=(
        (
            "authentication.kubernetes.io/credential-id",
            ("X509SHA256=" + hashlib.sha256(b"O = kubeadm:cluster-admins, CN = kubernetes-admin").hexdigest(),),
        ),
    ),
)
"""Whom the kubeconfig of kubeadm makes its holder; of the certificate there is only the subject to hash."""


def kubelet(node: str) -> User:
    """The kubelet of a node, as its certificate says."""
    return User(f"{_NODE}{node}", (NODES, AUTHENTICATED))


def account_of(name: str) -> tuple[str, str] | None:
    """Namespace and name of a service account's user (serviceaccount.SplitUsername); None for others."""
    parts = name.removeprefix(_SERVICE_ACCOUNT).split(":") if name.startswith(_SERVICE_ACCOUNT) else []
    return (parts[0], parts[1]) if len(parts) == 2 and all(parts) else None


def account_name(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return f"{_SERVICE_ACCOUNT}{namespace}:{name}"


def account_groups(namespace: str) -> tuple[str, ...]:
    """The groups of a service account (serviceaccount.MakeGroupNames)."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def named(name: str) -> User:
    """The user of that name with the groups that follow from it."""
    account = account_of(name)
    groups = account_groups(account[0]) if account else ()
    if name.startswith(_NODE):
        groups = (NODES,)
    return User(name, (*groups, AUTHENTICATED))
