"""The bundle's sources: exact versions, no addresses in the lock file, and no sentences of their own."""

import json
import re

import pytest

from app.settings import ROOT

FRONTEND = ROOT / "frontend"


def test_every_package_has_an_exact_version():
    wanted = json.loads((FRONTEND / "package.json").read_text())["devDependencies"]
    assert [name for name, version in wanted.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []


def test_the_lock_file_names_hashes_and_no_addresses():
    lock = json.loads((FRONTEND / "package-lock.json").read_text())["packages"]
    installed = {name: entry for name, entry in lock.items() if name}
    assert installed
    assert [name for name, entry in installed.items() if "resolved" in entry] == []
    assert [name for name, entry in installed.items() if "integrity" not in entry] == []


@pytest.mark.parametrize("path", sorted((FRONTEND / "src").glob("*.js")), ids=lambda path: path.name)
def test_scripts_take_their_sentences_from_the_page(path):
    code = re.sub(r"//.*", "", path.read_text())
    assert re.findall(r'"[A-Z][a-z]+ [a-z][^"]*"', code) == []


@pytest.mark.parametrize("path", sorted((FRONTEND / "src").glob("*.js")), ids=lambda path: path.name)
def test_scripts_use_only_sentences_that_the_page_has(path):
    page = (ROOT / "templates" / "parts" / "texts.html").read_text()
    used = set(re.findall(r"(?<![/\w])texts\.(\w+)", path.read_text()))
    assert {name for name in used if f'"{name}":' not in page} == set()
