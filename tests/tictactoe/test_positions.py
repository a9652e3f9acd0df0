"""Which positions a game can start from, and what is refused; `test_environments.py` plays on from them."""

import contextlib
import re
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from tests.tictactoe.driver import VERSUS, Size, first_empty
from tests.tictactoe.rule_book import MARKS, RuleBook, empty_cells, marks_of
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

PERSPECTIVES = ("absolute", "mover")


def planes(drawing: str, perspective: str = "absolute") -> np.ndarray:
    """Return what the seat to move observes of a board given as rows of X, O and "." between spaces."""
    rows = drawing.split()
    board = tuple("".join(rows))
    return np.array(RuleBook(len(rows), len(rows[0]), 1).one_hot(board, perspective))


def with_cell(cell: int, values: list[float]) -> np.ndarray:
    """Return the board with X in the first cell, and in another these values in place of its three numbers."""
    board = planes("X.. ... ...").astype(float)
    board.reshape(-1, 3)[cell] = values
    return board


def test_a_board_of_any_size_and_numbers_of_any_type_are_taken() -> None:
    cells, book = np.arange(90), RuleBook(10, 9, 9)
    board = tuple(np.where(cells % 7 == 0, "X", np.where(cells % 7 == 2, "O", ".")).tolist())
    shown = np.array(book.one_hot(board, "mover"))
    of_types = [shown.astype(kind) for kind in (bool, np.int8, np.uint64, np.float16)]
    for same in (*of_types, shown.tolist(), torch.as_tensor(shown), np.asfortranarray(shown)):
        found = checked_position(Rules(10, 9, 9), same, "mover")
        assert found == tuple(marks_of(board, mark) for mark in MARKS)
        assert [type(marks) for marks in found] == [int, int]


NOT_PLANES = r"position must be numbers of shape \(3, 3, 3\), one-hot .*, got"
NOT_ONE_HOT = "position must be one-hot, with one 1 and two 0 for each cell, got"


@pytest.mark.parametrize(
    ("position", "message"),
    [
        (4, NOT_PLANES),
        ({"observation": 0}, NOT_PLANES),
        ([[[1, 0, 0]], [[1, 0]]], NOT_PLANES),
        (np.full((3, 3, 3), "1"), NOT_PLANES),
        (np.zeros((3, 3, 4)), NOT_PLANES),
        (with_cell(4, [0, 0, 0]), rf"{NOT_ONE_HOT} \[0\.0, 0\.0, 0\.0\] for cell 4"),
        (with_cell(1, [float("nan"), 1, 0]), rf"{NOT_ONE_HOT} \[nan, 1\.0, 0\.0\] for cell 1"),
        (with_cell(2, [1, 1, -1]), rf"{NOT_ONE_HOT} \[1\.0, 1\.0, -1\.0\] for cell 2"),
        (planes("XX. ... ..."), "no game leads to 2 X in plane 1 of the position and 0 O in plane 2"),
        (planes("O.. ... ..."), "no game leads to 0 X in plane 1 of the position and 1 O in plane 2"),
        (planes("XOX XOO OXX"), "no cell of the position is empty"),
    ],
    ids=str,
)
def test_what_no_game_goes_on_from_is_refused(position: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}.*$"):
        checked_position(Rules(), position, "absolute")


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ("X.. ... ...", "no game leads to 1 marks of the mover in plane 1 of the position and 0 in plane 2"),
        ("OO. ... ...", "no game leads to 0 marks of the mover in plane 1 of the position and 2 in plane 2"),
        ("OOO XX. ...", "X has a complete line"),  # plane 1, with fewer marks, is O's
    ],
)
def test_the_mover_has_as_many_marks_or_one_less(drawing: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}.*$"):
        checked_position(Rules(), planes(drawing), "mover")


REFUSED_BY_EACH = [
    ({"positon": 0}, r"unknown reset option 'positon': choose from position, seat; did you mean position\?"),
    ([], r"options must be a dict with the keys position, seat, got \[\]"),
    ({"position": 0}, "position must be numbers of shape"),
    ({"position": planes("XXX OO. ..."), "seat": 1}, "X has a complete line"),
]
REFUSED_BY_BOTH_SEATS = [
    ({"seat": 1}, "option seat must be 0, the seat to move in this position, got 1"),
    ({"position": planes("X.. ... ..."), "seat": 0}, "option seat must be 1, the seat to move in this position, got 0"),
]
REFUSED_BY_VERSUS = [
    ({"seat": 2}, "option seat must be 0 or 1, the agent's seat in this game, got 2"),
    ({"seat": True}, "option seat must be 0 or 1, .*, got True"),
    ({"seat": np.array([0, 1])}, "option seat must be 0 or 1"),
    (
        {"position": planes("XX. OO. ..."), "seat": 1},
        "an opponent who moves first .* could complete a line, and reset cannot return .*: give option seat=0",
    ),
    ({"position": planes("XX. OO. X..")}, "could complete a line, .*: give option seat=1"),
    ({"position": planes("XOX XOO OX."), "seat": 1}, "could fill the board, .*: give option seat=0"),
]
BOTH_EMPTY = np.stack([planes("... ... ...")] * 2)
REFUSED_BY_VECTOR = [
    ({"start": BOTH_EMPTY}, "unknown reset option 'start': choose from reset_mask, position, seat"),
    ({"position": BOTH_EMPTY[0]}, r"position must hold 2 boards, \[2, 3, 3, 3\]"),
    ({"position": BOTH_EMPTY * [[[[1]]], [[[2]]]]}, "board 1: position must be one-hot"),
    ({"position": BOTH_EMPTY, "seat": [0, 1]}, "board 1: option seat must be 0, the seat to move"),
    ({"seat": 2}, "option seat must be 0 or 1, or one of them for each of 2 boards, got 2"),
]
REFUSED_BY_VERSUS_VECTOR = [
    ({"seat": [0, 1, 0]}, "option seat must be 0 or 1, or one of them for each of 2 boards"),
    (
        {"position": np.stack([BOTH_EMPTY[0], planes("XX. OO. ...")]), "seat": 1},
        "board 1: an opponent who moves first in this position could",
    ),
]
REFUSED: dict[str, tuple[Any, list[Any]]] = {
    "turn": (TicTacToeEnv, REFUSED_BY_EACH + REFUSED_BY_BOTH_SEATS),
    "versus": (TicTacToeVersusEnv, REFUSED_BY_EACH + REFUSED_BY_VERSUS),
    "PettingZoo": (tictactoe_v0.env, REFUSED_BY_EACH),
    "vector": (partial(TicTacToeVectorEnv, 2), REFUSED_BY_VECTOR),
    "versus vector": (partial(TicTacToeVersusVectorEnv, 2), REFUSED_BY_VERSUS_VECTOR),
}


