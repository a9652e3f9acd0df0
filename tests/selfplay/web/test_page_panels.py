"""What the panels of the page show: of a position, of mistakes and games lost, and of runs; to everyone."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from selfplay.algorithms import load, snapshot_steps
from selfplay.cli import train
from selfplay.evaluation.agents import player_policy
from selfplay.position import Position, read_board
from selfplay.web import mistakes
from tests.runs import DQN, Stopper, metrics, stopped
from tests.selfplay.web.positions import exact_result
from tests.selfplay.web.visits import SHOWN, Site, board_of, go_to
from tictactoe import Rules

Open = Callable[..., Page]

PARTS = {
    "game": ("#player=masked&seat=X&moves=5,1,9,3", ".move"),
    "inside": ("#player=trained&seat=X&moves=5,1&view=inside", ".heat-map"),
    "mistakes": ("#player=masked&view=mistakes", ".card"),
    "games-lost": ("#player=masked&view=games-lost", ".game-lost"),
    "live": ("#player=masked&view=live", ".plot"),
}
OVERFLOWING = """() => [...document.querySelectorAll("body *:not(.unseen)")]
  .filter((each) => each.getClientRects().length && each.parentElement.closest("svg") === null)
  .filter((each) => each.getBoundingClientRect().right > each.parentElement.getBoundingClientRect().right + 1)
  .map((each) => each.outerHTML.slice(0, 200))"""
"""Returns the elements that are wider than what holds them."""
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def values_of(player: Any, position: Position) -> Any:
    return np.asarray(player.q_values(position.observation))[0]


def test_squares_show_values_and_results_without_colours_too(visit: Open, served: Site) -> None:
    page = visit("#player=unmasked&moves=5,1&seat=X&view=inside")
    player, position = load(served.runs / "unmasked"), read_board(Rules(), "O...X....")
    values = values_of(player, position).tolist()
    page.wait_for_function(SHOWN, arg=values)
    learned, exact = page.locator("#panel-inside figure").all()
    notes = learned.locator(".note").all_text_contents()
    assert [float(note.replace("\u2212", "-")) for note in notes] == [round(value, 2) for value in values]
    move = learned.locator("[data-cell]:has(.star)")
    assert move.get_attribute("data-cell") == str(int(np.asarray(player.act(position.observation))[0]))
    for cell, square in enumerate(exact.locator("[data-cell]").all()):
        result = exact_result(position, cell)
        assert square.get_attribute("data-exact") == result
        assert square.locator(".note").all_text_contents()[-1:] == [result] * (result is not None)
        assert square.locator(".hatching").count() == (result == "loss")
    fresh = page.locator(".board .mark.fresh").first
    assert fresh.evaluate("mark => getComputedStyle(mark).animationName") == "none"  # as the visitor wants no motion
    go_to(page, "#player=random&view=inside&moves=5,1&seat=X")
    expect(page.locator("#panel-inside .verdict")).to_contain_text("any of 7 squares, chosen at random")
    assert learned.locator(".star").count() == 7
    assert learned.locator("[data-value]").count() == 0


def test_the_slider_shows_snapshots(visit: Open, served: Site) -> None:
    page = visit("#player=trained&view=inside&moves=5,1&seat=X")
    folder, position = served.runs / "trained", read_board(Rules(), "O...X....")
    steps = snapshot_steps(folder)
    assert len(steps) >= 3
    slider = page.get_by_label("What it thought then")
    expect(slider).to_have_value(str(len(steps) - 1))
    for at in (0, 1, len(steps) - 1):
        slider.fill(str(at))
        expect(page.locator(".when")).to_contain_text(f"after {steps[at]:,} plies")
        page.wait_for_function(SHOWN, arg=values_of(load(folder, steps=steps[at]), position).tolist())
    go_to(page, f"#player=trained&view=inside&steps={steps[0]}")
    expect(slider).to_have_value("0")


def test_each_mistake_is_a_click_away(visit: Open, served: Site) -> None:
    number = mistakes.evaluate(player_policy(load(served.runs / "masked")), None)["mistakes"]["number"]
    page = visit("#player=masked&view=mistakes")
    expect(page.get_by_role("heading", name=f"{number:,} states with a mistake")).to_be_visible()
    cards = page.locator(".card")
    assert cards.first.inner_text().startswith("win \u2192 loss")
    assert cards.count() == 24
    page.get_by_role("button", name="Show 176 more").click()
    assert cards.count() == 200
    cards.nth(2).click()
    expect(page.locator("#panel-inside .verdict")).to_contain_text("gives the win away")
    expect(page.locator(".mistake-steps")).to_contain_text("3 of 200 mistakes shown")
    third = board_of(page)
    page.get_by_role("button", name="The next state").click()
    expect(page.locator(".mistake-steps")).to_contain_text("4 of 200")
    assert board_of(page) != third
    page.get_by_role("button", name="All mistakes").click()
    expect(cards.first).to_be_visible()
    go_to(page, "#player=shipped&view=mistakes")
    expect(page.locator("#panel-mistakes .verdict")).to_contain_text("PROVED UNBEATABLE AND OPTIMAL")
    expect(page.get_by_role("heading", name="0 states with a mistake")).to_be_visible()
    page.get_by_role("tab", name="Games lost").click()
    verdict = page.locator("#panel-games-lost .verdict")
    expect(verdict).to_have_text("Nothing beats it: it loses no game in either seat.")


def test_a_lost_game_is_stepped_through(visit: Open, served: Site) -> None:
    player = load(served.runs / "unmasked")
    games_lost = mistakes.evaluate(player_policy(player), player)["games_lost"]
    page = visit("#player=unmasked&view=games-lost")
    for mark, number in zip("XO", games_lost["number"], strict=True):
        expect(page.get_by_role("heading", name=f"As {mark}: {number:,} game")).to_be_visible()
    shown = page.locator(".games-lost").nth(1).locator(".game-lost")
    game = [game for game in games_lost["games"] if game["seat"] == 1][shown.count() - 1]
    shown.last.click()
    rows = page.locator(".plies tbody tr")
    learned = rows.evaluate_all("rows => rows.map((row) => row.children[2].dataset.value ?? null)")
    assert [json.loads(each or "null") for each in learned] == pytest.approx(game["learned"])
    for row, cell, exact in zip(rows.all(), game["cells"], game["exact"], strict=True):
        expect(row).to_contain_text(re.compile(rf"{cell + 1} .*{exact or ''}"))
        page.get_by_role("button", name="Forward", exact=True).click()
    expect(page.locator("#status")).to_contain_text("You win")
    page.get_by_role("button", name="To the move that loses").click()
    expect(page.locator("tr:has([aria-current])")).to_contain_text("loses here")


def test_a_run_is_followed_from_its_first_evaluation_to_its_end(visit: Open, served: Site, stopper: Stopper) -> None:
    page = visit("#player=masked&view=live")
    expect(page.locator("li[data-run=trained]")).to_be_visible()
    folder = served.runs / "begun"
    stopped(folder, stopper, [*DQN, "--mask"])
    for end in (False, True):
        if end:
            stopper.left = -1
            train.main(["--resume", str(folder)])
        last = metrics(folder)[-1]
        lost = sum(last[f"eval/{seat}/losses"] for seat in ("first", "second"))
        expect(page.locator("li[data-run=begun]")).to_contain_text(f"{last['plies']:,} plies: {lost:,} lost")
        game = json.loads((folder / "latest.json").read_text())["game"]
        section = page.locator(".latest-run", has=page.get_by_role("heading", name="begun", exact=True))
        cells = ", ".join(str(cell + 1) for cell in game)
        expect(section.get_by_role("img", name=f"Game {cells}:")).to_be_visible()
    plot = page.get_by_role("img", name="Games lost")
    assert f"begun {lost:,}" in (plot.get_attribute("aria-label") or "")
    dashes = plot.locator(".curve").evaluate_all("all => all.map(each => each.getAttribute('stroke-dasharray'))")
    assert len(dashes) == len(set(dashes)) >= 2  # told apart without colours
    page.get_by_role("checkbox", name="trained").uncheck()
    assert "trained" not in (plot.get_attribute("aria-label") or "")
    section.get_by_role("button", name="Step through it").click()
    expect(page.locator("#status")).to_have_text(f"After move 0 of {len(game)}")
    assert page.locator("#player option:checked").inner_text() == "begun, 3\u00d73"


def violations(page: Page, *rules: str) -> str:
    """Return what axe finds in the page by some rules, or else by all of the standards."""
    only = {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": STANDARDS}
    found = Axe().run(page, options={"resultTypes": ["violations"], "runOnly": only})
    return str(found.generate_report()) if found.violations_count else ""


def test_axe_finds_no_violation_in_any_part(visit: Open) -> None:
    """Neither on a small screen nor in dark colours, which only change contrasts."""
    page = visit("", width=390)
    for name, (link, sign) in PARTS.items():
        go_to(page, link)
        page.wait_for_selector(f"#panel-{name} {sign}")
        if name == "games-lost":
            page.locator(".game-lost").first.click()
        assert page.evaluate(OVERFLOWING) == [], name
    page.evaluate("document.querySelectorAll('.panel').forEach((panel) => { panel.hidden = false; })")  # all at once
    assert violations(page) == ""
    page.emulate_media(color_scheme="dark")
    assert violations(page, "color-contrast") == ""
    go_to(page, "#player=larger&view=game")
    page.get_by_role("button", name="Set up").click()
    assert violations(page) == ""
