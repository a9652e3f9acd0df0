"""What the page shows: the verdict, a position, the run behind a player, mistakes, and runs; to everyone."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from selfplay.cli import train
from selfplay.judging.agents import player_policy
from selfplay.learning import folder as run_folder
from selfplay.learning.api import load, snapshot_steps
from selfplay.position import Position, read_board
from selfplay.tabular.config import TDBackupConfig
from selfplay.web import mistakes
from tests.runs import DQN, Stopper, metrics, stopped
from tests.selfplay.web.positions import exact_result
from tests.selfplay.web.visits import SHOWN, Site, board_of, go_to, press, says, violations, wait_for_turn
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

Open = Callable[..., Page]

SCREENS = """
#player=trained&view=inside&moves=5,1&seat=X | #beside press ArrowDown | figure:nth-of-type(3) [data-value]
#player=masked&view=mistakes | .card
#player=trained&view=beat&moves=1,2,5,3,9&seat=X | text=Hint | #panel-beat .turning
#player=masked&view=live | #panel-live .plot
#player=larger | summary | text=Set up | .board [data-cell='0'] | .board [data-cell='0'] | .setting-up .advice
#player=shipped | #verdict .good
#player=shipped&view=mistakes | #panel-mistakes .verdict
#player=shipped&view=beat | .rung
#player=shipped&view=beat&moves=1,2,5,3,9&seat=O | .turning
#player=shipped&view=beat&moves=5,1,2,8,3,7,4,6,9&seat=X | #panel-beat .plies
#player=masked&view=beat&moves=1,4,2,5,3&seat=X | #panel-beat .plies
#player=trained&view=inside&moves=5,1&seat=X | .heat-map
#player=trained&view=beat&moves=5,1&seat=X | text=Hint | .advice:visible
#player=trained&moves=5,1,9,3&at=2 | text=After move 2 of 4
#player=trained&moves=5,1&seat=X | summary | text=Copy a link
#player=trained&moves=5,1&seat=X | summary | #thinks press Space | .board .coloured
#player=masked&moves=5,1&seat=X | summary | text=Set up | text=Done
#player=masked | #help | dialog[open]
#player=trained&steps=320 | #verdict .bad
#player=trained&steps=320&view=inside&moves=5,1 | .heat-map
#player=trained&steps=320&view=mistakes | .card
#player=trained&steps=320 | .watch | .when
#player=masked&view=mistakes | text=/Show [0-9,]+ more/ | .card >> nth=60
#player=masked&view=mistakes | .card | .mistake-steps
#player=masked&view=mistakes | .card | text=Show the punishment | #panel-beat .plies, #panel-inside .verdict
#player=unmasked | text=Show me one | #panel-inside .verdict
#player=masked&view=live | #panel-live .link >> nth=1 | #panel-live h3
#player=masked&view=live | text=Step through it | #status
#player=larger&view=inside | .heat-map
#player=larger&view=mistakes | .card
#player=larger&view=beat&moves=1,2&seat=X | .rung
#player=random&view=inside&moves=5,1&seat=X | #panel-inside figure
#player=random&view=mistakes | .card
#player=optimal&view=beat | .rung
#player=nobody | text=There is no player nobody here.
""".strip().splitlines()
"""Links, what is pressed there one after the other, by Enter or as said, and what is then to be seen."""
WIDTHS = (390, 768, 1_000, 1_920)
FAULTS = """() => {
  scrollTo(0, 0); // else the board, which stays in sight, lies over the panels
  const top = document.querySelector("dialog[open]") ?? document.body;
  const all = [...top.querySelectorAll("*:not(.unseen)")].filter((each) => each.checkVisibility());
  const parts = all.filter((each) => each.parentElement.closest("svg") === null && each.getClientRects().length);
  const wide = parts.filter((each) => {
    const holder = each.parentElement.closest(":not(#table)");
    return each.getBoundingClientRect().right > holder.getBoundingClientRect().right + 1;
  });
  const seen = all.filter((each) => each.matches("button, select, input, summary, label, h1, h2, h3, p, .square"))
    .filter((each) => getComputedStyle(each).clipPath === "none")
    .map((each) => [each, each.getBoundingClientRect()]);
  const meet = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
  const over = seen.flatMap(([one, place], i) => seen.slice(i + 1)
    .filter(([other, there]) => meet(place, there) && !one.contains(other) && !other.contains(one))
    .map(([other]) => [one, other]));
  const narrow = document.getElementById("player").offsetWidth < 150 ? ["the list of players"] : [];
  const scrolls = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
  return [...narrow, ...scrolls, ...[...wide, ...over.flat()].map((each) => each.outerHTML.slice(0, 200))];
}"""
"""Returns what is wider than its holder or the window, what lies over each other, and a list without room."""


def values_of(player: Any, position: Position) -> Any:
    return np.asarray(player.q_values(position.observation))[0]


def test_the_page_opens_on_a_verdict_and_leads_into_a_lost_game(visit: Open, served: Site) -> None:
    page = visit()
    expect(page.locator("#player option:checked")).to_have_text("Shipped player, 3\u00d73")
    expect(page.locator("#headline")).to_have_text("Nobody can beat this player. Try.")
    expect(page.locator("#verdict")).to_have_text("PROVED UNBEATABLE, 0 games lost")
    assert page.locator(".time-bar").is_hidden()
    page.get_by_role("button", name=re.compile("Watch DQN")).click()
    expect(page.locator(".time-bar")).to_be_visible()
    go_to(page, "#player=unmasked&moves=5,1&seat=X")
    lost = mistakes.evaluate(player_policy(load(served.runs / "unmasked")))["lost"]
    expect(page.locator("#headline")).to_have_text("This player can be beaten. Try.")
    says(page, "#verdict", f"CAN BE BEATEN in {sum(lost):,} ways")
    press(page, "Show me one")
    says(page, ".mistake-steps", "Mistake 1 of")
    says(page, "#panel-inside .verdict", re.compile("away|taken"))
    press(page, "Show the punishment")
    says(page, "#status", "You win")


def test_squares_show_values_and_results_without_colours_too(visit: Open, served: Site) -> None:
    page = visit("#player=unmasked&moves=5,1&seat=X&view=inside")
    player, position = load(served.runs / "unmasked"), read_board(Rules(), "O...X....")
    values = values_of(player, position).tolist()
    page.wait_for_function(SHOWN, arg=values)
    learned, exact, _ = page.locator("#panel-inside figure").all()
    for cell, square in enumerate(learned.locator("[data-cell]").all()):
        notes = square.locator(".note").all_text_contents()
        if cell in position.empty:
            assert float(notes[0].replace("\u2212", "-")) == round(values[cell], 2)
        else:
            assert notes == ["avoids"] * (values[cell] < -1)
    move = learned.locator("[data-cell]:has(.star)")
    assert move.get_attribute("data-cell") == str(int(np.asarray(player.act(position.observation))[0]))
    for cell, square in enumerate(exact.locator("[data-cell]").all()):
        result = exact_result(position, cell)
        meaning = "loss" if values[cell] < -0.5 else "draw" if values[cell] < 0.5 else "win"
        assert square.get_attribute("data-exact") == result
        assert square.locator(".note").all_text_contents()[-1:] == [result] * (result is not None)
        assert square.locator(".hatching").count() == (result == "loss")
        for figure in (learned, exact):
            differs = figure.locator(f"[data-cell='{cell}'] .differs").count()
            assert differs == (result is not None and result != meaning)
    fresh = page.locator(".board .mark.fresh").first
    assert fresh.evaluate("mark => getComputedStyle(mark).animationName") == "none"  # as the visitor wants no motion
    page.get_by_label("Beside it").select_option(label="Shipped player")
    beside = values_of(load("shipped"), position)
    expect(page.locator("#panel-inside figure").nth(2).locator("[data-value]")).to_have_count(9)
    shown = page.locator("#panel-inside figure").nth(2).locator("[data-value]")
    assert shown.evaluate_all("all => all.map(each => Number(each.dataset.value))") == pytest.approx(
        beside.tolist(), abs=1e-5
    )


def test_the_time_bar_shows_and_plays_snapshots(visit: Open, served: Site) -> None:
    page = visit("#player=trained&view=inside&moves=5,1&seat=X")
    folder, position = served.runs / "trained", read_board(Rules(), "O...X....")
    steps = snapshot_steps(folder)
    assert len(steps) > 20
    bar = page.get_by_label("Watch it learn", exact=True)
    expect(bar).to_have_value(str(len(steps) - 1))
    for at in (0, 7, len(steps) - 1):
        bar.fill(str(at))
        says(page, ".when", f"after {steps[at]:,} plies")
        page.wait_for_function(SHOWN, arg=values_of(load(folder, steps=steps[at]), position).tolist())
    says(page, ".when", f"{metrics(folder)[-1]['eval/games_lost']:,} games lost")
    go_to(page, f"#player=trained&view=inside&moves=5,1&steps={steps[4]}")
    expect(bar).to_have_value("4")
    press(page, "Step: watch it learn")  # instead of motion
    expect(bar).to_have_value("5")
    expect(page.locator(".board .coloured")).to_have_count(7)
    page.emulate_media(reduced_motion="no-preference")
    page.get_by_label("Speed").select_option("fast")
    press(page, "watch it learn")
    expect(bar).to_have_value(str(len(steps) - 1))
    says(page, "#verdict", f"trained {steps[-1]:,} plies")
    go_to(page, "#player=trained&view=mistakes")
    says(page, "#panel-mistakes .verdict", "unbeatable")
    page.get_by_label("Speed").select_option("slow")
    press(page, "watch it learn")
    says(page, "#panel-mistakes [role=status]", "Pause to see the mistakes of the player on the board")
    press(page, "Pause")
    expect(page.get_by_text("Pause to see the mistakes")).to_be_hidden()


def test_each_kind_of_mistake_is_a_click_away(visit: Open, served: Site) -> None:
    found = mistakes.evaluate(player_policy(load(served.runs / "masked")))
    losing = [group for group in found["groups"] if group["games"]]
    page = visit("#player=masked&view=mistakes")
    expect(page.get_by_role("heading", name=f"{len(losing):,} moves by which it loses")).to_be_visible()
    cards = page.locator(".cards").first.locator(".card")
    assert cards.count() == 24
    page.get_by_role("button", name=f"Show {len(losing) - 24} more").first.click()
    assert cards.count() == len(losing)
    expect(cards.nth(2)).to_contain_text(f"loses {losing[2]['games']} game")
    expect(cards.nth(2)).to_contain_text(
        re.compile(rf"plays {losing[2]['move'] + 1}, believes .*(win|draw) \u2192 loss")
    )
    cards.nth(2).click()
    says(page, ".mistake-steps", f"Mistake 3 of {len(found['groups'])}")
    assert board_of(page) == losing[2]["board"]
    press(page, "The next mistake")
    says(page, ".mistake-steps", "Mistake 4 of")
    assert board_of(page) == losing[3]["board"]
    press(page, "All mistakes")
    page.locator(".cards").last.locator(".card").first.click()  # of a move that loses no game of its own play
    press(page, "Show the punishment")
    expect(page.locator("#status")).to_have_text(re.compile("You win|You lose|It wins|A draw"))
    go_to(page, "#player=shipped&view=mistakes")
    says(page, "#panel-mistakes .verdict", "PROVED UNBEATABLE AND OPTIMAL")


def test_whoever_follows_the_hints_wins_and_sees_what_was_given_away(visit: Open) -> None:
    page = visit("#player=unmasked&view=beat")
    expect(page.locator(".rung")).to_have_count(4)  # random, heuristic, itself, the shipped one: a run of no snapshots
    expect(page.locator(".rung").last).to_contain_text("proved: no way to win")
    while wait_for_turn(page).startswith("Your move"):
        press(page, "Hint")
        page.locator(".board [aria-label*='the hint']").click()
    assert "You win" in page.locator("#status").inner_text()
    expect(page.locator(".plies .flag").first).to_contain_text(re.compile("it: (gives the draw away|marks a taken)"))
    says(page, ".rung[aria-current]", "beaten")
    go_to(page, "#player=shipped&view=beat&moves=5,1&seat=X")
    press(page, "Hint")
    expect(page.locator(".advice").first).to_contain_text("No way to beat it is known from here; square 2")
    page.locator("#player").select_option(label="Random, 3\xd73")
    expect(page.locator(".advice").first).to_be_hidden()  # it was about the other player
    go_to(page, "#player=shipped&view=beat&moves=1,2,5,3,9&seat=O")
    says(page, ".plies .turning", "you: gives the draw away")
    page.get_by_role("button", name="Try that move again").first.click()
    assert board_of(page) == "X........"


def test_a_run_is_followed_from_its_first_evaluation_to_its_end(visit: Open, served: Site, stopper: Stopper) -> None:
    page = visit("#player=masked&view=live")
    stage = page.locator(".live-stage")
    page.wait_for_selector("h3[title=trained]")
    says(page, "tr[data-run=masked]", re.compile(r"[\d,]+$"))  # evaluated, without metrics
    folder = served.runs / "begun"
    stopped(folder, stopper, [*DQN, "--mask"])
    for end in (False, True):
        if end:
            stopper.left = -1
            train.main(["--resume", str(folder)])
        last = metrics(folder)[-1]
        lost = last["eval/games_lost"]
        page.wait_for_selector("h3[title=begun]")  # it takes the stage
        expect(stage).to_contain_text(f"{last['plies']:,} of at most 2,400 plies")
        expect(stage).to_contain_text(f"games lost{lost:,}")
        game = json.loads((folder / "latest.json").read_text())["game"]
        cells = ", ".join(str(cell + 1) for cell in game)
        expect(page.get_by_role("img", name=f"Game {cells}:")).to_be_visible()
    plot = page.get_by_role("img", name="Games lost")
    assert f" {lost:,}" in (plot.get_attribute("aria-label") or "")
    page.locator(".run-chip[title=trained]").click()
    dashes = plot.locator(".curve").evaluate_all("all => all.map(each => each.getAttribute('stroke-dasharray'))")
    assert len(dashes) == len(set(dashes)) == 2  # told apart without colours
    page.locator(".run-chip[title=trained]").click()
    expect(plot.locator(".curve")).to_have_count(1)
    page.locator("#panel-live tr[data-run=trained] button").click()
    page.wait_for_selector("#panel-live tr[data-run=begun]:first-child")  # the newest
    page.locator("#tab-inside").click()
    page.locator("#tab-live").click()
    page.wait_for_selector("h3[title=trained]")  # as it was
    page.locator("#panel-live tr[data-run=begun] button").click()
    press(page, "Step through it")
    assert page.locator("#player").get_attribute("title") == "begun"


def test_an_answer_that_comes_late_is_not_shown_for_another_player(visit: Open) -> None:
    """What is written for the first player about the second would be an error in the console."""
    page = visit()
    late = []
    page.route(re.compile("history|evaluation"), lambda route: late.append(route))  # noqa: PLW0108 (it sets an attribute)
    go_to(page, "#player=trained&view=mistakes")
    go_to(page, "#player=larger")
    expect(page.locator(".time-bar")).to_be_hidden()
    with page.expect_response(re.compile("evaluation")):
        for route in late:
            route.continue_()
    go_to(page, "#player=shipped")
    says(page, "#verdict", "PROVED UNBEATABLE")


def test_a_run_without_a_player_yet_is_no_failure(visit: Open, served: Site) -> None:
    page = visit("#player=masked&view=live")
    page.wait_for_selector(".live-stage h3")
    waiting = served.runs / "waiting"
    waiting.mkdir()
    run_folder.write_config(waiting, TDBackupConfig(), {})
    says(page, ".live-stage", "0 of at most 100,000 games")
    expect(page.locator(".run-chip:visible")).to_have_count(0)  # as games and plies share no axis
    says(page, "#player option[title=waiting]", "has no player yet")
    assert page.locator(".damaged").count() == 0
    (waiting / "config.json").unlink()


def test_every_player_fits_at_every_width(visit: Open) -> None:
    """The list of players keeps its room, and nothing lies over anything."""
    page = visit()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for name in ("shipped", *OPPONENTS, "trained"):
            go_to(page, f"#player={name}&moves=5,1&seat=X")
            expect(page.locator("#player")).to_have_attribute("title", name)
            says(page, "#verdict .chip", re.compile("PROVED|BEATEN"))
            assert page.evaluate(FAULTS) == [], (width, name)


def test_on_a_phone_the_board_stays_in_sight(visit: Open) -> None:
    page = visit("#player=unmasked&view=mistakes", width=390)
    page.locator(".card").nth(20).scroll_into_view_if_needed()
    assert 0 <= page.locator("#board").evaluate("board => board.getBoundingClientRect().top") < 100
    assert page.get_by_role("tab").evaluate_all("tabs => new Set(tabs.map((tab) => tab.offsetTop)).size") == 1


@pytest.mark.parametrize(
    ("width", "screens"),
    [(390, SCREENS[:5]), *(pytest.param(width, SCREENS, marks=pytest.mark.axe) for width in (390, 1_400))],
)
def test_axe_finds_no_violation_on_any_screen(visit: Open, served: Site, width: int, screens: list[str]) -> None:
    page = visit(width=width)
    for screen in screens:
        link, *presses, seen = screen.split(" | ")
        page.goto("about:blank")
        page.goto(served.address + link)
        for each in presses:
            selector, _, key = each.partition(" press ")
            page.locator(selector).first.press(key or "Enter")
        page.locator(seen).first.wait_for()
        assert page.evaluate(FAULTS) == [], screen
        found = violations(page)
        page.emulate_media(color_scheme="dark")
        found += violations(page)
        page.emulate_media(color_scheme="light")
        assert found == [], screen
