"""A person plays on the page: with the mouse, by the keyboard alone, in both seats; undoes, sets up, comes back."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, expect

from selfplay.position import read_board
from tests.runs import saved
from tests.selfplay.web.serving import serving
from tests.selfplay.web.visits import board_of, go_to, press, says, spoken, square, wait_for_turn, watched
from tictactoe import Rules

Open = Callable[..., Page]
HOSTILE = [
    *("<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "' onmouseover='alert(1)", "javascript:alert(1)"),
    *("&lt;script&gt;", "{{7*7}}${7*7}", "a&player=shipped#seat=O", "%3Cscript%3E", "\u202egnp.exe"),
    "x\x1b[2J\r\n\u2028",
]
BAD_LINKS = {
    "#player=nobody": "nobody",
    "#player=masked&board=XX.......": "X has 2 marks",
    "#player=masked&moves=1,99": "99",
    "#player=masked&moves=1,4,2,5,3,6": "move 6",
    "#player=masked&moves=1,<b>": "NaN",
    "#player=masked&board=" + "X" * 2000: "3 by 3",
}


def move_shown(page: Page) -> list[str]:
    """Return the number of the move that is looked at, and of how many."""
    return re.findall(r"\d+", page.locator("#status").inner_text())


def result_of(board: str, seat: int) -> str:
    """Return how the page must say that a full game has ended, by the rules of the environment."""
    position = read_board(Rules(), board)
    assert position.over
    return "A draw." if position.winner is None else "You win." if position.winner == seat else "It wins."


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
    assert status == result_of(board_of(page), 0)
    assert spoken(page)[-1].endswith(status)
    expect(square(page, target)).to_be_focused()
    assert square(page, target).locator(".focus-frame").evaluate("frame => getComputedStyle(frame).display") != "none"
    assert page.locator(".board [tabindex='0']").count() == 1


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
    square(page, 4).click(force=True)  # it is taken
    assert board_of(page) == "O.O.X...X"
    press(page, "O, square 1")
    assert board_of(page) == "O...X...."
    assert move_shown(page) == ["2", "4"]
    for name in ("Forward", "Forward"):
        press(page, name)
    assert board_of(page) == "O.O.X...X"
    press(page, "Back")
    square(page, 1).click()  # in an earlier position O plays another move, and later moves are dropped
    assert wait_for_turn(page).endswith("O.")
    assert board_of(page)[:3] == "OO."


def test_a_link_restores_the_position_the_seat_and_the_player(visit: Open) -> None:
    page = visit("#player=masked")
    press(page, "It starts")
    wait_for_turn(page)
    square(page, board_of(page).index(".")).click()
    wait_for_turn(page)
    before = board_of(page)
    other = page.locator("#player option[title=unmasked]")
    page.locator("#player").select_option(value=other.get_attribute("value"))
    assert board_of(page) == before  # another player keeps the position
    page.get_by_role("tab", name="Mistakes").click()
    page.reload()
    expect(page.locator("#player")).to_have_attribute("title", "unmasked")
    assert board_of(page) == before
    assert page.get_by_role("tab", name="Mistakes").get_attribute("aria-selected") == "true"


def test_hostile_names_of_runs_are_nothing_but_text(browser: Browser, tmp_path: Path) -> None:
    for name in HOSTILE:
        saved(tmp_path / name)
    with serving(runs=tmp_path) as server:
        address = f"http://127.0.0.1:{server.port}/"
        page = browser.new_page()
        with watched(page, address):
            page.goto(address)
            for name in HOSTILE:
                go_to(page, f"#player={quote(name)}")
                expect(page.locator("#player")).to_have_attribute("title", name)
                assert f"({name})" in (page.locator("#player option:checked").text_content() or "")
        page.close()


def test_a_link_to_nothing_is_answered_in_a_line(visit: Open) -> None:
    page = visit("#player=masked")
    for link, named in BAD_LINKS.items():
        go_to(page, link)
        says(page, "#trouble", named)
        assert set(board_of(page)) == {"."}


def test_keys_play_undo_and_step_unless_they_are_off(visit: Open) -> None:
    page = visit("#player=masked")
    page.keyboard.press("5")
    assert wait_for_turn(page).endswith("X.")
    assert board_of(page)[4] == "X"
    page.keyboard.press("ArrowLeft")
    assert move_shown(page) == ["1", "2"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("u")
    assert board_of(page) == "." * 9
    page.keyboard.press("1")
    page.keyboard.press("n")
    assert board_of(page) == "." * 9
    page.keyboard.press("?")
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("9")
    assert board_of(page) == "." * 9


def test_a_position_is_set_up_and_played_on_from(visit: Open) -> None:
    page = visit("#player=masked")
    page.get_by_text("More").first.click()
    press(page, "Set up")
    done = page.get_by_role("button", name="Done")
    for cell, clicks in ((0, 1), (4, 2), (8, 2)):
        for _ in range(clicks):
            square(page, cell).click()
    done.click(force=True)
    assert done.is_visible()
    square(page, 8).click()
    square(page, 2).click()
    done.click()
    assert board_of(page) == "X.X.O...."
    assert "board=X.X.O...." in page.url
    assert wait_for_turn(page).endswith("O.")
    press(page, "Let it move")
    assert wait_for_turn(page).endswith("X.")
    assert board_of(page).count("O") == 2


def test_a_larger_board_is_played_on_as_well(visit: Open) -> None:
    page = visit("#player=larger", width=390)
    square(page, 7).click()
    wait_for_turn(page)
    assert len(board_of(page)) == 20
    page.locator("#player").select_option(label="Optimal, 3\u00d73")
    assert board_of(page) == "." * 9
