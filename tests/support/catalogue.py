"""Every text that people read, as gettext's tools find it: in templates, and after N_ in Python."""

from pathlib import Path

import polib
from babel.messages.extract import extract_from_dir

from app.settings import ROOT
from app.web.i18n import LOCALES

_KEYWORDS = {
    "_": None,
    "N_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
_JINJA = {"encoding": "utf-8", "trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}

Key = tuple[str | None, str, str | None]
"""Context, text, and the plural form where the text is counted."""


def extracted() -> dict[Key, str]:
    """Each text and the first place where it stands."""
    found: dict[Key, str] = {}
    for folder, pattern, method in (
        (ROOT / "templates", "**.html", "jinja2.ext:babel_extract"),
        (ROOT / "app", "**.py", "python"),
    ):
        options = {pattern: _JINJA} if method.startswith("jinja2") else {}
        for name, line, message, _, context in extract_from_dir(
            folder, [(pattern, method)], options, keywords=_KEYWORDS
        ):
            text, plural = message if isinstance(message, tuple) else (message, None)
            found.setdefault((context, text, plural), f"{folder.name}/{name}:{line}")
    return found


def translated(language: str) -> dict[Key, polib.POEntry]:
    """The entries of a language's catalogues."""
    entries: dict[Key, polib.POEntry] = {}
    for path in sorted(Path(LOCALES / language / "LC_MESSAGES").glob("*.po")):
        for entry in polib.pofile(str(path), encoding="utf-8"):
            entries[(entry.msgctxt, entry.msgid, entry.msgid_plural or None)] = entry
    return entries