@pytest.mark.parametrize(
    ("api", "options", "message"),
    [(api, *refused) for api, (_, each) in REFUSED.items() for refused in each],
    ids=str,
)
def test_a_refused_reset_changes_nothing(api: str, options: Any, message: str) -> None:
    env, twin = (REFUSED[api][0](render_mode="ansi") for _ in range(2))
    for game in (env, twin):
        game.reset(seed=5)
        game.step([4, 4] if "vector" in api else 4)
    with pytest.raises(ValueError, match=f"^.*{message}.*$"):
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
        with pytest.raises(ValueError, match="give option seat=0"):
            env.reset(seed=seed, options={"position": planes("XX. OO. ...")})
        _, info = env.reset(seed=seed, options={"position": planes("XX. OO. ..."), "seat": 0})
        assert info["to_play"] == env.seat == 0


def test_the_seat_of_one_game_is_not_that_of_the_next() -> None:
    env = TicTacToeVersusEnv()
    assert env.reset(options={"seat": np.int64(1)})[1]["to_play"] == 1
    assert type(env.seat) is int
    assert env.reset()[1]["to_play"] == 0
    assert env.reset(options={})[1]["to_play"] == 0

    vector = TicTacToeVersusVectorEnv(2)
    vector.set_opponent(first_empty)
    _, info = vector.reset(seed=0, options={"seat": np.array([1, 1])})
    while not info["illegal"].all():
        assert vector.seats.tolist() == [1, 1]
        *_, info = vector.step([4, 4])
    vector.reset(options={"reset_mask": np.array([True, False])})
    assert vector.seats.tolist() == [0, 1]


def test_an_opponent_that_begins_on_a_taken_cell_is_named() -> None:
    message = "the opponent's first action is a taken cell"
    env = TicTacToeVersusEnv()
    env.set_opponent(lambda *_: 0)
    with pytest.raises(gymnasium.error.InvalidAction, match=message):
        env.reset(options={"position": planes("X.. ... ..."), "seat": 0})
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(1)
    for board in ("X.. ... ...", "X... .... ...."):  # looked up in a table, and computed
        shown = np.stack([planes(board)] * 2)
        vector: Any = gymnasium.make_vec(VERSUS, num_envs=2, rows=3, cols=shown.shape[2])
        vector.reset(seed=0)
        before = vector.unwrapped.action_masks()
        vector.unwrapped.set_opponent(lambda _, action_mask: action_mask.argmin(axis=1))
        with pytest.raises(gymnasium.error.InvalidAction, match=message):
            vector.reset(options={"position": shown, "seat": 0})
        np.testing.assert_array_equal(vector.unwrapped.action_masks(), before)


def test_the_array_of_a_position_stays_the_callers() -> None:
    shown = planes("XO. ... ...").astype(np.int8)
    env = TicTacToeEnv(render_mode="ansi")
    env.reset(options={"position": shown})
    shown[:] = 7
    assert env.render() == " X  O  .\n .  .  .\n .  .  .\n"  # no move is the last
    env.step(4)
    assert (shown == 7).all()


@pytest.mark.parametrize("size", [(3, 3, 3), (2, 2, 1)], ids=str)
def test_every_reachable_position_is_taken_where_the_game_goes_on_and_no_first_reply_could_end_it(size: Size) -> None:
    rules, book = Rules(*size), RuleBook(*size)
    for board in book.histories():
        over = book.finished(board)
        ends = any(book.play(board, cell, Rewards()).terminated for cell in empty_cells(board))
        marks = tuple(marks_of(board, mark) for mark in MARKS)
        for perspective in PERSPECTIVES:
            with refusal("the game is over: give an earlier one", over):
                checked = checked_position(rules, book.one_hot(board, perspective), perspective)
                assert checked == marks
        if not over:
            with refusal("reset cannot return", ends):
                check_first_reply(rules, *marks)


def refusal(message: str, refused: bool) -> Any:
    """Return what expects a refusal, or expects none."""
    return pytest.raises(ValueError, match=message) if refused else contextlib.nullcontext()
