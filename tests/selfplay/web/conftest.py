"""The page as the server hands it out, started once for all tests of a process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

import selfplay
from selfplay.web.server import bundled_script
from tests.runs import save, saved
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.web.serving import serving
from tests.selfplay.web.visits import PATIENCE, Site, watched

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve three runs that have learned nothing: one marks taken squares, one has a larger board; and one that has."""
    runs = tmp_path_factory.mktemp("runs")
    saved(runs / "masked", mask=True, seed=1000)
    saved(runs / "unmasked", symmetry="none", seed=1001)
    larger = config_with(mask=True, rows=4, cols=5, k=4)
    save(runs / "larger", larger, make(larger).player())
    selfplay.train(config_with(mask=True), run_dir=runs / "trained", total_steps=1_000, eval_every=200, progress=False)
    with serving(runs=runs) as server:
        yield Site(runs, f"http://127.0.0.1:{server.port}/")


@pytest.fixture(scope="session")
def call(browser: Browser) -> Iterator[Callable[..., Any]]:
    """Yield what calls a JavaScript function in the scope of a module of the page."""
    page = browser.new_page()

    def called(module: str, function: str, *args: Any) -> Any:
        return page.evaluate(f"(args) => {{ {bundled_script(module)}\n return ({function})(...args); }}", args)

    yield called
    page.close()


@pytest.fixture
def visit(browser: Browser, served: Site) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the page at a link, in pages that are watched until the end of the test."""
    with ExitStack() as pages:

        def opened(link: str = "", width: int = 1400) -> Page:
            size = ViewportSize(width=width, height=900)
            page = browser.new_page(viewport=size, reduced_motion="reduce")
            pages.callback(page.close)
            pages.enter_context(watched(page, served.address))  # ends before the page does, which cuts requests off
            page.goto(f"{served.address}{link}")
            page.wait_for_selector(".board:visible")
            return page

        yield opened
