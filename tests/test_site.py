"""The pages build as a site without a warning; it asks nobody else for anything, and its search needs no server."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent

QUESTIONS = {
    "self-play DQN gets worse after 6,000 games": "self-play-dqn-gets-worse-after-6-000-games",
    "Q-learning still loses after 200,000 games": "q-learning-still-loses-after-200-000-games",
    "optimal Q values if a draw counts as a loss": "optimal-q-values-if-a-draw-counts-as-a-loss",
    "state before or after the opponent's move": "state-before-or-after-the-opponent-s-move",
    "does not learn to block": "it-does-not-learn-to-block",
    "correct self-play in Tianshou": "correct-self-play-in-tianshou",
    "PettingZoo agent plays illegal moves": "pettingzoo-agent-plays-illegal-moves",
    "PettingZoo tutorial agent loses to random": "pettingzoo-tutorial-agent-loses-to-random",
    "standardized self-play": "standardized-self-play",
    "RL of tic-tac-toe is not possible": "rl-of-tic-tac-toe-is-not-possible",
    "frozen opponent loops on illegal moves": "frozen-opponent-loops-on-illegal-moves",
    "will it never lose to odd play": "will-it-never-lose-to-odd-play",
    "1,000 identical ties": "identical-ties-prove-nothing",
    "illegal moves grow": "illegal-moves-grow-with-training",
    "exploitability of larger games": "exploitability-of-larger-games",
}
"""As people ask them, and the heading that answers."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built as CONTRIBUTING says."""
    pytest.importorskip("furo", reason="the extra `docs` is not installed")
    [command] = re.findall(
        r"^\.venv/bin/sphinx-build (.*?) site ", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", *command.split(), folder],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    assert done.returncode == 0
    return folder


class Resources(HTMLParser):
    """Collect what a page makes a browser fetch, which links to follow are not."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses in a tag."""
        wanted = {"src", "srcset", "data", "poster"} | ({"href"} if tag == "link" else set())
        self.found += [value for name, value in attrs if name in wanted and value]


def fetched(path: Path) -> list[str]:
    """Return what a page or style sheet makes a browser fetch."""
    text = path.read_text()
    if path.suffix == ".css":
        return [address for pair in re.findall(r"url\(\s*['\"]?([^)]*)|@import\s+([^;]*)", text) for address in pair]
    resources = Resources()
    resources.feed(text)
    return resources.found


def test_what_a_page_fetches_is_found(tmp_path: Path) -> None:
    page, style = tmp_path / "page.html", tmp_path / "style.css"
    page.write_text('<link rel="stylesheet" href="//a/b.css"><script src="http://c/d.js"></script><a href="http://e">')
    style.write_text('@import "https://f/g.css"; p { src: url("https://h/i.woff") }')
    assert fetched(page) == ["//a/b.css", "http://c/d.js"]
    assert [address for address in fetched(style) if "//" in address] == ['"https://f/g.css"', 'https://h/i.woff"']


def test_the_site_fetches_nothing_from_elsewhere(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css")]
    assert len(files) > 40
    asked = {address for path in files for address in fetched(path)}
    assert len(asked) > 10
    elsewhere = [address for address in asked if re.match(r"['\"]?(\w+:)?//", address)]
    assert elsewhere == []


def test_the_site_opens_with_the_readme(site: Path) -> None:
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()
    assert "Deep Q-learning agents that learn tic-tac-toe" in (site / "index.html").read_text()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("evaluate", "docs/api/selfplay.html#selfplay.evaluate"),
        ("stop and resume", "docs/training.html#stop-and-resume"),
        ("the two-player target", "docs/training.html#the-two-player-target"),
        *((question, f"docs/why-does-my-dqn-not-learn.html#{anchor}") for question, anchor in QUESTIONS.items()),
    ],
)
def test_its_search_finds_a_heading_first_without_a_server(
    site: Path, browser: Browser, words: str, found: str
) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
    first = page.locator("#search-results li a").first.get_attribute("href")
    page.close()
    assert first == found
    assert all(address.startswith(("file:", "data:")) for address in asked)
