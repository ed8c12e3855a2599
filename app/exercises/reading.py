"""What is wrong with manifests that an author wrote, as far as it shows without a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from app.apimachinery import manifests
from app.apimachinery.manifests import ManifestError
from app.apimachinery.messages import N_, Message
from app.apis import schema, scheme
from app.exercises.checking import Fault


def faults(path: str, text: str) -> Iterator[Fault]:
    """Text that is no manifest, kinds that are not served, fields that do not exist. `path` is the text's own."""
    try:
        documents = manifests.parse(text)
    except ManifestError as error:
        yield Fault(path, error.problem, error.advice, error.line, error.column)
        return
    for document in documents:
        try:
            found = schema.check(document.object)
        except scheme.NoKindMatchError as error:
            found = [error.message]
        for problem in found:
            message = Message(N_("The API server refuses this: {problem}"), {"problem": problem})
            yield Fault(path, message, None, document.line, 1)


def kinds(text: str) -> list[str]:
    """The kinds in a text; none for one that cannot be read."""
    try:
        return [str(document.object["kind"]) for document in manifests.parse(text)]
    except ManifestError:
        return []
