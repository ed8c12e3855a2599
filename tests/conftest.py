"""What `make check` leaves out: tests that start servers, workers or a database server, and second passes over records.

They carry the mark `slow` by where they are, so that no module has to remember it. `make test` runs everything.
"""

from pathlib import PurePath

import pytest

_SLOW = (
    "lab/",
    "web/test_account",
    "web/test_admin",
    "web/test_author",
    "web/test_bad_input",
    "web/test_grader",
    "web/test_learner_pages",
    "web/test_roles",
    "web/test_terminal",
    "kubeapi/test_framing",
    "kubeapi/test_kubectl",
    "progress/",
    "scheduler/test_fast_path",
    "scheduler/why/test_counterfactual_properties",
    "scheduler/why/test_vectors",
)


def pytest_collection_modifyitems(items):
    """Mark by path, and by the database that a test runs on."""
    here = PurePath(__file__).parent
    for item in items:
        place = item.path.relative_to(here).as_posix()
        if place.startswith(_SLOW):
            item.add_marker(pytest.mark.slow)
