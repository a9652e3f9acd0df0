"""What the page shows: the verdict, a position, the run behind a player, and mistakes; to everyone."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import selfplay
from selfplay.judge.ask import player_policy
from selfplay.judge.evaluate import search_seat
from selfplay.position import Position, read_board
from selfplay.runs.folder import CONFIG
from selfplay.runs.load import load, snapshot_steps
from selfplay.web import mistakes
from tests.selfplay.web.positions import exact_result, value
from tests.selfplay.web.visits import SHOWN, Site, board_of, go_to, press, says, violations, wait_for_turn
from tictactoe import Rules

Open = Callable[..., Page]

SCREENS = [
    "",
    "#player=trained&view=inside&moves=5,1&seat=X",
    "#player=masked&view=mistakes",
    "#player=shipped&view=beat&moves=1,2,5,3,9&seat=O",
    "#player=shipped&view=proof",
]


def values_of(player: Any, position: Position) -> Any:
    return np.asarray(player.q_values(position.observation))[0]


def test_the_page_opens_on_a_mistake_of_an_earlier_snapshot(visit: Open) -> None:
    page = visit()
    expect(page.locator("#player")).to_have_attribute("title", "shipped")
    says(page, "#headline", "believed")
    found = re.search(
        r"After ([\d,]+) plies .* square (\d) is worth .([\d.]+) .* It is a (\w+)", page.inner_text("#headline")
    )
    assert found is not None
    player = load("shipped", steps=int(found[1].replace(",", "")))
    position, cell = read_board(Rules(), board_of(page)), int(found[2]) - 1
    assert (cell, found[4]) == (player.act(position.observation)[0], exact_result(position, cell))
    assert f"{abs(values_of(player, position)[cell]):.2f}" == found[3]
    assert "draw" in [exact_result(position, other) for other in position.empty]
    press(page, "Show the punishment")
    says(page, "#status", "You win")
    press(page, "Step: watch it learn")
    expect(page.get_by_label("Watch it learn", exact=True)).to_have_value(
        "0"
    )  # from the beginning, not from the mistake
    press(page, "Play the finished player")
    expect(page.locator("#verdict .good")).to_contain_text("UNBEATABLE")
    assert board_of(page) == "." * 9


def test_the_verdict_leads_into_a_lost_game(visit: Open, served: Site) -> None:
    page = visit("#player=random")
    assert page.locator(".time-bar").is_hidden()
    page.get_by_role("button", name="Shipped player").click()
    expect(page.locator(".time-bar")).to_be_visible()
    go_to(page, "#player=unmasked&moves=5,1&seat=X")
    ways = mistakes.evaluation(player_policy(load(served.runs / "unmasked")))["ways"]
    says(page, "#verdict .bad", f"{sum(ways):,} ways")
    press(page, "Show me one")
    says(page, "#panel-inside .verdict", re.compile("away|taken"))
    press(page, "Show the punishment")
    says(page, "#status", "You win")


def test_the_maps_show_what_the_player_has_learned_and_what_is_true(visit: Open, served: Site) -> None:
    page = visit("#player=unmasked&moves=5,1&seat=X&view=inside")
    player, position = load(served.runs / "unmasked"), read_board(Rules(), "O...X....")
    values = values_of(player, position).tolist()
    page.wait_for_function(SHOWN, arg=values)
    learned, exact, beside = page.locator("#panel-inside figure").all()
    for cell in position.empty:
        text = learned.locator(f"[data-cell='{cell}'] .note").text_content() or ""
        assert float(text.replace("\u2212", "-")) == round(values[cell], 2)
    move = learned.locator("[data-cell]:has(.star)")
    assert move.get_attribute("data-cell") == str(int(np.asarray(player.act(position.observation))[0]))
    results = exact.locator("[data-cell]").evaluate_all("all => all.map(each => each.dataset.exact ?? null)")
    assert results == [exact_result(position, cell) for cell in range(9)]
    page.get_by_label("Beside it").select_option(label="Shipped player")
    expect(beside.locator("[data-value]")).to_have_count(9)
    shown = beside.locator("[data-value]").evaluate_all("all => all.map(each => Number(each.dataset.value))")
    assert shown == pytest.approx(values_of(load("shipped"), position).tolist(), abs=1e-5)


@pytest.mark.slow
def test_the_time_bar_shows_and_plays_snapshots(visit: Open, served: Site) -> None:
    page = visit("#player=trained&view=inside&moves=5,1&seat=X")
    folder, position = served.runs / "trained", read_board(Rules(), "O...X....")
    steps = snapshot_steps(folder)
    bar = page.get_by_label("Watch it learn", exact=True)
    expect(bar).to_have_value(str(len(steps) - 1))
    for at in (0, 1, len(steps) - 1):
        bar.fill(str(at))
        player = load(folder, steps=steps[at])
        page.wait_for_function(SHOWN, arg=values_of(player, position).tolist())
        for place in (".when", "#verdict"):  # also of a snapshot between two evaluations of the run
            says(page, place, f" {selfplay.evaluate(player).ways_to_beat:,} ways to beat it")
    go_to(page, f"#player=trained&view=inside&moves=5,1&steps={steps[0]}")
    expect(bar).to_have_value("0")
    press(page, "Step: watch it learn")  # instead of motion
    expect(bar).to_have_value("1")
    page.emulate_media(reduced_motion="no-preference")
    press(page, "watch it learn")
    expect(bar).to_have_value(str(len(steps) - 1))


def test_each_kind_of_mistake_is_a_click_away(visit: Open, served: Site) -> None:
    found = mistakes.evaluation(player_policy(load(served.runs / "masked")))
    losing = [group for group in found["groups"] if group["games"]]
    page = visit("#player=masked&view=mistakes")
    cards = page.locator(".cards").first.locator(".card")
    expect(cards).to_have_count(24)
    page.get_by_role("button", name=f"Show {len(losing) - 24} more").first.click()
    expect(cards).to_have_count(len(losing))
    expect(cards.nth(2)).to_contain_text(re.compile(rf"plays {losing[2]['move'] + 1}\D.*{losing[2]['games']} game"))
    cards.nth(2).click()
    assert board_of(page) == losing[2]["board"]
    press(page, "The next mistake")
    expect(page.locator(".mistake-steps")).to_contain_text(f"4 of {len(found['groups'])}")
    assert board_of(page) == losing[3]["board"]
    press(page, "All mistakes")
    page.locator(".cards").last.locator(".card").first.click()  # of a move that loses no game of its own play
    press(page, "Show the punishment")
    expect(page.locator("#status")).to_have_text(re.compile("You win|You lose|It wins|A draw"))


def test_following_the_hints_wins_and_shows_where_the_player_went_wrong(visit: Open) -> None:
    page = visit("#player=unmasked&view=beat")
    expect(page.locator(".rung")).to_have_count(4)  # random, heuristic, itself, the shipped one: a run of no snapshots
    while wait_for_turn(page).startswith("Your move"):
        press(page, "Hint")
        page.locator(".board [aria-label*='the hint']").first.click()
    says(page, "#status", "You win")
    expect(page.locator(".turns .flag").first).to_contain_text(
        re.compile(r"it: O\d (gives the draw away|marks a taken)")
    )
    says(page, ".rung[aria-current]", "beaten")
    go_to(page, "#player=shipped&view=beat&moves=1,2,5,3,9&seat=O")
    says(page, ".turns .flag", "you: O2 gives the draw away")
    worths = page.locator(".strip .move").evaluate_all("all => all.map(each => each.className.split(' ')[2])")
    position, expected = Position(Rules()), []
    for cell in (0, 1, 4, 2, 8):
        position = position.after(cell)
        expected.append({1: "win", 0: "draw", -1: "loss"}[value(position) * (1 if position.seat == 1 else -1)])
    assert worths == expected
    expect(page.locator(".strip .turning")).to_have_count(1)
    go_to(page, "#player=shipped&view=beat&moves=1,2,5,3&seat=O")
    expect(page.locator(".strip .move")).to_have_count(5)  # it answers, and the game is over again
    go_to(page, "#player=shipped&view=beat&moves=1,2,5&seat=O")
    expect(page.locator(".strip .move")).to_have_count(3)
    expect(page.locator(".strip .key")).to_have_count(0)  # what is true would be a hint
    go_to(page, "#player=shipped&view=beat&moves=1,2,5,3,9&seat=O")
    page.get_by_role("button", name="Try that move again").first.click()
    assert board_of(page) == "X........"


@pytest.mark.parametrize("name", ["shipped", "masked"])
def test_the_tour_follows_each_position_of_both_seats_down_to_none(visit: Open, served: Site, name: str) -> None:
    """Those of which a reply beats the player have a cross, as the exact search says."""
    page = visit(f"#player={name}&view=proof")
    player = load("shipped" if name == "shipped" else served.runs / name)
    verdict = selfplay.evaluate(player)
    policy = replace(player_policy(player), symmetric=False)  # every position is wanted, not one image of each
    for seat, mark in enumerate("XO"):
        plies = search_seat(policy, seat, 10**6)[1]
        reached = sum(len(ply.mine) for ply in plies)
        page.get_by_role("button", name=f"As {mark}: {reached} positions").click()
        left = page.get_by_label("Positions followed")
        expect(left).to_have_attribute("max", str(reached))
        expect(page.locator(".tour .dot")).to_have_count(reached)
        page.locator("#panel-proof").get_by_role("button", name="Step").click()
        left.press("ArrowRight")
        expect(page.locator(".tour .good, .tour .bad")).to_have_count(2)
        press(page, "Skip to the end")
        expect(page.locator(".tour .good, .tour .bad")).to_have_count(reached)
        beaten = (verdict.first, verdict.second)[seat].ways_to_beat > 0
        assert (page.locator(".tour .bad").count() > 0) == beaten


def test_the_tour_is_not_of_players_without_one_move(visit: Open) -> None:
    page = visit("#player=random&view=proof")
    says(page, "#panel-proof .verdict", "several moves")
    expect(page.locator(".tour")).to_be_hidden()


def test_a_run_without_a_player_yet_and_a_damaged_one_are_listed(visit: Open, served: Site) -> None:
    for name, content in (("waiting", (served.runs / "masked" / CONFIG).read_text()), ("damaged", "{")):
        (served.runs / name).mkdir()
        (served.runs / name / CONFIG).write_text(content)
    page = visit("#player=masked")
    says(page, "#player option[title=waiting]", "no player yet")
    expect(page.locator(".damaged li")).to_have_count(1)
    says(page, ".damaged summary", "damaged")
    for name in ("waiting", "damaged"):
        shutil.rmtree(served.runs / name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_and_a_phone_needs_no_scrolling_to_the_side(
    visit: Open, served: Site, scheme: Literal["light", "dark"]
) -> None:
    page = visit(width=390)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for screen in SCREENS:
        page.goto("about:blank")
        page.goto(served.address + screen)
        page.wait_for_selector("#verdict .good, #verdict .bad")
        assert violations(page) == [], screen
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), screen
