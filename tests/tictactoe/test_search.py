"""Compare the bounded search with the exact solutions of small boards, and with what is published of larger ones."""

from collections import Counter

import numpy as np
import pytest

from tictactoe import Rules, best_moves, search, search_value, solve
from tictactoe.search import Bounds, move_bounds

pytest.importorskip("numba", reason="without Numba there is no search")

ENOUGH = 1 << 14
"""Positions for any question about a small board; a small number keeps the search's table small too."""
SAMPLE = 600


def states(rules: Rules) -> list[tuple[int, int]]:
    """Return the positions of a small board, or a random part of a large one's."""
    tree = solve(rules).tree
    numbers = np.random.default_rng(0).choice(len(tree), min(len(tree), SAMPLE), replace=False)
    return list(zip(tree.mover[numbers].tolist(), tree.opponent[numbers].tolist(), strict=True))


SOLVED = [(3, 3, 3), (3, 4, 3), (1, 1, 1), (1, 5, 2), (3, 3, 2), (1, 5, 3), (2, 4, 4), (2, 7, 3), (3, 5, 3), (4, 4, 2)]


@pytest.mark.parametrize("rules", [Rules(*size) for size in SOLVED], ids=str)
def test_values_and_best_moves_are_those_of_the_exact_solution(rules: Rules) -> None:
    solution = solve(rules)
    for position in states(rules):
        value, cells = solution.lookup(*position)
        assert search_value(rules, *position, ENOUGH) == value, position
        assert best_moves(rules, *position, ENOUGH) == cells, position


@pytest.mark.parametrize(
    ("size", "value"),
    [
        *[((rows, 4, 4), 0) for rows in (4, 5, 6, 7)],  # Uiterwijk and van den Herik (2000): drawn up to 8,4,4
        *[((5, 5, 4), 0), ((6, 5, 4), 1), ((5, 6, 4), 1), ((6, 6, 4), 1), ((7, 7, 4), 1), ((8, 8, 4), 1)],  # the same
        *[((5, 5, 5), 0), ((6, 6, 6), 0), ((8, 8, 8), 0)],  # Hales and Jewett (1963): n,n,n is drawn from n = 3 on
        *[((6, 6, 5), 0), ((7, 6, 5), 0), ((6, 7, 5), 0)],  # a part of 7,7,5
        *[((7, 7, 5), 0), ((7, 7, 6), 0)],  # Hsu and others (2020): 7,7,5 and 8,8,5 are drawn
        *[((2, 9, 3), 0), ((3, 20, 3), 1), ((64, 1, 2), 1), ((1, 64, 64), 0), ((8, 8, 1), 1)],
    ],
    ids=str,
)
def test_known_values_of_larger_boards(size: tuple[int, int, int], value: int) -> None:
    assert search_value(Rules(*size), 0, 0, 2_000_000) == value


def test_the_best_moves_of_larger_boards() -> None:
    assert best_moves(Rules(5, 5, 4), 0, 0) == tuple(range(25))  # wherever the first mark is, the second seat holds on
    rules = Rules(8, 8, 8)
    row = sum(1 << cell for cell in range(56, 64))  # the last one, with the cell that is the sign bit of a word
    marks = row & ~(1 << 63), sum(1 << cell for cell in range(7))
    assert search_value(rules, *marks) == 1
    assert best_moves(rules, *marks) == (63,)
    assert search_value(rules, marks[1] >> 1, marks[0]) == 0  # one short of a row of its own, it has to block
    assert best_moves(rules, marks[1] >> 1, marks[0]) == (63,)


def test_what_takes_more_positions_than_allowed_is_not_known() -> None:
    rules = Rules(8, 8, 5)
    for answer in (search_value, best_moves):
        with pytest.warns(UserWarning, match="8,8,5.* 10,000 "):
            assert answer(rules, 0, 0, 10_000) is None
    assert set(move_bounds(rules, 0, 0, 10_000).values()) == {Bounds(-1, 1)}


