"""Check every reachable state and every action of the turn view, and what its calls promise."""

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from tests.tictactoe.rule_book import EMPTY, RuleBook, Verdict, empty_cells, seat_to_move
from tests.tictactoe.shared import sized
from tictactoe import Rewards, Rules, TicTacToeEnv
from tictactoe.rewards import PRESETS

PERSPECTIVES = ("absolute", "mover")
DRAWN_GAME = (0, 4, 8, 2, 6, 3, 5, 7, 1)
WON_WITH_THE_LAST_CELL = (0, 1, 2, 3, 4, 6, 5, 7, 8)
WHOLE_NUMBERS = Rewards(win=5, illegal=-7, allow=-3, draw=2, loss=-4)  # which come back as floats


def played(cells: Iterable[int], **keywords: Any) -> gymnasium.Env[Any, Any]:
    """Return an environment in which these cells have been marked."""
    env = gymnasium.make("TicTacToe-v0", **keywords)
    env.reset()
    for cell in cells:
        env.step(cell)
    return env


def assert_step(step: tuple[Any, ...], verdict: Verdict, book: RuleBook, perspective: str) -> None:
    observation, reward, terminated, truncated, info = step
    assert observation.dtype == np.int8
    assert observation.tolist() == book.one_hot(verdict.board, perspective)
    assert type(reward) is float
    assert reward == verdict.reward
    assert terminated is verdict.terminated
    assert truncated is False
    empty = [1 if terminated else int(held == EMPTY) for held in verdict.board]
    shown = {"action_mask": empty, "to_play": seat_to_move(verdict.board)}
    assert_info(info, **shown, winner=verdict.winner, illegal=verdict.illegal)


def assert_info(info: dict[str, Any], **expected: Any) -> None:
    """Compare an info's values, and their shapes and types, which are the same at every reset and step."""
    assert {key: value.tolist() for key, value in info.items()} == expected
    assert {key: (value.shape, value.dtype) for key, value in info.items()} == {
        "action_mask": ((len(expected["action_mask"]),), np.int8),
        "to_play": ((), np.int64),
        "winner": ((), np.int64),
        "illegal": ((), np.bool_),
    }


@pytest.mark.parametrize(("perspective", "rewards"), [("absolute", Rewards()), ("mover", WHOLE_NUMBERS)])
def test_every_action_in_every_state_follows_the_rule_book(perspective: str, rewards: Rewards) -> None:
    book = RuleBook(3, 3, 3)
    decisions = {board: cells for board, cells in book.histories().items() if not book.finished(board)}
    assert len(decisions) == 4520
    env = gymnasium.make("TicTacToe-v0", perspective=perspective, rewards=rewards)
    for board, history in decisions.items():
        for action in range(9):
            env.reset()
            for cell in history:
                env.step(cell)
            assert_step(env.step(action), book.play(board, action, rewards), book, perspective)


@pytest.mark.parametrize("size", [(1, 1, 1), (3, 3, 1), (1, 4, 2), (4, 2, 3), (8, 8, 5), (10, 9, 5)], ids=str)
@pytest.mark.parametrize("rewards", PRESETS)
def test_random_games_on_other_boards_follow_the_rule_book(size: tuple[int, int, int], rewards: str) -> None:
    book = RuleBook(*size)
    rng = np.random.default_rng(book.cells)
    env = gymnasium.make("TicTacToe-v0", **sized(size), rewards=rewards, perspective="mover")
    for _ in range(4):
        observation, _ = env.reset()
        verdict = Verdict(book.empty_board, 0.0, terminated=False)
        assert observation.tolist() == book.one_hot(verdict.board, "mover")
        while not verdict.terminated:
            legal = rng.random() < 0.99
            action = int(rng.choice(empty_cells(verdict.board)) if legal else rng.integers(book.cells))
            verdict = book.play(verdict.board, action, PRESETS[rewards])
            assert_step(env.step(action), verdict, book, "mover")


@pytest.mark.parametrize("perspective", PERSPECTIVES)
def test_arrays_are_fresh_at_every_call_and_writing_into_them_changes_no_game(perspective: str) -> None:
    book = RuleBook(3, 3, 3)
    env, board = gymnasium.make("TicTacToe-v0", perspective=perspective), book.empty_board
    observation, info = env.reset()
    given: list[np.ndarray] = []
    for cell in DRAWN_GAME:
        given += [observation, info["action_mask"], env.unwrapped.action_masks()]  # type: ignore[attr-defined]
        for array in given[-3:]:
            array[:] = 7
        verdict = book.play(board, cell, Rewards())
        step = env.step(cell)
        assert_step(step, verdict, book, perspective)
        board, observation, info = verdict.board, step[0], step[4]
    given += [observation, info["action_mask"], env.unwrapped.action_masks()]  # type: ignore[attr-defined]
    for number, array in enumerate(given):
        assert not any(np.shares_memory(array, other) for other in given[:number])


