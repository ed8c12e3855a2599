"""Languages: choosing one, filling sentences in, and catalogues that lack nothing."""

import re

import pytest

from app.apimachinery.messages import Message
from app.web import i18n
from tests.support import catalogue

_PLACES = re.compile(r"%\((\w+)\)s|(?<!\{)\{(\w+)\}(?!\})")
OTHERS = [code for code in i18n.LANGUAGES if code != i18n.SOURCE]


def places(text):
    return sorted({match[1] or match[2] for match in _PLACES.finditer(text)})


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated(language):
    entries = catalogue.translated(language)
    missing = [
        f"{place}: {key[1]!r}"
        for key, place in sorted(catalogue.extracted().items(), key=lambda item: item[1])
        if key not in entries or not entries[key].translated()
    ]
    assert missing == []


@pytest.mark.parametrize("language", OTHERS)
def test_no_translation_is_left_over(language):
    wanted = catalogue.extracted()
    assert [key[1] for key in catalogue.translated(language) if key not in wanted] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_uses_the_facts_of_its_text(language):
    wrong = []
    for (_, text, plural), entry in catalogue.translated(language).items():
        forms = list(entry.msgstr_plural.values()) or [entry.msgstr]
        allowed = set(places(text)) | set(places(plural or ""))
        wrong += [text for form in forms if not set(places(form)) <= allowed]
        wrong += [text for form in forms if not plural and set(places(form)) != allowed]
    assert wrong == []


@pytest.mark.parametrize(
    ("wanted", "accept", "expected"),
    [
        (("ko", "en"), "", "ko"),
        ((None, "ko"), "en", "ko"),
        (("xx", None), "ko-KR,en;q=0.8", "ko"),
        ((None,), "fr, en;q=0.5, ko;q=0.9", "ko"),
        ((None,), "fr", "en"),
        ((None,), "ko;q=0, en;q=0.1", "en"),
        ((None,), "ko;q=abc, ;;q, \x00", "en"),
        ((None,), "ko," * 100_000, "ko"),
    ],
)
def test_it_chooses_the_first_language_on_offer(wanted, accept, expected):
    assert i18n.choose(*wanted, accept=accept) == expected


def test_it_falls_back_to_the_labs_language():
    assert i18n.choose(None, accept="fr", default="ko") == "ko"


def test_a_language_that_is_not_offered_reads_no_file():
    assert i18n.translations("../../etc").language == "en"


def test_it_fills_facts_in_and_translates_facts_that_are_sentences():
    inner = Message("bound to {node}", {"node": "node01"})
    message = Message("{pod} is {state}; write {{key: value}} or {unknown}", {"pod": "bee", "state": inner})
    assert i18n.translations("en").sentence(message) == "bee is bound to node01; write {key: value} or {unknown}"


def test_a_fact_is_not_read_as_a_template():
    message = Message("no pod {name}", {"name": "{secret}", "secret": "x"})
    assert i18n.translations("en").sentence(message) == "no pod {secret}"


def test_facts_that_are_lists_are_joined():
    assert i18n.translations("en").sentence(Message("one of {choices}", {"choices": ["a", "b"]})) == "one of a, b"


def test_korean_has_one_form_for_every_number():
    korean = i18n.translations("ko")
    forms = {korean.ngettext("%(count)s label", "%(count)s labels", number) for number in (0, 1, 2)}
    assert len(forms) == 1
    assert forms != {"%(count)s label"}
