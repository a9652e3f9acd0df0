"""The page in a browser that is started once: functions of it, and a file with several players."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

import selfplay
from selfplay.cli import web as command
from selfplay.web import evaluation_data
from selfplay.web.page import bundled_script
from tests.runs import save, saved
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.web.visits import PATIENCE, Site, watched

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def call(browser: Browser) -> Iterator[Callable[..., Any]]:
    """Yield what calls a JavaScript function in the scope of a module of the page."""
    page = browser.new_page()

    def called(module: str, function: str, *args: Any) -> Any:
        return page.evaluate(f"(args) => {{ {bundled_script(module)}\n return ({function})(...args); }}", args)

    yield called
    page.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Write the page of the shipped player, of runs that have learned nothing, and of one that has learned a little.

    One of the former marks taken squares, and one has a larger board.
    """
    runs = tmp_path_factory.mktemp("runs")
    saved(runs / "masked", mask=True, seed=1000)
    saved(runs / "unmasked", symmetry="none", seed=1001)
    larger = config_with(mask=True, rows=4, cols=4, k=4)
    save(runs / "larger", larger, make(larger).player())
    selfplay.train(config_with(mask=True), run_dir=runs / "trained", total_steps=1_000, eval_every=200, progress=False)
    names = [str(runs / name) for name in ("masked", "unmasked", "trained", "larger")]
    file = runs / "page.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation_data, "MOST_POSITIONS", 1_000)
        command.main(["shipped", *names, "--out", str(file), "--no-open"])
    return Site(runs, file)


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the page from the disk, without a network, and watches it until the test ends."""
    with ExitStack() as pages:

        def opened(link: str = "", width: int = 1400, file: Path = site.file) -> Page:
            size = ViewportSize(width=width, height=900)
            context = browser.new_context(offline=True, viewport=size, reduced_motion="reduce")
            pages.callback(context.close)
            page = context.new_page()
            pages.enter_context(watched(page, file.as_uri()))
            page.goto(f"{file.as_uri()}{link}")
            page.wait_for_selector(".board:visible")
            return page

        yield opened
