"""What holds for all tests: one thread, because more cost more than they bring here, and no window on the screen.

Ctrl-C reaches what they start, also where a script's shell had them ignore it, as with `nohup pytest &`. No process of
theirs finds a board's solution from before or keeps one. Convolutions on a GPU give the same bits each time, as in a
run.
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

signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads(1)
torch.backends.cudnn.deterministic = True
os.environ["SDL_VIDEODRIVER"] = "dummy"


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Yield Debian's Chromium, started once for all tests of a process."""
    if shutil.which("chromium") is None:
        pytest.skip("no program called chromium is installed")
    from docs.draw_page import chromium  # noqa: PLC0415 (most tests need none of it)

    with chromium() as started:
        yield started


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in the folder of the test, and return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def in_a_command() -> Iterator[None]:
    """Name settings in messages as flags, as `run_command` does."""
    from selfplay.errors import naming_flags  # noqa: PLC0415 (the environment's tests need none of it)

    with naming_flags():
        yield


@pytest.fixture
def stopper(monkeypatch: pytest.MonkeyPatch) -> object:
    """Return the `tests.runs.Stopper` of runs without plots, whose tabular learners can often be stopped."""
    from selfplay.learning.callbacks import MetricsLog  # noqa: PLC0415 (the environment's tests need none of it)
    from selfplay.tabular import learners  # noqa: PLC0415
    from tests.runs import Stopper, without_plots  # noqa: PLC0415

    monkeypatch.setattr(learners, "SLICE", 70)
    monkeypatch.setattr(MetricsLog, "show_player", lambda *_: None)
    without_plots(monkeypatch.setattr)
    return Stopper(monkeypatch)
