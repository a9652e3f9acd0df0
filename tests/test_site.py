"""The pages build as a site without a warning; it asks nobody else for anything, and its search needs no server."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
EXTENSIONS = "myst_parser,sphinx.ext.autodoc,sphinx.ext.napoleon"
"""Extensions of the site but for the listings of the source, which take a third of the time."""
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|embed|video)\b[^>]*\b(?:src|srcset|poster)="([^"]*)"  # of a page
    |<link\b[^>]*\bhref="([^"]*)" | <object\b[^>]*\bdata="([^"]*)"
    |url\(\s*['"]?([^)]*) | @import\s+([^;]*)  # of a style sheet""",
    re.VERBOSE,
)
"""What a browser fetches; links to follow are not."""

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
"""What people ask, and the heading that answers."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built as CONTRIBUTING says."""
    pytest.importorskip("furo", reason="the extra `docs` is not installed")
    [command] = re.findall(
        r"^\.venv/bin/sphinx-build (.*?) site ", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    folder = tmp_path_factory.mktemp("site")
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-D", f"extensions={EXTENSIONS}"]
    done = subprocess.run([*sphinx, *command.split(), folder], cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def fetched(text: str) -> list[str]:
    """Return the addresses that a page or style sheet makes a browser fetch."""
    return [address for addresses in FETCHED.findall(text) for address in addresses if address]


def test_the_addresses_that_a_page_fetches_are_noticed() -> None:
    page = '<link rel="stylesheet" href="//a/b.css"><script src="http://c/d.js"></script><a href="http://e">'
    assert fetched(page) == ["//a/b.css", "http://c/d.js"]
    style = '@import "https://f/g.css"; p { src: url("https://h/i.woff") }'
    assert fetched(style) == ['"https://f/g.css"', 'https://h/i.woff"']


def test_the_site_opens_with_the_readme_and_fetches_nothing_from_elsewhere(site: Path) -> None:
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()
    assert "A testbed for two-player reinforcement learning" in (site / "index.html").read_text()
    assert "<strong>checkpoint_interval</strong>" in (site / "docs" / "api" / "selfplay.html").read_text()
    texts = [path.read_text() for path in site.rglob("*") if path.suffix in (".html", ".css")]
    addresses = {address for text in texts for address in fetched(text)}
    assert len(texts) > 30
    assert len(addresses) > 10
    assert [address for address in addresses if re.match(r"['\"]?(\w+:)?//", address)] == []


def test_the_first_page_has_a_player_to_play_against_above_the_installation(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    player = page.frame_locator("iframe.player")
    player.get_by_text("PROVED UNBEATABLE").first.wait_for()
    player.get_by_label("Watch it learn", exact=True).wait_for()
    assert (site / "player.html").stat().st_size < 600_000
    page.close()
    text = (site / "index.html").read_text()
    assert text.index('class="player"') < text.index('class="cards"') < text.index('id="install-and-train"')


def test_each_unit_of_the_course_is_a_page_to_read_and_two_files_to_download(site: Path) -> None:
    for number in range(1, 9):
        unit = site / "docs" / "course" / f"unit_{number}"
        page = unit.with_suffix(".html").read_text()
        assert f"<h1>Unit {number}: " in page
        assert page.count('class="blank') == 1
        assert page.count("<summary>Hint ") == 2
        assert ('<img alt="What this draws' in page) == (number > 1)
        assert ('role="img"' in page) == (number != 4)
        assert "data:image/png" not in page  # its ground would be white on a dark page too
        for suffix in (".ipynb", ".py"):
            assert f'href="{unit.name}{suffix}" download' in page
            assert "raise NotImplementedError" in unit.with_suffix(suffix).read_text()
        text = (unit.parent / "README.html").read_text()
        assert f'href="{unit.name}.html"' in text
        assert len({*re.findall(rf'href="([^"]*{unit.name}\.py)', text)}) == 1  # its solution alone is a file there


def test_its_search_finds_a_heading_first_without_a_server(site: Path, browser: Browser) -> None:
    expected = {
        "evaluate": "docs/api/selfplay.html#selfplay.evaluate",
        "stop and resume": "docs/training.html#stop-and-resume",
        "the two-player target": "docs/training.html#the-two-player-target",
        **{question: f"docs/why-does-my-dqn-not-learn.html#{anchor}" for question, anchor in QUESTIONS.items()},
    }
    page = browser.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    first = {}
    for words in expected:
        page.goto(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
        first[words] = page.locator("#search-results li a").first.get_attribute("href")
    page.close()
    assert first == expected
    assert all(address.startswith(("file:", "data:")) for address in requests)
