"""From a request's body to the server's working copy (apiserver/pkg/endpoints/handlers/create.go)."""

from __future__ import annotations

from app.apimachinery.errors import BadRequest, Hint
from app.apimachinery.meta import Object
from app.apis import advice, decode
from app.apis.scheme import KindInfo


def decoded(info: KindInfo, obj: Object, *, strict: bool) -> Object:
    """A copy that may be changed; unknown fields are refused, or dropped where not `strict`.

    Raises:
        BadRequest: with hints at each refused field.
    """
    found = decode.problems(obj)
    if strict or any(problem.kind != "unknown" for problem in found):
        refuse(info, found)
    return decode.normalised(obj)


def refuse(info: KindInfo, found: list[decode.Problem]) -> None:
    """Raise what decoding found, if anything (rest.go: transformDecodeError)."""
    if not found:
        return
    raise BadRequest(told_of(info, found), hints=hints(found))


def told_of(info: KindInfo, found: list[decode.Problem]) -> str:
    """`Pod in version "v1" cannot be handled as a Pod: …`."""
    version = info.api_version.rpartition("/")[2]
    return f'{info.kind} in version "{version}" cannot be handled as a {info.kind}: {text(found)}'


def text(found: list[decode.Problem]) -> str:
    """The problems in one text."""
    told = ", ".join(problem.text for problem in found)
    return f"strict decoding error: {told}" if found[0].kind == "unknown" else told


def hints(found: list[decode.Problem]) -> list[Hint]:
    """Where each problem is, and what to write instead."""
    return [Hint(problem.path, advice.for_problem(problem)) for problem in found]