@pytest.mark.parametrize(
    "action",
    [9, -1, 10**30, 1.0, np.float64(1), float("nan"), "1", None, np.array([1]), [1], True, np.True_],
    ids=repr,
)
def test_what_is_no_cell_is_refused_and_changes_nothing(action: Any) -> None:
    book, cells = RuleBook(3, 3, 3), (4, 0, 8)
    env, board = played(cells, render_mode="ansi"), ("O", ".", ".", ".", "X", ".", ".", ".", "X")
    drawing = env.render()
    with pytest.raises(gymnasium.error.InvalidAction, match="action must be an integer from 0 to 8"):
        env.step(action)
    assert env.render() == drawing
    assert_step(env.step(1), book.play(board, 1, Rewards()), book, "absolute")


def test_writing_into_an_info_changes_no_other() -> None:
    env = played([])
    for illegal in (False, True):  # the second time the cell is taken
        info = env.step(0)[4]
        assert info["illegal"] == illegal
        info["illegal"][...] = not illegal
    assert not env.reset()[1]["illegal"]
    assert not env.step(0)[4]["illegal"]


def test_gymnasiums_vectors_of_single_environments_count_illegal_moves() -> None:
    boards = SyncVectorEnv([lambda: gymnasium.make("TicTacToe-v0")] * 3)
    boards.reset()
    boards.step(np.array([4, 4, 4]))
    infos = boards.step(np.array([4, 4, 0]))[4]
    assert infos["illegal"].sum() == 2
    assert infos["winner"].tolist() == [0, 0, -1]


@pytest.mark.parametrize("action", [2, np.int64(2), np.int8(2), np.uint8(2), np.array(2)], ids=repr)
def test_any_integer_is_an_action(action: Any) -> None:
    step = played([]).step(action)
    assert step[4]["action_mask"].tolist() == [1, 1, 0, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("cells", [(0, 3, 1, 4, 2), DRAWN_GAME, (0, 0)], ids=["won", "drawn", "illegal"])
def test_step_needs_a_game(cells: tuple[int, ...]) -> None:
    env = gymnasium.make("TicTacToe-v0")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    for _ in range(2):
        observation, info = env.reset()
        assert observation[..., 0].all()
        assert_info(info, action_mask=[1] * 9, to_play=0, winner=-1, illegal=False)
        for cell in cells:
            env.step(cell)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(5)


def test_reset_abandons_a_game_that_goes_on() -> None:
    env = played((0, 3, 1))
    observation, info = env.reset(seed=5)
    assert observation.tolist() == RuleBook(3, 3, 3).one_hot((EMPTY,) * 9, "absolute")
    assert info["to_play"] == 0
    assert env.step(2)[1:3] == (0.0, False)


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"rows": 0}, ValueError, "rows must be a positive integer, got 0"),
        ({"cols": 2.5}, ValueError, r"cols must be a positive integer, got 2\.5"),
        ({"k": 4}, ValueError, "k=4 on a 3x3 board"),
        ({"rewards": "dense"}, ValueError, "'dense'"),
        ({"rewards": 1}, TypeError, "got 1"),
        ({"perspective": "mine"}, ValueError, "'mine'.*absolute, mover"),
        ({"render_mode": "braille"}, ValueError, "'braille'.*ansi"),
    ],
    ids=str,
)
def test_a_bad_keyword_value_is_named(keywords: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TicTacToeEnv(**keywords)


@pytest.mark.parametrize(
    ("cells", "drawing"),
    [
        ((), " .  .  .\n .  .  .\n .  .  .\n"),
        ((0, 4, 1, 8), " X  X  .\n .  O  .\n .  . (O)\n"),
        ((0, 4, 1, 8, 2), "[X][X][X]\n .  O  .\n .  .  O\n"),
        ((1, 2, 0, 4, 3, 6), " X  X [O]\n X [O] .\n[O] .  .\n"),
        (WON_WITH_THE_LAST_CELL, "[X] O [X]\n O [X][X]\n O  O [X]\n"),
        ((0, 4, 4), " X  .  .\n . (O) .\n .  .  .\n"),
    ],
    ids=["empty", "last move", "row", "antidiagonal", "two lines", "illegal"],
)
def test_ansi_marks_the_last_move_and_winning_lines(cells: tuple[int, ...], drawing: str) -> None:
    assert played(cells, render_mode="ansi").render() == drawing


def test_ansi_draws_boards_that_are_not_square() -> None:
    env = played((0, 4, 1, 5, 2), rows=2, cols=4, k=3, render_mode="ansi")
    assert env.render() == "[X][X][X] .\n O  O  .  .\n"


@pytest.mark.parametrize("perspective", PERSPECTIVES)
@pytest.mark.parametrize("size", [(3, 3, 3), (4, 6, 4)], ids=str)
def test_gymnasium_finds_nothing_wrong(size: tuple[int, int, int], perspective: str) -> None:
    env = gymnasium.make("tictactoe:TicTacToe-v0", **sized(size), perspective=perspective)
    assert isinstance(env.unwrapped, TicTacToeEnv)
    assert env.unwrapped.rules == Rules(*size)
    check_env(env.unwrapped)
