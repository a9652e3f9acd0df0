"""The states that a planted player has wrong, and the games that beat it, on the page."""

from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page, expect

from selfplay.algorithms import load
from selfplay.evaluation.evaluate import evaluate
from selfplay.position import read_board
from tests.selfplay.web.visits import Site, board_of
from tictactoe import Rules, solve

Open = Callable[..., Page]
NAMES = {1: "win", 0: "draw", -1: "loss"}


def test_each_wrong_state_is_a_click_away(visit: Open, served: Site) -> None:
    evaluation = evaluate(load(served.runs / "masked"), Rules())
    page = visit("#player=masked&view=wrong")
    wrong = evaluation.decision_states - evaluation.optimal_states
    expect(page.get_by_role("heading", name=f"{wrong:,} states still wrong")).to_be_visible()
    cards = page.locator(".card")
    assert cards.first.inner_text().startswith("win \u2192 loss")
    assert cards.count() == 24
    page.get_by_role("button", name="Show 176 more").click()
    assert cards.count() == 200
    cards.nth(2).click()
    expect(page.locator("#panel-inside .verdict")).to_contain_text("gives the win away")
    expect(page.locator(".wrong-steps")).to_contain_text("3 of 200 shown as wrong")
    third = board_of(page)
    position = read_board(Rules(), third)
    assert solve(Rules()).lookup(position.mover, position.opponent)[0] == 1
    page.get_by_role("button", name="The next state").click()
    expect(page.locator(".wrong-steps")).to_contain_text("4 of 200")
    assert board_of(page) != third
    page.get_by_role("button", name="All of them").click()
    expect(cards.first).to_be_visible()


def test_the_proved_player_has_nothing_wrong_and_nothing_beats_it(visit: Open) -> None:
    page = visit("#player=shipped&view=wrong")
    expect(page.locator("#panel-wrong .verdict")).to_contain_text("PROVED UNBEATABLE AND OPTIMAL")
    expect(page.get_by_role("heading", name="0 states still wrong")).to_be_visible()
    page.get_by_role("tab", name="What beats it").click()
    expect(page.locator("#panel-lost .verdict")).to_have_text("Nothing beats it: it loses no line in either seat.")


def test_a_lost_line_is_stepped_through(visit: Open, served: Site) -> None:
    player = load(served.runs / "unmasked")
    evaluation = evaluate(player, Rules())
    page = visit("#player=unmasked&view=lost")
    for mark, seat in zip("XO", (evaluation.first, evaluation.second), strict=True):
        lost = seat.losses + seat.illegal
        expect(page.get_by_role("heading", name=f"As {mark}: {lost:,} line")).to_be_visible()
    page.locator(".lines").nth(1).locator(".line").last.click()
    rows = page.locator(".plies tbody tr")
    cells = [int(text.split()[0]) - 1 for text in rows.locator("td:nth-child(2)").all_inner_texts()]
    board, losing = ".........", []
    for ply, cell in enumerate(cells):
        assert board_of(page) == board
        position = read_board(Rules(), board)
        learned = rows.nth(ply).locator("[data-value]")
        if position.seat == 1:
            values = np.asarray(player.q_values(position.observation))[0]
            assert int(values.argmax()) == cell
            np.testing.assert_allclose(float(learned.get_attribute("data-value") or "nan"), values[cell], atol=1e-5)
            after = (position.opponent, position.mover | 1 << cell)
            exact = NAMES[-solve(Rules()).lookup(*after)[0]] if board[cell] == "." else "illegal"
            expect(rows.nth(ply)).to_contain_text(exact)
            losing += [ply] if exact in {"loss", "illegal"} else []
        else:
            assert learned.count() == 0
        board = board if board[cell] != "." else board[:cell] + "XO"[position.seat] + board[cell + 1 :]
        page.get_by_role("button", name="On", exact=True).click()
    assert board_of(page) == board
    assert (page.locator("#status").inner_text()).startswith("You win")
    assert page.locator(".flag", has_text="loses here").count() == 1
    expect(rows.nth(losing[0])).to_contain_text("loses here")
    page.get_by_role("button", name="To the move that loses").click()
    there = f"After move {losing[0] + 1} of {len(cells)}"
    end = "You win: unmasked chose a taken square."
    expect(page.locator("#status")).to_have_text(there if losing[0] + 1 < len(cells) else end)
