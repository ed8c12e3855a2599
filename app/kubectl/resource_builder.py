"""From a file's text to objects, as kubectl's builder does (cli-runtime/pkg/resource/builder.go).

The text of a learner comes in through `documents`; a command takes each document through `visit`, which goes on
after an error, as kubectl does with several documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.apimachinery import manifests, meta
from app.apimachinery.errors import StatusError
from app.apimachinery.manifests import Document
from app.apimachinery.meta import Object
from app.apis import scheme
from app.apis.scheme import KindInfo
from app.cluster.apiserver import warnings
from app.kubectl import failures
from app.kubectl.result import CommandResult, Problem, Ref

SOURCE = "STDIN"
"""What messages call the text that was typed in."""


class Output:
    """What a command prints and changes while it visits documents."""

    def __init__(self) -> None:
        self.stdout: list[str] = []
        self.stderr: list[str] = []
        self.changed: list[Ref] = []
        self.prefix = ""
        """What stands before the server's words if the present document is refused."""

    def done(self, info: KindInfo, obj: Object, operation: str) -> None:
        """`pod/bee created`, and a note of what was changed."""
        self.stdout.append(f"{kind_name(info)}/{meta.name_of(obj)} {operation}")
        self.changed.append(Ref.to(obj))

    def warn(self, info: KindInfo, told: Sequence[str]) -> None:
        """The server's warnings, each once in a command (cli-runtime: NewWarningWriter, Deduplicate)."""
        for text in [*warnings.of_resource(info), *told]:
            line = f"Warning: {text}"
            if line not in self.stderr:
                self.stderr.append(line)


Visitor = Callable[[KindInfo, Object, Output], None]


def documents(data: bytes | str) -> list[Document]:
    """The manifests in a text. Raises ManifestError for whatever is no list of manifests."""
    return manifests.parse(data)


def kind_name(info: KindInfo) -> str:
    """`pod`, `deployment.apps`: how kubectl names kinds in what it prints."""
    return f"{info.kind.lower()}.{info.group}" if info.group else info.kind.lower()


def visit(given: Sequence[Document], namespace: str, verb: str, visitor: Visitor) -> CommandResult:
    """Run `visitor` on each document's object, in order, with its namespace filled in.

    A document that the server refuses is reported and the others are still visited; the result's code is then 1.
    `verb` stands in the messages: `error when creating "STDIN": …`.
    """
    output = Output()
    problems: list[Problem] = []
    for document in given:
        try:
            info = scheme.of(document.object)
        except scheme.NoKindMatchError as error:
            output.stderr.append(failures.no_mapping(error, document, SOURCE))
            problems += failures.problems(error, document)
            continue
        output.prefix = f'error when {verb} "{SOURCE}": '
        try:
            visitor(info, _placed(info, document.object, namespace), output)
        except StatusError as error:
            output.stderr.append(failures.text(error, output.prefix))
            problems += failures.problems(error, document)
    return CommandResult(
        stdout="".join(f"{line}\n" for line in output.stdout),
        stderr="".join(f"{line}\n" for line in output.stderr),
        code=1 if problems else 0,
        changed=tuple(output.changed),
        problems=tuple(problems),
    )


def _placed(info: KindInfo, obj: Object, namespace: str) -> Object:
    """The object with the namespace that the request goes to."""
    metadata = obj.get("metadata")
    if not info.namespaced or (metadata is not None and not isinstance(metadata, dict)):
        return obj
    if metadata and metadata.get("namespace"):
        return obj
    return {**obj, "metadata": {**(metadata or {}), "namespace": namespace}}
