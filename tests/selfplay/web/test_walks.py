"""What people do on the page, each from its beginning to its end: play, look inside, go back, and watch it learn."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import selfplay
from selfplay.named_players import run_folder
from selfplay.position import Position
from selfplay.runs.load import load, snapshot_steps
from selfplay.verdict_text import NAMES
from selfplay.web.page import document, write_page
from selfplay.web.page_server import PageServer
from selfplay.web.player_data import players_data
from tests.runs import saved
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.web.position_oracle import outcome, position_of, texts, truth, without_last
from tests.selfplay.web.visits import (
    Site,
    board_of,
    go_to,
    press,
    says,
    shows_values,
    spoken,
    square,
    violations,
    wait_for_turn,
    watched,
)
from tictactoe import Rules

Open = Callable[..., Page]
BAD_LINKS = {
    "#player=nobody": "nobody",
    "#player=masked&board=XX.......": "X has 2 marks",
    "#player=masked&moves=1,99": "99",
    "#player=masked&moves=1,4,2,5,3,6": "move 6",
    "#player=masked&moves=1,<b>": "NaN",
    "#player=masked&board=" + "X" * 2000: "3 by 3",
}
HOSTILE = "<!--<script><img src=x onerror=alert(1)></script>'\"&amp;\u2028\u202e\x1b[2J\n"
BREAK = """async () => {
    const found = [];
    document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "window.broken = 1";
    const picture = document.createElement("img");
    picture.src = "https://example.org/picture.png";
    document.body.append(script, picture);
    await fetch("https://example.org/").catch(() => {});
    await new Promise((done) => setTimeout(done));
    return [found.sort(), window.broken ?? null];
}"""
"""Tries what the page's policy forbids, and returns what was."""
SCREENS = [
    "#player=shipped",
    "#player=trained&view=inside&moves=5,1&seat=X",
    "#player=unmasked&view=mistakes",
    "#player=shipped&view=beat&moves=1,2,5,3,9&seat=O",
    "#player=shipped&view=playground&target=article",
]


def values_of(player: Any, position: Position) -> list[float]:
    values: list[float] = np.asarray(player.q_values(position.observation))[0].tolist()
    return values


def worth(position: Position, cell: int) -> str:
    """Return what a move is worth to the seat that makes it."""
    return NAMES[-outcome(without_last(position.after(cell)))[0]]


def overrated_draw() -> str:
    """Return a position in which the proved player takes a draw for a win."""
    player = load("shipped")
    for board in texts(ABSOLUTE)[::20]:
        position = position_of(Rules(), board)
        values = values_of(player, position)
        if any(values[cell] > 0.6 and worth(position, cell) == "draw" for cell in position.legal):
            return board
    raise AssertionError


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def test_it_opens_on_the_proved_player_and_the_mistake_of_an_early_one_is_a_click_away(visit: Open) -> None:
    page = visit()
    says(page, "#headline", "Can you beat it?")
    says(page, "#verdict .good", "UNBEATABLE")
    expect(page.locator("#player")).to_have_attribute("title", "shipped")
    for name in ("Undo", "Hint"):  # without scrolling
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 900
    press(page, "See a mistake that it made after")
    found = re.fullmatch(
        r"After ([\d,]+) plies this player .* square (\d) is worth .([\d.]+) to .*It is a (\w+)\.",
        page.inner_text("#headline"),
    )
    assert found is not None
    player = load("shipped", steps=int(found[1].replace(",", "")))
    position, cell = position_of(Rules(), board_of(page)), int(found[2]) - 1
    assert (cell, found[4]) == (player.act(position.observation)[0], worth(position, cell))
    assert abs(values_of(player, position)[cell]) == pytest.approx(float(found[3]), abs=0.1)
    press(page, "Show the punishment")
    says(page, "#status", "You win")
    press(page, "Play the finished player")
    says(page, "#verdict .good", "UNBEATABLE")
    assert board_of(page) == "." * 9


