"""The page in a browser: how it is opened, and what a person sees on it."""

import re
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from playwright.sync_api import Browser, Locator, Page, ViewportSize

PATIENCE = 120_000
"""Milliseconds in which the slowest machine shows what is to be seen."""


class Site(NamedTuple):
    """Hold where a folder of runs is served."""

    runs: Path
    address: str


class Visit:
    """Hold a page that is open, with all that it asks for and all that is written to its console."""

    def __init__(self, browser: Browser, address: str, link: str, width: int, scheme: str) -> None:
        self._address = address
        self._asked: list[str] = []
        self._written: list[str] = []
        chosen = cast(Literal["light", "dark"], scheme)
        size = ViewportSize(width=width, height=900)
        self.page = browser.new_page(viewport=size, color_scheme=chosen, reduced_motion="reduce")
        self.page.set_default_timeout(PATIENCE)
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
    marks: Any = page.locator(".board [data-cell]").evaluate_all(
        "squares => squares.map(each => each.dataset.mark).join('')"
    )
    return str(marks)


def answered(page: Page) -> str:
    """Wait until it is the person's turn, or the game is over; return what then stands above the board."""
    page.locator("#status", has_text=re.compile(r"^(Your move|You win|You lose|A draw|.* wins)")).wait_for()
    return page.locator("#status").inner_text()


def heard(page: Page) -> list[str]:
    """Return what a screen reader was given to say."""
    return page.locator("#spoken p").all_inner_texts()
