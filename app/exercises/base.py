"""What every part of an exercise file is built from: strict models, texts in several languages, names, limits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

LANGUAGES = ("en", "ko")
"""The languages that a text may be written in; the first is required and stands in for the others."""

MAX_SENTENCE = 400
MAX_MARKDOWN = 8_000
MAX_MANIFESTS = 32_000
MAX_EXPRESSION = 1_000
MAX_CHECKS = 20
MAX_HINTS = 10
MAX_WRONG = 40
MAX_CHOICES = 20
MAX_PARAMETERS = 10
MAX_VARIANTS = 10_000


class Strict(BaseModel):
    """A part of the file: no field but the declared ones, no value of another type, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


_NAME_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"

Slug = Annotated[str, Field(pattern=_NAME_PATTERN, max_length=63)]
"""A stable name: lower-case letters, digits and dashes."""
ObjectName = Annotated[str, Field(min_length=1, max_length=253)]
"""The name of an object in the cluster; may be a placeholder such as ${node}."""
Sentence = Annotated[str, Field(min_length=1, max_length=MAX_SENTENCE)]
Markdown = Annotated[str, Field(min_length=1, max_length=MAX_MARKDOWN)]
Manifests = Annotated[str, Field(min_length=1, max_length=MAX_MANIFESTS)]
Expression = Annotated[str, Field(min_length=1, max_length=MAX_EXPRESSION)]
Mode = Literal["apply", "create", "replace", "delete"]
"""How manifests reach the cluster: `replace` is `kubectl replace --force`."""


class LocalSentence(Strict):
    """A sentence in each language."""

    en: Sentence
    ko: Sentence | None = None

    def get(self, language: str) -> str:
        """The sentence in that language, in English where it lacks."""
        return getattr(self, language, None) or self.en


class LocalMarkdown(Strict):
    """A Markdown text in each language."""

    en: Markdown
    ko: Markdown | None = None

    def get(self, language: str) -> str:
        """The text in that language, in English where it lacks."""
        return getattr(self, language, None) or self.en


class PodReference(Strict):
    """One pod, by its name."""

    name: ObjectName
    namespace: ObjectName = "default"
