"""Which positions a game can start from, and what is refused; `test_environments.py` plays on from them."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.tictactoe.driver import EXACT
from tests.tictactoe.rule_book import MARKS, RuleBook, book_of, empty_cells, marks_of
from tictactoe import (
    Rules,
    TicTacToeEnv,
    TicTacToeVectorEnv,
    TicTacToeVersusEnv,
    TicTacToeVersusVectorEnv,
    tictactoe_v0,
)
from tictactoe.positions import check_first_reply, checked_position


def planes(drawing: str, perspective: str = "absolute") -> np.ndarray:
    """Return what the seat to move observes of a board given as rows of X, O and "." between spaces."""
    rows = drawing.split()
    return np.array(RuleBook(len(rows), len(rows[0]), 1).one_hot(tuple("".join(rows)), perspective))


def with_cell(cell: int, values: list[float]) -> np.ndarray:
    """Return the board with X in the first cell, and in another these values in place of its three numbers."""
    board = planes("X.. ... ...").astype(float)
    board.reshape(-1, 3)[cell] = values
    return board


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 2, 1)], ids=str)
def test_exactly_the_positions_are_refused_in_which_a_game_or_its_first_reply_is_the_end(rules: Rules) -> None:
    book = book_of(rules)
    for board in book.histories():
        shown, marks = book.one_hot(board, "mover"), tuple(marks_of(board, mark) for mark in MARKS)
        if book.finished(board):
            with pytest.raises(ValueError, match="the game is over"):
                checked_position(rules, shown, "mover")
            continue
        assert checked_position(rules, shown, "mover") == marks
        if any(book.play(board, cell, EXACT).terminated for cell in empty_cells(board)):
            with pytest.raises(ValueError, match="reset cannot return a finished game"):
                check_first_reply(rules, *marks)
        else:
            check_first_reply(rules, *marks)


@pytest.mark.parametrize(
    ("position", "perspective", "named"),
    [
        (4, "absolute", r"\(3, 3, 3\)"),
        ({"observation": 0}, "absolute", r"\(3, 3, 3\)"),
        (np.zeros((3, 3, 4)), "absolute", r"\(3, 3, 4\)"),
        (with_cell(4, [0, 0, 0]), "absolute", "one-hot.*cell 4"),
        (with_cell(2, [1, 1, -1]), "absolute", "one-hot.*cell 2"),
        (planes("XX. ... ..."), "absolute", "no game leads to 2 .* 0"),
        (planes("O.. ... ..."), "absolute", "no game leads to 0 .* 1"),
        (planes("X.. ... ..."), "mover", "no game leads to 1 .* 0"),
        (planes("OO. ... ..."), "mover", "no game leads to 0 .* 2"),
        (planes("OOO XX. ..."), "mover", "X has a complete line"),  # plane 1, with fewer marks, is O's
    ],
    ids=str,
)
def test_what_no_game_continues_from_is_refused(position: Any, perspective: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        checked_position(Rules(), position, perspective)


ENDS_AT_ONCE, ONE_MARK, TWO_EMPTY = planes("XX. OO. ..."), planes("X.. ... ..."), np.stack([planes("... ... ...")] * 2)
OF_ONE_BOARD = [
    ({"positon": 0}, r"'positon'.* position\?"),
    ([], r"options .*\[\]"),
    ({"position": 0}, "position"),
]
OF_BOTH_SEATS = [({"seat": 1}, "seat .* 1"), ({"position": ONE_MARK, "seat": 0}, "seat .* 0")]
OF_VERSUS = [({"seat": 2}, "seat .* 2"), ({"position": ENDS_AT_ONCE, "seat": 1}, "seat=0")]
OF_RANDOM_SEAT = [({"position": ENDS_AT_ONCE}, "seat=0")]
OF_VECTOR = [
    ({"reset_mask": [True, False]}, "reset_mask"),
    ({"reset_mask": np.ones(2)}, "reset_mask"),
    ({"reset_mask": np.ones(3, bool)}, "reset_mask"),
    ({"reset_mask": np.zeros(2, bool)}, "reset_mask"),
    ({"position": TWO_EMPTY[0]}, "position must hold 2 boards"),
    ({"position": TWO_EMPTY * [[[[1]]], [[[2]]]]}, "board 1: position"),
    ({"position": TWO_EMPTY, "seat": [0, 1]}, "board 1: option seat"),
]
OF_VERSUS_VECTOR = [
    ({"seat": [0, 1, 0]}, "seat"),
    ({"position": np.stack([TWO_EMPTY[0], ENDS_AT_ONCE]), "seat": 1}, "board 1: .*seat=0"),
]
REFUSED: dict[str, tuple[Any, list[Any]]] = {
    "turn": (TicTacToeEnv, OF_ONE_BOARD + OF_BOTH_SEATS),
    "versus": (TicTacToeVersusEnv, OF_ONE_BOARD + OF_VERSUS),
    "versus in a random seat": (partial(TicTacToeVersusEnv, seat="random"), OF_RANDOM_SEAT),
    "PettingZoo": (tictactoe_v0.env, OF_ONE_BOARD),
    "vector": (partial(TicTacToeVectorEnv, 2), OF_VECTOR),
    "versus vector": (partial(TicTacToeVersusVectorEnv, 2), OF_VERSUS_VECTOR),
}


@pytest.mark.parametrize(
    ("api", "options", "named"),
    [(api, *refused) for api, (_, each) in REFUSED.items() for refused in each],
    ids=str,
)
def test_a_refused_reset_changes_nothing(api: str, options: Any, named: str) -> None:
    rules = Rules()
    checked_position(rules, planes("... ... ..."), "absolute")  # which remembers what it works out about the board
    env = REFUSED[api][0](rules=rules)
    env.reset(seed=5)
    before = pickle.dumps(env)
    with pytest.raises(ValueError, match=named):
        env.reset(seed=1, options=options)
    assert pickle.dumps(env) == before
