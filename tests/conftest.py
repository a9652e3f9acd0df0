"""What holds for all tests: one thread, because more cost more than they bring here, and no window on the screen.

Ctrl-C reaches what they start, also where a script's shell had them ignore it, as with `nohup pytest &`.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = ("chromium-headless-shell", "chromium")
"""Programs that show the page; the first, which cannot open a window, needs three quarters of the second's time."""

signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads(1)
os.environ["SDL_VIDEODRIVER"] = "dummy"

# The tests kill programs, but never the machine: waiting for its disk would show nothing.
os.fsync = os.fstat  # type: ignore[assignment]


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not ask for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that open a browser."""
    for item in items:
        if isinstance(item, pytest.Function) and "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Yield Debian's Chromium, started once for all tests of a process."""
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        pytest.skip(f"none of these programs is installed: {', '.join(CHROMIUM)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=program) as started:
        yield started


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in the folder of the test, and return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def stopper(monkeypatch: pytest.MonkeyPatch) -> object:
    """Return the `tests.runs.Stopper` of runs without plots, whose tabular learners can often be stopped."""
    from selfplay.tabular import learners
    from tests.runs import Stopper, without_plots

    monkeypatch.setattr(learners, "SLICE", 70)
    without_plots(monkeypatch.setattr)
    return Stopper(monkeypatch)
