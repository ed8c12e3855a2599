"""The kubeconfig that a learner's own kubectl, k9s or client library uses to reach a lab."""

from __future__ import annotations

import yaml

CONTEXT = "kubernetes-admin@kubernetes"


def kubeconfig(server: str, namespace: str = "default") -> str:
    """A kubeconfig as YAML text. `server` is the address with the secret: `http://host:8000/k/SECRET`.

    The user has no token: clients send none over plain http, the address is the credential.
    """
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "kubernetes", "cluster": {"server": server}}],
        "users": [{"name": "kubernetes-admin", "user": {}}],
        "contexts": [
            {
                "name": CONTEXT,
                "context": {"cluster": "kubernetes", "user": "kubernetes-admin", "namespace": namespace},
            }
        ],
        "current-context": CONTEXT,
        "preferences": {},
    }
    return yaml.safe_dump(document, sort_keys=False)
