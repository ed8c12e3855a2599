"""A real Chromium, one a test session; each test gets a context of its own."""

import shutil

import pytest
from playwright.sync_api import Browser, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium where there is one, else the one that Playwright installed."""
    with sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        yield browser
        browser.close()
