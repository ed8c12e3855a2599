"""`cka-lab bench`: measure the lab on this machine and print the table of docs/benchmarks.md.

A lab of its own (temporary database, free port) is started and used as learners do: over HTTP, and in a real
browser. Times are of one machine at one moment; counts and ratios are what to compare.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from app.cli import bench_cluster, bench_scheduler
from app.settings import ROOT

EXERCISE = "taint-a-node"
TARGET_MS = 100.0
_WARM_UP = 5
_PATIENCE = 2000
"""Looks, ten milliseconds apart, until a click counts as unanswered."""
_VERDICT = 'id="verdict"'


@dataclass(frozen=True)
class Row:
    """One line of the table. Times are in milliseconds."""

    what: str
    times: list[float]
    target: float | None = None

    def cells(self) -> str:
        """The line in Markdown."""
        ordered = sorted(self.times)
        p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        target = f"{self.target:.0f}" if self.target else ""
        return f"| {self.what} | {len(ordered)} | {statistics.median(ordered):.1f} | {p95:.1f} | {target} |"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command's options."""
    parser = subparsers.add_parser("bench", help="measure the lab and print a table")
    parser.add_argument("--runs", type=int, default=200, help="runs of each measurement (200)")
    parser.add_argument("--no-browser", action="store_true", help="leave the browser out")
    parser.add_argument("--no-cluster", action="store_true", help="leave the costs of a lab's cluster out")
    parser.add_argument("--no-http", action="store_true", help="leave the server and the browser out")
    parser.add_argument("--no-scheduler", action="store_true", help="leave the scheduler out")


def run(args: argparse.Namespace) -> int:
    """Measure and print. Returns 1 where a target is missed."""
    missed = False
    if not args.no_http:
        missed = _served(args.runs, browser=not args.no_browser)
        print()
    if not args.no_cluster:
        missed = bool(bench_cluster.main(args.runs)) or missed
        print()
    if not args.no_scheduler:
        missed = bool(bench_scheduler.main([])) or missed
    return 1 if missed else 0


def _served(runs: int, *, browser: bool) -> bool:
    """What learners feel: over HTTP, and in a browser. True where a target is missed."""
    with _lab() as address:
        answer = _answer()
        rows = _over_http(address, answer, runs)
        if browser:
            rows += _in_browser(address, answer, runs)
        counts = _counts(address, answer)
    print("| what | runs | p50 ms | p95 ms | target p50 ms |\n| --- | --- | --- | --- | --- |")
    print("\n".join(row.cells() for row in rows))
    print("\n| count | bytes |\n| --- | --- |")
    print("\n".join(f"| {what} | {amount:,} |" for what, amount in counts))
    return any(row.target and statistics.median(row.times) > row.target for row in rows)


def _answer() -> str:
    """The model solution of the exercise, as a learner would paste it."""
    from app.exercises import loader  # noqa: PLC0415 (only this command needs it here)

    exercise = loader.load_folder(ROOT / "exercises").exercises[EXERCISE]
    return exercise.variant(0).spec.solution.manifests


@contextmanager
def _lab() -> Iterator[str]:
    """A lab in a process of its own; ends with the block."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "CKA_LAB_HOME": home, "DATABASE_URL": "", "CKA_LAB_PORT": "0"}
        command = [sys.executable, "-m", "app.main", "serve"]
        with subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 (our own program)
            try:
                yield _address(process)
            finally:
                process.terminate()
                process.wait(timeout=20)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"The lab is at\s+(http\S+)/", line):
            return found[1]
    raise RuntimeError("the lab did not start")


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def _over_http(address: str, answer: str, runs: int) -> list[Row]:
    """Server side: each start is a new guest's, each submission the same guest's."""
    with (
        httpx.Client(base_url=address, follow_redirects=True) as guest,
        httpx.Client(base_url=address, follow_redirects=True) as learner,
    ):

        def start() -> None:
            guest.cookies.clear()
            page = guest.post(f"/learn/{EXERCISE}/start")
            assert page.status_code == 200, page.status_code

        lab = str(learner.post(f"/learn/{EXERCISE}/start").url.path)

        def submit() -> None:
            form = {"manifest": answer, "mode": "apply"}
            page = learner.post(f"{lab}/submit", data=form, headers={"HX-Request": "true"})
            assert page.status_code == 200, page.status_code
            assert _VERDICT in page.text

        for action in (start, submit):
            for _ in range(_WARM_UP):
                action()
        return [
            Row("click to ready lab, server side", [_timed(start) for _ in range(runs)], TARGET_MS),
            Row("submit to verdict, server side", [_timed(submit) for _ in range(runs)], TARGET_MS),
        ]


_CLOCK = """
// Taken in the page, so that the driver's own round trips are not counted: from the click to the frame in which
// what was waited for is there.
const clicked = () => Number(sessionStorage.getItem('clicked'))
const done = () => requestAnimationFrame(() => setTimeout(() => {
  if (clicked()) sessionStorage.setItem('taken', Date.now() - clicked())
  sessionStorage.removeItem('clicked')
}))
addEventListener('click', () => sessionStorage.setItem('clicked', Date.now()), true)
new MutationObserver((changes, observer) => {
  if (document.querySelector('.cm-content')) { observer.disconnect(); done() }
}).observe(document, {childList: true, subtree: true})
addEventListener('htmx:afterSettle', () => { if (document.querySelector('#verdict li.passed')) done() })
"""


def _in_browser(address: str, answer: str, runs: int) -> list[Row]:
    """In Chromium, as a learner feels it: from the click to what was waited for being on the page."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (part of the dev set)

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    starts: list[float] = []
    verdicts: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page()
        page.add_init_script(_CLOCK)

        def taken(selector: str) -> float:
            page.evaluate("sessionStorage.removeItem('taken')")
            page.locator(selector).first.click()
            for wait in range(_PATIENCE):
                page.wait_for_selector(".cm-content")
                page.wait_for_timeout(min(wait, 10))
                if value := page.evaluate("sessionStorage.getItem('taken')"):
                    return float(value)
            raise RuntimeError(f"nothing came of a click on {selector}")

        for number in range(runs + _WARM_UP):
            page.goto(f"{address}/learn/{EXERCISE}")
            started = taken("form[action$='/start'] button")
            page.locator(".cm-content").click()
            page.keyboard.press("Control+a")
            page.keyboard.insert_text(answer)
            judged = taken("button[formaction$='/submit']")
            if number >= _WARM_UP:
                starts.append(started)
                verdicts.append(judged)
        browser.close()
    return [
        Row("click to ready lab, in the browser", starts, TARGET_MS),
        Row("submit to verdict, in the browser", verdicts, TARGET_MS),
    ]


def _counts(address: str, answer: str) -> list[tuple[str, int]]:
    with httpx.Client(base_url=address, follow_redirects=True) as learner:
        page = learner.post(f"/learn/{EXERCISE}/start")
        verdict = learner.post(
            f"{page.url.path}/submit", data={"manifest": answer, "mode": "apply"}, headers={"HX-Request": "true"}
        )
    bundles = [(f"bundle {path.name}", path.stat().st_size) for path in sorted((ROOT / "static/dist").glob("*.js"))]
    return [("lab page", len(page.content)), ("answer to Submit", len(verdict.content)), *bundles]