@pytest.mark.parametrize("ended", [False, True])
def test_a_game_belongs_to_who_played_it_and_comes_back_with_its_player(visit: Open, ended: bool) -> None:
    page = visit()
    go_to(page, f"#player=shipped&seat=O&moves=1,5,2,3,4,{'7' if ended else '6&at=5'}")
    before, moves, player = board_of(page), page.locator(".strip .move"), page.locator("#player")
    bar = page.get_by_label("Watch it learn", exact=True)
    for leave, back in (
        (lambda: player.select_option(label="Heuristic, 3\u00d73"), lambda: press(page, "Undo")),
        (lambda: bar.fill("3"), page.go_back),
    ):
        leave()
        says(page, "#advice", "another player")
        assert board_of(page) == ("." * 9 if ended else before)
        expect(page.locator(".strip .move, .turns .flag")).to_have_count(0)
        back()
        expect(moves).to_have_count(6)
        expect(player).to_have_attribute("title", "shipped")
        expect(bar).to_have_value("7")
        assert board_of(page) == before
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    expect(moves).to_have_count(6)


def test_back_goes_through_tabs_games_and_mistakes(visit: Open) -> None:
    page = visit("#player=masked")
    tab(page, "Mistakes")
    page.locator(".card").first.click()
    mistake = board_of(page)
    press(page, "You start")
    assert board_of(page) == "." * 9
    page.go_back()
    expect(page.locator("#panel-inside")).to_be_visible()
    assert board_of(page) == mistake
    says(page, ".mistake-steps", "Mistake 1 of")
    page.go_back()
    expect(page.locator("#panel-mistakes")).to_be_visible()
    page.go_back()
    expect(page.locator("#panel-beat")).to_be_visible()


