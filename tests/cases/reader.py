"""The cases as data: what each holds, and what of it can be shown by what.

A case is a situation that people met on real clusters: `cluster` and `input` (manifests or a sentence), and
`expected`. Which cases the engine decides is worked out from the data: the input is a Pod or a Deployment, and the
outcome is one that a scheduler brings about.
"""

import json
import re
from pathlib import Path

from app.apimachinery import manifests

SOURCE = Path(__file__).parent / "cases.jsonl"
ALL = {case["id"]: case for case in map(json.loads, SOURCE.read_text(encoding="utf-8").splitlines())}

_BY_A_SCHEDULER = re.compile(r"Scheduled|Pending|Preempts then Scheduled|\d+ Scheduled(, \d+ Pending)?")
_ADMITTED = frozenset({"admission", "manual-scheduling", "static-pods"})
"""Topics whose point is what happens before a scheduler sees anything, or without one."""


def objects(text):
    """The manifests of a `cluster` or `input`; none where it is a sentence."""
    if "apiVersion" not in text or "kind" not in text:
        return []
    return [document.object for document in manifests.parse(text)]


def is_decided_by_a_scheduler(case):
    if case["topic"] in _ADMITTED or not _BY_A_SCHEDULER.fullmatch(case["expected"].get("outcome", "")):
        return False
    return [obj["kind"] for obj in objects(case["input"])] in (["Pod"], ["Deployment"])


DECIDED = {name: case for name, case in ALL.items() if is_decided_by_a_scheduler(case)}
"""What `test_cases` in the engine's tests runs."""
