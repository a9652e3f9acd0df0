"""The page in a browser: how it is opened, and what a person sees on it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

PATIENCE = 60_000
"""Milliseconds in which the slowest machine shows what is to be seen."""

AXE = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
"""What axe-core looks for: everything of these standards."""


class Site(NamedTuple):
    """A folder of runs, and the page of their players."""

    runs: Path
    file: Path


@contextmanager
def watched(page: Page, address: str) -> Iterator[None]:
    """Watch a page: it requests nothing but what starts with its address, and its console stays empty."""
    page.set_default_timeout(PATIENCE)
    requested = []
    written = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda message: written.append(message.text))
    page.on("pageerror", lambda error: written.append(str(error)))
    yield
    page.title()  # an answer comes after all that was written before it
    assert requested
    assert [url for url in requested if not url.startswith((address, "blob:", "data:"))] == []
    assert not written, written


def square(page: Page, cell: int) -> Locator:
    return page.locator(f".board [data-cell='{cell}']")


def board_of(page: Page) -> str:
    """Return the position on the board as the page writes it, ".XO" row by row."""
    squares = page.locator(".board [data-cell]")
    squares.first.wait_for(state="attached")  # after a reload there is none for a moment
    marks: Any = squares.evaluate_all("squares => squares.map(each => each.dataset.mark).join('')")
    return str(marks)


def wait_for_turn(page: Page) -> str:
    """Wait until it is the person's turn, or the game is over; return what is then written above the board."""
    page.locator("#status", has_text=re.compile(r"^(Your move|You win|You lose|A draw|.* wins)")).wait_for()
    return page.locator("#status").inner_text()


def spoken(page: Page) -> list[str]:
    """Return the sentences for screen readers."""
    return page.locator("#spoken p").all_inner_texts()


def go_to(page: Page, link: str) -> None:
    """Follow a link within the page."""
    page.evaluate(
        """link => new Promise((done) => {
            addEventListener("hashchange", done, { once: true });
            location.hash = link;
        })""",
        link,
    )


def press(page: Page, name: str) -> None:
    """Click the button with a name."""
    page.get_by_role("button", name=name).click()


def says(page: Page, selector: str, text: str | re.Pattern[str] | list[re.Pattern[str]]) -> None:
    """Wait until a part of the page contains a text, or its parts one each."""
    expect(page.locator(selector)).to_contain_text(text)


def violations(page: Page) -> Any:
    """Return a list of what axe-core finds; the package axe-playwright-python brings it."""
    return Axe().run(page, options=AXE).response["violations"]


def shows_values(page: Page, values: list[float], near: float) -> None:
    """Wait until the first map holds these values, or such as are near."""
    page.wait_for_function(
        """([values, near]) => {
            const squares = [...document.querySelectorAll("#panel-inside figure:first-of-type [data-value]")];
            const same = (square, cell) => Math.abs(Number(square.dataset.value) - values[cell]) < near;
            return squares.length === values.length && squares.every(same);
        }""",
        arg=[values, near],
    )
