"""Versions that results and pages name."""

from __future__ import annotations

VERSION = "0.1.0"
"""The lab's own version."""

KUBERNETES_VERSION = "v1.35.7"
"""The release whose decisions and words the clusters follow."""

ENGINE_VERSION = f"{VERSION}+kubernetes-{KUBERNETES_VERSION.removeprefix('v')}"
"""What a result says it was graded with."""
