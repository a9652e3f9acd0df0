"""Every way of holding the games of a vector environment gives the same: tables, NumPy's bitboards, compiled loops."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.tictactoe.shared import TURN, VERSUS, assert_same, random_actions, sized
from tictactoe.envs import base_vector
from tictactoe.envs.backends.bitboards import BitboardGames
from tictactoe.opponents import OPPONENTS

NUM_ENVS = 40
COMPUTED = [(3, 4, 3), (4, 4, 4), (2, 10, 2), (7, 7, 5), (1, 64, 6), (8, 8, 5)]


@pytest.fixture(params=["tables", "compiled"])
def fast(request: pytest.FixtureRequest) -> str:
    if request.param == "compiled":
        pytest.importorskip("numba", reason="without Numba there is no compiled way to compare")
    return str(request.param)


def by_numpy(patched: pytest.MonkeyPatch, make: Any) -> Any:
    """Return an environment that computes every ply by NumPy on bitboards."""
    with patched.context() as changes:
        changes.setattr(base_vector, "fastest", lambda _: BitboardGames)
        return make()


def compare(ours: Any, theirs: Any, plies: int) -> int:
    """Play the same cells in both, compare all they return, and return how many games ended."""
    rng = np.random.default_rng(0)
    results: Any = ours.reset(seed=0), theirs.reset(seed=0)
    ended = 0
    for _ in range(plies):
        for one, other in zip(*results, strict=True):
            assert_same(one, other)
        over = results[0][2] if len(results[0]) == 5 else np.zeros(NUM_ENVS, bool)
        ended += int(over.sum())
        if ours.metadata["autoreset_mode"] is AutoresetMode.DISABLED and over.any():
            results = tuple(env.reset(options={"reset_mask": over}) for env in (ours, theirs))
        else:
            actions = random_actions(results[0][-1]["action_mask"], rng)
            results = tuple(env.step(actions) for env in (ours, theirs))
    return ended


def sizes(way: str) -> Iterator[tuple[int, ...]]:
    yield from [(3, 3, 3), (1, 4, 2), (2, 4, 3)] if way == "tables" else COMPUTED


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("perspective", ["absolute", "mover"])
def test_the_turn_view_is_the_same_every_way(
    fast: str, mode: AutoresetMode, perspective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in sizes(fast):

        def make(size: tuple[int, ...] = size) -> Any:
            settings = {**sized(size), "perspective": perspective}
            return gymnasium.make_vec(TURN, num_envs=NUM_ENVS, autoreset_mode=mode, **settings)

        assert compare(make(), by_numpy(monkeypatch, make), plies=90) > NUM_ENVS


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(("seat", "perspective"), [(0, "absolute"), (1, "mover"), ("random", "mover")])
def test_the_versus_view_is_the_same_every_way_to_the_last_draw(
    fast: str, opponent: str, mode: AutoresetMode, seat: int | str, perspective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in sizes(fast):
        if opponent == "optimal" and size[0] * size[1] > 12:
            continue

        def make(size: tuple[int, ...] = size) -> Any:
            settings = {**sized(size), "perspective": perspective, "rewards": "sparse"}
            return gymnasium.make_vec(
                VERSUS, num_envs=NUM_ENVS, autoreset_mode=mode, opponent=opponent, seat=seat, **settings
            )

        assert compare(make(), by_numpy(monkeypatch, make), plies=60) > NUM_ENVS


def test_big_boards_play_without_numba() -> None:
    lines = """
import sys
sys.modules["numba"] = None
import gymnasium, tictactoe
env = gymnasium.make_vec("TicTacToe-v0", num_envs=2, rows=4, cols=4, k=4)
env.reset(seed=0)
print(env.step([3, 5])[4]["action_mask"].sum(), type(env.unwrapped._games).__name__)
"""
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert done.stdout == "30 BitboardGames\n"


def test_few_actions_are_taken_as_they_come_and_never_written_to() -> None:
    for size in ((3, 3, 3), (4, 4, 4)):
        env = gymnasium.make_vec(TURN, num_envs=2, **sized(size))
        env.reset()
        cells = np.array([0, 9, 1, 9])[::2]
        cells.flags.writeable = False
        env.step(cells)
        assert env.step(np.array([2, 3]))[4]["action_mask"].sum() == 2 * (size[0] * size[1] - 2)
