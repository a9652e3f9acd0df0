"""Games of both vector environments that start from given positions are those of single environments."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.tictactoe.shared import TURN, VERSUS, sized
from tests.tictactoe.test_vector import first_empty, last_empty_or_illegal
from tictactoe import Rules
from tictactoe.tree import game_tree

BOARDS = [(3, 3, 3), (3, 4, 3), (7, 7, 5), (8, 8, 5)]


def positions(size: tuple[int, ...], perspective: str, number: int) -> np.ndarray:
    """Return boards as the seat to move observes them in random games, [number, R, C, 3]."""
    env = gymnasium.make_vec(TURN, num_envs=number, **sized(size), perspective=perspective)
    rng = np.random.default_rng(5)
    seen, info = env.reset()
    found: np.ndarray = seen
    leave = rng.integers(size[0] * size[1], size=number)
    over = np.zeros(number, bool)
    for ply in range(int(leave.max())):
        mask = info["action_mask"]
        seen, _, terminated, _, info = env.step(np.where(mask == 1, rng.random(mask.shape), -1).argmax(axis=1))
        over |= terminated
        found = np.where((over | (ply >= leave))[:, None, None, None], found, seen)
    return found


@pytest.mark.parametrize("size", BOARDS, ids=str)
@pytest.mark.parametrize("perspective", ["absolute", "mover"])
@pytest.mark.parametrize("opponent", [None, first_empty, last_empty_or_illegal], ids=["turn", "first", "illegal"])
def test_games_from_a_position_are_those_of_single_environments(
    size: tuple[int, ...], perspective: str, opponent: Any
) -> None:
    starts = positions(size, perspective, 40)
    settings = {**sized(size), "perspective": perspective, "rewards": "sparse"}
    env_id = TURN if opponent is None else VERSUS
    vector: Any = gymnasium.make_vec(env_id, num_envs=40, autoreset_mode="NextStep", **settings)
    single = [gymnasium.make(env_id, **settings) for _ in range(40)]
    options: dict[str, Any] = {"position": starts}
    if opponent is not None:
        vector.unwrapped.set_opponent(opponent)
        for env in single:
            env.unwrapped.set_opponent(lambda *seen: int(opponent(*seen)))  # type: ignore[attr-defined]
        # In every other game the opponent is to move, where it cannot end it.
        options["seat"] = np.zeros(40, np.int64)
        for board, env in enumerate(single):
            options["seat"][board] = board % 2
            try:
                env.reset(seed=0, options={"position": starts[board], "seat": board % 2})
            except (ValueError, gymnasium.error.InvalidAction):
                options["seat"][board] = 1 - board % 2
        assert 0 < options["seat"].sum() < 40
    each = [{key: value[board] for key, value in options.items()} for board in range(40)]
    seen, info = vector.reset(seed=0, options=options)
    begun = [env.reset(seed=0, options=asked) for env, asked in zip(single, each, strict=True)]
    for board, (one, about) in enumerate(begun):
        np.testing.assert_array_equal(seen[board], one)
        if opponent is None:
            np.testing.assert_array_equal(one, starts[board])
        assert {key: info[key][board].tolist() for key in about} == {key: about[key].tolist() for key in about}
    playing = np.ones(40, bool)
    rng = np.random.default_rng(1)
    while playing.any():
        mask = info["action_mask"]
        cells = np.where(mask == 1, rng.random(mask.shape), -1).argmax(axis=1)
        seen, reward, terminated, _, info = vector.step(cells)
        for board in np.flatnonzero(playing).tolist():
            one, own, ended, _, about = single[board].step(int(cells[board]))
            np.testing.assert_array_equal(seen[board], one)
            assert (reward[board], terminated[board]) == (own, ended)
            assert {key: info[key][board].tolist() for key in about} == {key: about[key].tolist() for key in about}
        playing &= ~terminated


def test_every_decision_state_starts_a_game() -> None:
    tree = game_tree(Rules())
    states = tree.decisions
    marks = [(tree.mover[states], tree.opponent[states]), (tree.opponent[states], tree.mover[states])]
    x_marks, o_marks = (np.where(tree.ply[states] % 2 == 0, *pair) for pair in zip(*marks, strict=True))
    held = [(side[:, None] >> np.arange(9)) & 1 for side in (x_marks, o_marks)]
    boards = np.stack([1 - held[0] - held[1], *held], axis=-1).reshape(-1, 3, 3, 3)
    env = gymnasium.make_vec(TURN, num_envs=len(states))
    seen, info = env.reset(options={"position": boards})
    assert len(states) == 4520
    np.testing.assert_array_equal(seen, boards)
    np.testing.assert_array_equal(info["to_play"], tree.ply[states] % 2)
    np.testing.assert_array_equal(info["action_mask"], 1 - held[0] - held[1])


def test_a_seat_holds_for_its_own_game_alone() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=2, autoreset_mode="SameStep")
    env.reset(seed=0, options={"seat": np.array([1, 0])})
    assert env.unwrapped.seats.tolist() == [1, 0]
    ended = np.zeros(2, bool)
    mask = env.unwrapped.action_masks()
    while not ended.all():
        *_, info = env.step(mask.argmax(axis=1))
        mask = info["action_mask"]
        ended |= info.get("_final_info", False)
    env.reset(options={"reset_mask": np.array([True, False])})
    assert env.unwrapped.seats.tolist() == [0, 0]


@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_boards_without_a_new_game_keep_theirs(size: tuple[int, ...]) -> None:
    env = gymnasium.make_vec(TURN, num_envs=2, **sized(size))
    env.reset()
    before, *_ = env.step([0, 1])
    boards = np.zeros((2, *size[:2], 3))  # of the second nothing is asked
    boards[0, ..., 0] = 1
    boards[0, 1, 1] = [0, 1, 0]
    seen, info = env.reset(options={"reset_mask": np.array([True, False]), "position": boards})
    np.testing.assert_array_equal(seen[0], boards[0])
    np.testing.assert_array_equal(seen[1], before[1])
    assert info["to_play"].tolist() == [1, 1]


EMPTY = np.zeros((2, 3, 3, 3))
EMPTY[..., 0] = 1
X_WINS = EMPTY.copy()
X_WINS[1, :2, :2] = [[[0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1]]]


@pytest.mark.parametrize(
    ("env_id", "options", "message"),
    [
        (TURN, {"start": EMPTY}, "unknown option 'start' of reset: choose from reset_mask, position, seat"),
        (TURN, {"position": EMPTY[0]}, "position must hold 2 boards, [2, 3, 3, 3]"),
        (TURN, {"position": np.stack([EMPTY[0], EMPTY[0] * 2])}, "board 1: position must be one-hot"),
        (TURN, {"position": EMPTY, "seat": [0, 1]}, "board 1: option seat must be 0, the seat to move"),
        (TURN, {"seat": 2}, "option seat must be 0 or 1, or one of them for each of 2 boards, got 2"),
        (VERSUS, {"seat": [0, 1, 0]}, "option seat must be 0 or 1, or one of them for each of 2 boards"),
        (VERSUS, {"position": X_WINS, "seat": 1}, "board 1: an opponent who moves first in this position could"),
    ],
)
def test_what_starts_no_game_is_refused_and_changes_nothing(env_id: str, options: dict[str, Any], message: str) -> None:
    env: Any = gymnasium.make_vec(env_id, num_envs=2)
    twin: Any = gymnasium.make_vec(env_id, num_envs=2)
    env.reset(seed=0), twin.reset(seed=0)
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        env.reset(seed=1, options=options)
    for one, other in zip(env.step([4, 4])[:2], twin.step([4, 4])[:2], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_first_reply_that_is_no_empty_cell_begins_no_game() -> None:
    for size in ((3, 3, 3), (3, 4, 3)):
        env: Any = gymnasium.make_vec(VERSUS, num_envs=2, **sized(size))
        env.reset(seed=0)
        env.step([0, 0])
        before = env.unwrapped.action_masks()
        env.unwrapped.set_opponent(lambda _, action_mask: action_mask.argmin(axis=1))
        board = np.zeros((2, *size[:2], 3))
        board[..., 0] = 1
        board[:, 0, 0] = [0, 1, 0]
        with pytest.raises(gymnasium.error.InvalidAction, match="the opponent's first action is a taken cell"):
            env.reset(options={"position": board, "seat": 0})
        np.testing.assert_array_equal(env.unwrapped.action_masks(), before)
