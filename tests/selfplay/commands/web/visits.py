"""The page in a browser: how it is served and opened, and what a person sees on it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import uvicorn
from playwright.sync_api import Browser, Locator, Page, ViewportSize

from selfplay.commands.web.answers import Answers
from selfplay.commands.web.catalogue import Catalogue
from selfplay.commands.web.command import PAGE, listen
from selfplay.commands.web.server import Hosts, application
from tictactoe import Rules

PATIENCE = 30
"""Seconds after which a server has not started, or does not end."""


class Served(NamedTuple):
    """Hold where a folder of runs is served."""

    runs: Path
    address: str


@contextmanager
def serving(runs: Path) -> Iterator[Served]:
    """Serve the page with the runs of a folder, in a thread of this process."""
    catalogue = Catalogue((), runs, "absolute", Rules())
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        answers = Answers(catalogue, seed=0)
        app = application(answers.questions(), {"live": answers.live}, PAGE, Hosts("127.0.0.1", port))
        server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, access_log=False, ws="none", lifespan="off", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        until = time.monotonic() + PATIENCE
        while not server.started:
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.01)
        try:
            yield Served(runs, f"http://127.0.0.1:{port}/")
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


class Visit:
    """Hold a page that is open, with all that it asks for and all that is written to its console."""

    def __init__(self, browser: Browser, address: str, link: str, width: int, scheme: str) -> None:
        self._address = address
        self._asked: list[str] = []
        self._written: list[str] = []
        chosen = cast(Literal["light", "dark"], scheme)
        size = ViewportSize(width=width, height=900)
        self.page = browser.new_page(viewport=size, color_scheme=chosen, reduced_motion="reduce")
        self.page.on("request", lambda request: self._asked.append(request.url))
        self.page.on("console", lambda message: self._written.append(message.text))
        self.page.on("pageerror", lambda error: self._written.append(str(error)))
        self.page.goto(f"{address}{link}")
        self.page.wait_for_selector(".board")

    def end(self) -> None:
        """Close the page; it has asked nobody but its own server, and the console is empty."""
        self.page.close()
        assert self._asked
        strangers = [url for url in self._asked if not url.startswith(self._address)]
        assert not strangers, strangers
        assert not self._written, self._written


def square(page: Page, cell: int) -> Locator:
    return page.locator(f".board [data-cell='{cell}']")


def board_of(page: Page) -> str:
    """Return the position on the board as the page writes it, ".XO" row by row."""
    marks: Any = page.locator(".board [data-cell]").evaluate_all("squares => squares.map(each => each.dataset.mark).join('')")
    return str(marks)


def answered(page: Page) -> str:
    """Wait until it is the person's turn, or the game is over; return what then stands above the board."""
    page.wait_for_function("() => /^(Your move|You win|You lose|A draw|.* wins)/.test(document.getElementById('status').textContent)")
    return page.locator("#status").inner_text()


def heard(page: Page) -> list[str]:
    """Return what a screen reader was given to say."""
    return page.locator("#spoken p").all_inner_texts()
