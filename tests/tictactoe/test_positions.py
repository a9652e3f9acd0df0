"""Which positions a game can start from, and what is refused; `test_environments.py` plays on from them."""

import re
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from tests.tictactoe.driver import VERSUS, first_empty
from tests.tictactoe.rule_book import MARKS, RuleBook, book_of, empty_cells, marks_of
from tictactoe import (
    Rewards,
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
@pytest.mark.parametrize("perspective", ["absolute", "mover"])
def test_exactly_the_reachable_positions_are_taken_in_which_the_game_is_not_over(
    rules: Rules, perspective: str
) -> None:
    book = book_of(rules)
    for board in book.histories():
        shown, marks = book.one_hot(board, perspective), tuple(marks_of(board, mark) for mark in MARKS)
        if book.finished(board):
            with pytest.raises(ValueError, match="the game is over"):
                checked_position(rules, shown, perspective)
        else:
            assert checked_position(rules, shown, perspective) == marks


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 2, 1)], ids=str)
def test_exactly_the_positions_are_refused_in_which_a_first_reply_could_end_the_game(rules: Rules) -> None:
    book = book_of(rules)
    for board in filter(lambda board: not book.finished(board), book.histories()):
        marks = tuple(marks_of(board, mark) for mark in MARKS)
        if any(book.play(board, cell, Rewards()).terminated for cell in empty_cells(board)):
            with pytest.raises(ValueError, match="reset cannot return a finished game"):
                check_first_reply(rules, *marks)
        else:
            check_first_reply(rules, *marks)


def test_a_board_of_any_size_and_numbers_of_any_type_are_taken() -> None:
    cells, book = np.arange(90), RuleBook(10, 9, 9)
    board = tuple(np.where(cells % 7 == 0, "X", np.where(cells % 7 == 2, "O", ".")).tolist())
    shown = np.array(book.one_hot(board, "mover"))
    of_types = [shown.astype(kind) for kind in (bool, np.int8, np.float16)]
    for same in (*of_types, shown.tolist(), torch.as_tensor(shown), np.asfortranarray(shown)):
        found = checked_position(Rules(10, 9, 9), same, "mover")
        assert found == tuple(marks_of(board, mark) for mark in MARKS)
        assert [type(marks) for marks in found] == [int, int]


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


BOTH_EMPTY = np.stack([planes("... ... ...")] * 2)
OF_ONE_BOARD = [
    ({"positon": 0}, r"'positon'.* position\?"),
    ([], r"options .*\[\]"),
    ({"position": 0}, "position"),
]
OF_BOTH_SEATS = [({"seat": 1}, "seat .* 1"), ({"position": planes("X.. ... ..."), "seat": 0}, "seat .* 0")]
OF_VERSUS = [
    ({"seat": 2}, "seat .* 2"),
    ({"position": planes("XX. OO. ..."), "seat": 1}, "seat=0"),
]
OF_VECTOR = [
    ({"position": BOTH_EMPTY[0]}, "position must hold 2 boards"),
    ({"position": BOTH_EMPTY * [[[[1]]], [[[2]]]]}, "board 1: position"),
    ({"position": BOTH_EMPTY, "seat": [0, 1]}, "board 1: option seat"),
]
OF_VERSUS_VECTOR = [
    ({"seat": [0, 1, 0]}, "seat"),
    ({"position": np.stack([BOTH_EMPTY[0], planes("XX. OO. ...")]), "seat": 1}, "board 1: .*seat=0"),
]
REFUSED: dict[str, tuple[Any, list[Any]]] = {
    "turn": (TicTacToeEnv, OF_ONE_BOARD + OF_BOTH_SEATS),
    "versus": (TicTacToeVersusEnv, OF_ONE_BOARD + OF_VERSUS),
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
    env, twin = (REFUSED[api][0](render_mode="ansi") for _ in range(2))
    for game in (env, twin):
        game.reset(seed=5)
        game.step([4, 4] if "vector" in api else 4)
    with pytest.raises(ValueError, match=named):
        env.reset(seed=1, options=options)
    for _ in range(2):
        drawn = twin.render()
        assert env.render() == drawn
        cells = [re.findall("[XO.]", text).index(".") for text in (drawn if "vector" in api else [drawn])]
        for game in (env, twin):  # with the same replies, sampled from the same numbers
            game.step(cells if "vector" in api else cells[0])


def test_a_random_seat_may_be_the_other_so_such_a_position_is_refused_in_either() -> None:
    env = TicTacToeVersusEnv(seat="random")
    for seed in range(8):
        with pytest.raises(ValueError, match="seat=0"):
            env.reset(seed=seed, options={"position": planes("XX. OO. ...")})
        _, info = env.reset(seed=seed, options={"position": planes("XX. OO. ..."), "seat": 0})
        assert info["to_play"] == env.seat == 0


def test_the_seat_of_one_game_is_not_that_of_the_next() -> None:
    env = TicTacToeVersusEnv()
    assert env.reset(options={"seat": np.int64(1)})[1]["to_play"] == 1
    assert env.reset()[1]["to_play"] == 0
    assert env.reset(options={})[1]["to_play"] == 0

    vector = TicTacToeVersusVectorEnv(2)
    vector.set_opponent(first_empty)
    vector.reset(seed=0, options={"seat": np.array([1, 1])})
    assert vector.seats.tolist() == [1, 1]
    vector.reset(options={"reset_mask": np.array([True, False])})
    assert vector.seats.tolist() == [0, 1]


@pytest.mark.parametrize("board", ["X.. ... ...", "X... .... ...."], ids=["table", "computed"])
def test_an_opponent_that_begins_on_a_taken_cell_is_named(board: str) -> None:
    shown = planes(board)
    env = TicTacToeVersusEnv(cols=shown.shape[1])
    env.set_opponent(lambda *_: 0)
    with pytest.raises(gymnasium.error.InvalidAction, match="opponent"):
        env.reset(options={"position": shown, "seat": 0})
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(1)
    vector: Any = gymnasium.make_vec(VERSUS, num_envs=2, cols=shown.shape[1])
    vector.reset(seed=0)
    before = vector.unwrapped.action_masks()
    vector.unwrapped.set_opponent(lambda _, action_mask: action_mask.argmin(axis=1))
    with pytest.raises(gymnasium.error.InvalidAction, match="opponent"):
        vector.reset(options={"position": np.stack([shown] * 2), "seat": 0})
    np.testing.assert_array_equal(vector.unwrapped.action_masks(), before)
