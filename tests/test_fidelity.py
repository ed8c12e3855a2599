"""The page on fidelity names everything that the code has, and nothing twice."""

import pkgutil
import re
from collections import Counter

import pytest

from app.apis import scheme
from app.cluster import admission, controllers
from app.scheduler import registry
from app.settings import ROOT

PAGE = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")


def rows(heading):
    """The first cells of the table below a heading, taken apart at commas."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = section.partition("| --- |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[1:]]
    return Counter(name.strip(" `") for cell in cells for name in cell.split(","))


def modules(package):
    return {module.name for module in pkgutil.iter_modules(package.__path__)}


@pytest.mark.parametrize(
    ("heading", "built"),
    [
        ("Scheduler", {*registry.PLUGINS, *registry.UPSTREAM_POINTS, *registry.OLD}),
        ("Controllers", modules(controllers)),
        ("Admission", modules(admission)),
        ("Kinds", {info.kind for info in scheme.KINDS}),
    ],
)
def test_each_table_names_what_is_built_once(heading, built):
    named = rows(heading)
    assert set(named) == set(built)
    assert max(named.values()) == 1


def test_each_row_says_how_true_it_is():
    states = re.findall(r"^\| [^|]+ \| (\w+) \|.*\|$", PAGE, re.MULTILINE)
    assert set(states) == {"simulated", "simplified", "stored", "absent", "State"}