def test_no_more_positions_are_looked_at_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "INTERRUPT_EVERY", 1 << 14)
    for limit in (1, 7, 1_000, search.INTERRUPT_EVERY + 1):
        asked = search.Search(Rules(8, 8, 5), limit)
        assert asked.bounds(0, 0, limit) == Bounds(-1, 1)
        assert asked.left == 0


@pytest.mark.filterwarnings("ignore:the search")
def test_what_is_known_within_the_limit_is_true() -> None:
    rules = Rules(3, 4, 3)
    widths = Counter[int]()
    for mover, opponent in states(rules):
        for cell, (least, most) in move_bounds(rules, mover, opponent, 16).items():
            assert least <= -solve(rules).lookup(opponent, mover | 1 << cell)[0] <= most
            widths[most - least] += 1
        assert best_moves(rules, mover, opponent, 16) in (None, solve(rules).lookup(mover, opponent)[1])
    assert widths[0] > 1_000
    assert widths[1] > 20


def test_a_search_that_is_broken_off_goes_on_to_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = search.Search(Rules(5, 5, 4), 10**6)
    assert whole.attacker_wins(0, 0, True, 10**6) is False
    monkeypatch.setattr(search, "INTERRUPT_EVERY", 100)
    sliced = search.Search(Rules(5, 5, 4), 10**6)
    assert sliced.attacker_wins(0, 0, True, 10**6) is False
    assert sliced.left == whole.left < 10**6 - 1_000


def test_the_table_is_bounded() -> None:
    assert search.Search(Rules(8, 8, 5), 10**12)._table.nbytes == search.TABLE_ENTRIES * 24 < 30e6
    assert search.Search(Rules(8, 8, 5), 100)._table.nbytes == 128 * 24
    for few in (0, 1, 2):  # compiled code looks at two entries, and a shorter table would have it read behind its end
        assert len(search.Search(Rules(8, 8, 5), few)._table) == 2


@pytest.mark.parametrize("entries", [2, 64, 4_096])
@pytest.mark.parametrize("rules", [Rules(), Rules(3, 5, 4)], ids=str)
def test_answers_that_share_a_full_table_stay_right(
    rules: Rules, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "TABLE_ENTRIES", entries)
    shared = search.Search(rules, 10**9)
    for position in states(rules):
        value = solve(rules).lookup(*position)[0]
        if search._value_at_once(rules, *position) is None:
            assert shared.bounds(*position, 10**6) == (value, value)


FIVE, TWO_FOURS = 0b11111, 0b1111 << 5 | 0b1111
ELSEWHERE = 0b1101111011 << 10
"""Eight marks of the lower rows of 5,5,4 without a line of four."""


@pytest.mark.parametrize(
    ("mover", "opponent"),
    [
        *[(0b1, 0b101), (0b1, 0), (0, 0b11), (0, 1 << 25), (1 << 25, 1 << 26), (-1, 0), (0, -1)],
        (0b1111, 0b10111 << 10),  # the mover had won before
        (ELSEWHERE, TWO_FOURS),  # and so had the opponent
    ],
)
def test_what_is_no_position_is_refused(mover: int, opponent: int) -> None:
    for ask in (search_value, best_moves):
        with pytest.raises(ValueError, match=f"{mover:#b}.*{opponent:#b}"):
            ask(Rules(5, 5, 4), mover, opponent)


def test_a_finished_game_has_a_value_and_no_moves() -> None:
    rules = Rules(5, 5, 4)
    assert search_value(rules, 0b11011 << 10, FIVE) == -1  # both lines of four came of the mark in their midst
    assert best_moves(rules, 0b11011 << 10, FIVE) == ()
    full = 0b00110_11001_00110_11001_00110
    assert search_value(rules, full, rules.full_board & ~full) == 0
    assert best_moves(rules, full, rules.full_board & ~full) == ()


def test_a_board_of_more_than_64_cells_is_refused() -> None:
    for ask in (search_value, best_moves):
        with pytest.raises(ValueError, match=r"5x13 .*\b65\b"):
            ask(Rules(5, 13, 4), 0, 0)
