"""Languages: which one a request wants, and texts in it.

English texts are the keys. A language is a folder `locale/<code>/LC_MESSAGES` of `.po` files, read as they
are: adding one needs no compiler and no code but its line in LANGUAGES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeGuard

import polib

from app.apimachinery.messages import N_, fill
from app.lab.views import Sentence

__all__ = ["LANGUAGES", "LANGUAGE_COOKIE", "N_", "Translations", "choose", "translations"]

LOCALES = Path(__file__).parent / "locale"
SOURCE = "en"
LANGUAGES: Mapping[str, str] = {"en": "English", "ko": "한국어"}
"""Code → the language's own name, in the order they are offered."""

LANGUAGE_COOKIE = "lang"
_CONTEXT = "\x04"


class Translations:
    """One language's texts. A text that the catalogue lacks comes back in English."""

    def __init__(self, language: str, entries: Mapping[str, str], plurals: Mapping[str, Sequence[str]]) -> None:
        self.language = language
        self._entries = entries
        self._plurals = plurals

    def gettext(self, text: str) -> str:
        """The text in this language."""
        return self._entries.get(text, text)

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        """The text for a count. Languages other than English have one form here."""
        forms = self._plurals.get(singular)
        if forms:
            return forms[0]
        return singular if number == 1 else plural

    def pgettext(self, context: str, text: str) -> str:
        """The text where the same English word means different things."""
        return self._entries.get(context + _CONTEXT + text, text)

    def npgettext(self, context: str, singular: str, plural: str, number: int) -> str:
        """A counted text with a context."""
        forms = self._plurals.get(context + _CONTEXT + singular)
        if forms:
            return forms[0]
        return singular if number == 1 else plural

    def sentence(self, message: Sentence | str | None) -> str:
        """A sentence from a lower layer, translated and filled in. Facts may be sentences themselves."""
        if message is None:
            return ""
        if isinstance(message, str):
            return self.gettext(message)
        return fill(self.gettext(message.text), {name: self._fact(fact) for name, fact in message.facts.items()})

    def _fact(self, fact: object) -> str:
        if _is_sentence(fact):
            return self.sentence(fact)
        if isinstance(fact, list | tuple):
            return ", ".join(self._fact(item) for item in fact)
        return str(fact)


def _is_sentence(value: object) -> TypeGuard[Sentence]:
    return isinstance(getattr(value, "text", None), str) and isinstance(getattr(value, "facts", None), Mapping)


@cache
def translations(language: str) -> Translations:
    """The texts of a language; English for one that is not offered. Reads the catalogues once a process."""
    if language == SOURCE or language not in LANGUAGES:
        return Translations(SOURCE, {}, {})
    entries: dict[str, str] = {}
    plurals: dict[str, Sequence[str]] = {}
    for path in sorted((LOCALES / language / "LC_MESSAGES").glob("*.po")):
        for entry in polib.pofile(str(path), encoding="utf-8").translated_entries():
            key = entry.msgid if entry.msgctxt is None else entry.msgctxt + _CONTEXT + entry.msgid
            if entry.msgid_plural:
                plurals[key] = [entry.msgstr_plural[form] for form in sorted(entry.msgstr_plural)]
            else:
                entries[key] = entry.msgstr
    return Translations(language, entries, plurals)


def choose(*wanted: str | None, accept: str = "", default: str = SOURCE) -> str:
    """The first of `wanted` that is offered, else the best of Accept-Language, else the default."""
    for language in wanted:
        if language is not None and language in LANGUAGES:
            return language
    for language in _accepted(accept):
        if language in LANGUAGES:
            return language
    return default if default in LANGUAGES else SOURCE


def _accepted(header: str) -> Iterable[str]:
    """Primary tags of an Accept-Language header, best first; a quality that is no number counts as 0."""
    weighed = []
    for position, part in enumerate(header[:500].split(",")):
        tag, _, parameter = part.strip().partition(";")
        quality = parameter.strip().removeprefix("q=") if parameter else "1"
        weight = float(quality) if re.fullmatch(r"[01](\.\d{0,3})?", quality) else 0.0
        if weight > 0:
            weighed.append((-weight, position, tag.split("-")[0].lower()))
    return [tag for _, _, tag in sorted(weighed)]
