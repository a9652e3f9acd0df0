"""One Chromium for the tests of the page, which are skipped where there is none."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return a browser of the system's own Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright, which drives the browser, is not here")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no browser called chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
