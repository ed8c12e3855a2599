"""The command line cka-lab, one module a command."""

from __future__ import annotations

COMMANDS = {
    "serve": "run the lab",
    "migrate": "bring the database to this version",
    "prove": "prove exercises: solution, untouched start, wrong answers",
    "new": "write a new exercise file to start from",
    "simulate": "schedule what is pending in a cluster's manifests or dump, and say why",
    "conformance": "compare the engine with decisions of the real scheduler",
    "bench": "measure the lab and print a table",
    "schema-data": "write the API's structure from the published schemas (needs the dev set)",
    "docs": "write or verify the generated pages of docs/",
}
"""Command → what it does. Each lives in `app/cli/<command>.py` with `add_parser` and `run`."""