def test_a_game_is_played_to_its_end_by_the_keyboard_alone(visit: Open) -> None:
    page = visit("#player=masked")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.cell"):
            break
    status, keys = wait_for_turn(page), ["Enter", "Space"]
    while status.startswith("Your move"):
        target = board_of(page).rindex(".")
        ways = ["End", "ArrowLeft", "Home", *["ArrowUp"] * 2]  # to the first square, beyond which no key leads
        ways += ["ArrowDown"] * (target // 3) + ["ArrowRight"] * (target % 3)
        for key in [*ways, keys[board_of(page).count("X") % 2]]:
            page.keyboard.press(key)
        status = wait_for_turn(page)
    winner = position_of(Rules(), board_of(page)).winner
    assert status == {None: "A draw.", 0: "You win.", 1: "It wins."}[winner]
    assert status in spoken(page)[-1]
    expect(square(page, target)).to_be_focused()
    assert square(page, target).locator(".focus-frame").evaluate("frame => getComputedStyle(frame).display") != "none"
    assert page.locator(".board [tabindex='0']").count() == 1


def test_keys_play_hint_undo_and_step_also_after_a_click_on_the_bar_or_the_list(visit: Open) -> None:
    page = visit("#player=trained")
    page.keyboard.press("5")
    assert wait_for_turn(page).endswith("X.")
    assert board_of(page)[4] == "X"
    page.keyboard.press("ArrowLeft")
    says(page, "#status", "After move 1 of 2")
    page.keyboard.press("ArrowRight")
    page.get_by_label("Watch it learn", exact=True).click()
    page.keyboard.press("n")
    assert board_of(page) == "." * 9
    page.locator("#player").click()
    page.locator("#player").select_option(label="Random, 3\u00d73")
    page.keyboard.press("Escape")  # closes the list, as a click on a name does
    page.keyboard.press("1")
    wait_for_turn(page)
    assert board_of(page)[0] == "X"
    page.keyboard.press("h")
    expect(page.locator("#advice")).not_to_have_text("")
    page.keyboard.press("u")
    assert board_of(page) == "." * 9
    page.keyboard.press("?")
    says(page, "#keys", "Way to beat it")
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("9")
    assert board_of(page) == "." * 9


def test_moves_are_refused_undone_and_gone_back_to(visit: Open) -> None:
    page = visit("#player=masked")
    undo = page.get_by_role("button", name="Undo")
    for _ in range(2):
        before = board_of(page)
        square(page, before.index(".")).click()
        wait_for_turn(page)
    undo.click()
    assert board_of(page) == before
    undo.click()
    assert board_of(page) == "." * 9
    assert undo.get_attribute("aria-disabled") == "true"
    go_to(page, "#player=masked&seat=X&moves=5,1,9,3")
    square(page, 4).click(force=True)
    says(page, "#advice", "Square 5 is taken")
    assert board_of(page) == "O.O.X...X"
    press(page, "O, square 1")
    assert board_of(page) == "O...X...."
    press(page, "Forward")
    press(page, "Forward")
    assert board_of(page) == "O.O.X...X"
    press(page, "Back")
    square(page, 1).click()  # in an earlier position O plays another move, and later moves are dropped
    assert wait_for_turn(page).endswith("O.")
    assert board_of(page)[:3] == "OO."


def test_hints_lead_to_a_win_and_the_strip_says_where_a_game_turned(visit: Open) -> None:
    page = visit()
    press(page, "Hint")
    says(page, "#advice", "A corner: only 1 of 8 replies holds.")
    go_to(page, "#player=unmasked")
    while wait_for_turn(page).startswith("Your move"):
        press(page, "Hint")
        page.locator(".board [aria-label*='the hint']").first.click()
    says(page, "#status", "You win")
    expect(page.locator(".turns .flag").first).to_contain_text(
        re.compile(r"It: O\d (gives the \w+ away|marks a taken)")
    )
    says(page, ".rung[aria-current]", "Beaten")
    go_to(page, "#player=shipped&moves=1&seat=O")
    square(page, 1).click()
    says(page, "#advice", "That move gave the draw away.")
    expect(page.locator(".strip .key")).to_have_count(0)  # what is true would be a hint
    wait_for_turn(page)  # a reply that comes while a link is followed would write its own address over it
    go_to(page, "#player=shipped&moves=1,5,9,2,8,7,3,6,4&seat=O")
    says(page, "#status", "Nobody can do better")
    go_to(page, "#player=shipped&moves=1,2,5,3,9&seat=O")
    says(page, ".turns .flag", "You: O2 gives the draw away")
    worths = page.locator(".strip .move").evaluate_all("all => all.map(each => each.className.split(' ')[2])")
    position, expected = Position(Rules()), []
    for cell in (0, 1, 4, 2, 8):
        expected.append(worth(position, cell))
        position = position.after(cell)
    assert worths == expected
    press(page, "Try that move again")
    assert board_of(page) == "X........"


def test_the_maps_show_what_a_player_has_learned_and_what_is_true(visit: Open, site: Site) -> None:
    page = visit("#player=unmasked&moves=5,1&seat=X&view=inside")
    player, position = load(site.runs / "unmasked"), position_of(Rules(), "O...X....")
    values = values_of(player, position)
    shows_values(page, values, 1e-5)
    learned, exact, beside = page.locator("#panel-inside figure").all()
    for cell in position.legal:
        text = learned.locator(f"[data-cell='{cell}'] .note").text_content() or ""
        assert float(text.replace("\u2212", "-")) == round(values[cell], 2)
    move = learned.locator("[data-cell]:has(.star)")
    assert move.get_attribute("data-cell") == str(int(np.asarray(player.act(position.observation))[0]))
    results = exact.locator("[data-cell]").evaluate_all("all => all.map(each => each.dataset.exact ?? null)")
    assert results == truth(position)["exact"]
    page.get_by_label("Beside it").select_option(label="Shipped player")
    expect(beside.locator("[data-value]")).to_have_count(9)
    shown = beside.locator("[data-value]").evaluate_all("all => all.map(each => Number(each.dataset.value))")
    assert shown == pytest.approx(values_of(load("shipped"), position), abs=1e-5)
    go_to(page, f"#player=shipped&view=inside&board={overrated_draw()}")
    says(page, "#panel-inside", "It is proved all the same")


def test_the_time_bar_shows_snapshots_as_they_are(visit: Open) -> None:
    page = visit("#player=shipped&view=inside&board=O...X....&seat=X")
    folder, position = run_folder("shipped"), position_of(Rules(), "O...X....")
    assert folder is not None
    bar = page.get_by_label("Watch it learn", exact=True)
    for at, steps in enumerate(snapshot_steps(folder)[:-1]):
        bar.fill(str(at))
        player = load("shipped", steps=steps)
        shows_values(page, values_of(player, position), 0.01)  # its weights are rounded
        for place in ("#verdict", ".time-bar output"):
            says(page, place, f" {selfplay.evaluate(player).ways_to_beat:,} ways to beat it")
    press(page, "Step: watch it learn")  # instead of motion
    expect(bar).to_have_value("7")


def test_each_kind_of_mistake_is_a_click_away_and_show_me_one_plays_a_game(visit: Open) -> None:
    page = visit("#player=masked&view=mistakes")
    cards = page.locator(".cards").first.locator(".card")
    expect(cards).to_have_count(24)
    page.get_by_role("button", name=re.compile(r"Show \d+ more")).first.click()
    assert cards.count() > 24
    says(page, ".card >> nth=2", re.compile(r"Plays \d, believes .*Loses \d+ game"))
    cards.nth(2).click()
    press(page, "The next mistake")
    says(page, ".mistake-steps", "Mistake 4 of")
    press(page, "All mistakes")
    page.locator(".cards").last.locator(".card").first.click()  # of a move that loses no game of its own play
    press(page, "Show the punishment")
    says(page, "#status", re.compile("You win|You lose|It wins|A draw"))
    for _ in range(2):  # also where that game is on the board
        press(page, "Show me one")
        says(page, "#status", "After move")
        says(page, "#status", "You win")
    go_to(page, "#player=heuristic&view=inside&board=....X....&seat=O")  # its mistake, but not its turn
    says(page, "#panel-inside", "any of 8 squares")
    expect(page.locator(".mistake-steps")).to_be_hidden()


def test_a_position_is_set_up_and_a_link_restores_what_is_shown(visit: Open) -> None:
    page = visit("#player=masked")
    page.get_by_text("More").first.click()
    press(page, "Set up")
    done = page.get_by_role("button", name="Done")
    for cell, clicks in ((0, 1), (4, 2), (8, 2)):
        for _ in range(clicks):
            square(page, cell).click()
    done.click(force=True)
    assert done.is_visible()  # O has more marks than X
    square(page, 8).click()
    square(page, 2).click()
    done.click()
    assert board_of(page) == "X.X.O...."
    assert wait_for_turn(page).endswith("O.")
    press(page, "Let it move")
    assert wait_for_turn(page).endswith("X.")
    before = board_of(page)
    assert before.count("O") == 2
    tab(page, "Mistakes")
    page.reload()
    assert board_of(page) == before
    expect(page.locator("#panel-mistakes")).to_be_visible()
    for link, named in BAD_LINKS.items():
        go_to(page, link)
        says(page, "#trouble", named)
        assert set(board_of(page)) == {"."}


def test_on_a_larger_board_the_truth_is_told_once_it_is_known(visit: Open) -> None:
    page = visit("#player=larger&view=inside", width=390)
    says(page, "#panel-inside", "not known yet")
    while len(board_of(page).replace(".", "")) < 4:
        square(page, board_of(page).index(".")).click()
        assert wait_for_turn(page).startswith("Your move")
    says(page, "#panel-inside", "With best play")
    page.locator("#player").select_option(label="Random, 3\u00d73")
    assert board_of(page) == "." * 9


def test_names_of_strangers_are_text_and_nothing_else_is_loaded(browser: Browser, visit: Open, tmp_path: Path) -> None:
    saved(tmp_path / HOSTILE.replace("/", ""))
    file = tmp_path / "page.html"
    players = players_data([str(tmp_path / HOSTILE.replace("/", "")), "shipped"])
    players[0]["name"] = players[0]["differs"] = HOSTILE  # also what no file system has in a name
    write_page(players, file)
    page = visit(file=file)
    expect(page.locator("#player")).to_have_attribute("title", HOSTILE)
    tab(page, "Look inside")
    page.get_by_label("Beside it").select_option(label="Shipped player")
    assert "</script>" in (page.locator("#player option:checked").text_content() or "")
    assert page.evaluate("document.querySelectorAll('img[src=x]').length") == 0
    unwatched = browser.new_page()
    unwatched.goto(file.as_uri())
    assert unwatched.evaluate(BREAK) == [["connect-src", "img-src", "script-src-elem"], None]
    unwatched.close()


def test_a_page_that_is_followed_says_that_there_is_a_newer_one(browser: Browser) -> None:
    players = players_data(["shipped"])

    def page_of(version: str) -> bytes:
        return document({"players": players, "course": None, "version": version}).encode()

    with PageServer(page_of("1"), "1") as server:
        page = browser.new_page()
        address = f"http://{server.names[0]}/"
        with watched(page, address):
            page.goto(f"{address}#view=mistakes")
            expect(page.locator("#panel-mistakes")).to_be_visible()
            server.page, server.version = page_of("2"), "2"
            press(page, "Show it")
            expect(page.locator("#newer")).to_be_hidden()
            expect(page.locator("#panel-mistakes")).to_be_visible()
        page.close()
        server.shutdown()


def test_axe_finds_no_violation_in_light_and_dark_and_a_phone_needs_no_scrolling_to_the_side(visit: Open) -> None:
    page = visit(width=390)
    for screen in SCREENS:
        go_to(page, f"{screen}&")
        page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
        for _ in range(2):
            assert violations(page) == [], screen
            page.get_by_role("button", name="Light or dark").click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), screen
