"""The opponents inside the versus environments: how they are asked, their errors and their randomness."""

import pickle
import sys
from collections.abc import Sequence
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.tictactoe.driver import VERSUS
from tictactoe import Rules, TicTacToeVersusEnv, TicTacToeVersusVectorEnv


class UnmaskedAgent:
    """Mark the first empty cell of each of many boards."""

    def act(self, observation: Any) -> Any:
        assert observation.ndim == 4  # as an evaluation shows it
        return observation[..., 0].reshape(-1, 9).argmax(axis=1)


class MaskedAgent:
    """Do the same by the mask."""

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        assert observation.ndim == 4
        return action_mask.argmax(axis=1)


def first_empty(seen: Any) -> Any:
    return seen[..., 0].reshape(-1, 9).argmax(1).squeeze()


FIRST_EMPTY = {
    "act": UnmaskedAgent(),
    "act with mask": MaskedAgent(),
    "function": first_empty,
    "function with mask": lambda _, legal: legal.argmax(axis=-1),
    "mask by name": lambda _, *, mask=None: mask.argmax(axis=-1),
    "a number and a mask": lambda _, eps=0.0, legal_mask=None: legal_mask.argmax(axis=-1) if eps == 0 else 8,
    "another name": lambda seen, legal_cells=None: first_empty(seen) if legal_cells is None else 8,
    "any number": lambda *seen: first_empty(*seen),  # noqa: PLW0108 (which takes one)
}
"""Opponents that mark the first empty cell."""


@pytest.mark.parametrize("opponent", FIRST_EMPTY.values(), ids=FIRST_EMPTY)
@pytest.mark.parametrize("make", [gymnasium.make, partial(gymnasium.make_vec, num_envs=2)], ids=["single", "vector"])
def test_any_agent_is_an_opponent(opponent: Any, make: Any) -> None:
    given, later = make(VERSUS, opponent=opponent, seat=1), make(VERSUS, seat=1)
    later.unwrapped.set_opponent(opponent)
    for env in (given, later):
        env.reset(seed=0)
        observation, *_ = env.step(env.action_space.sample() * 0 + 8)
        assert {str(board) for board in observation[..., 1].reshape(-1, 9)} == {"[1 1 0 0 0 0 0 0 0]"}
    if opponent is first_empty:  # of a module, as pickle wants it
        assert pickle.loads(pickle.dumps(given)).reset(seed=0)[0][..., 0, 0, 1].all()


FAILS = [*product(["reset", "step"], [1.5, None, 90, ValueError("no move")]), ("reset", "taken")]
"""Calls and what an opponent answers in them; in `step` a taken cell is a legal reply."""


@pytest.mark.parametrize(("call", "answer"), FAILS, ids=str)
@pytest.mark.parametrize("in_batches", [False, True])
@pytest.mark.parametrize("cols", [3, 4], ids=["table", "computed"])
@pytest.mark.parametrize("kind", [TicTacToeVersusEnv, partial(TicTacToeVersusVectorEnv, 2)], ids=["single", "vector"])
def test_an_opponent_that_fails_is_heard_and_ends_one_game_or_changes_nothing(
    kind: Any, cols: int, in_batches: bool, call: str, answer: Any
) -> None:
    def opponent(seen: Any, _: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        chosen = 0 if answer == "taken" else answer
        return [chosen] * len(seen) if seen.ndim == 4 else chosen

    env = kind(cols=cols)
    vector = hasattr(env, "num_envs")
    marks = np.zeros((2, 3, cols) if vector else (3, cols), int)
    marks[..., 0, 0] = 1
    position = np.eye(3)[marks]  # X is in the first cell
    env.reset(seed=0, options={"seat": 1})
    before = env.action_masks()
    env.set_opponent(SimpleNamespace(act=opponent) if in_batches else opponent)
    with pytest.raises((gymnasium.error.InvalidAction, ValueError), match=r"opponent|^no move$"):
        env.step(before.argmax(-1)) if call == "step" else env.reset(options={"position": position, "seat": 0})
    if vector:
        assert env.action_masks().tolist() == before.tolist()
        assert env.seats.tolist() == [1, 1]
    else:
        with pytest.raises(gymnasium.error.ResetNeeded):  # or the agent would move in the opponent's place
            env.step(1)


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec], ids=["single", "vector"])
def test_optimal_on_a_board_that_is_searched_wants_numba(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tictactoe.compiled_search", None)
    monkeypatch.delattr("tictactoe.compiled_search", raising=False)
    with pytest.raises(ImportError, match="numba"):
        make(VERSUS, opponent="optimal", rules=Rules(5, 5, 4))
    make(VERSUS, opponent="optimal")
    make(VERSUS, opponent="rule", rules=Rules(5, 5, 4))


VECTORIZATION = pytest.mark.parametrize("vectorization", ["sync", "vector_entry_point"])


@VECTORIZATION
def test_games_and_seats_follow_from_the_seed_alone(vectorization: str) -> None:
    def games(seed: int) -> bytes:
        np.random.seed(seed % 7)  # noqa: NPY002 (the global stream must not matter)
        env = gymnasium.make_vec(VERSUS, 30, vectorization, opponent="random", seat="random")
        observation, info = env.reset(seed=seed)
        assert set(info["to_play"].tolist()) == {0, 1}
        seen = [observation]
        for _ in range(6):
            observation, *_, info = env.step(info["action_mask"].argmax(axis=1))
            seen.append(observation)
        return np.stack(seen).tobytes()

    assert games(1) == games(1) != games(2)


@VECTORIZATION
@pytest.mark.parametrize(("opponent", "choices"), [("random", range(1, 9)), ("heuristic", range(1, 9)), ("rule", [4])])
def test_replies_to_a_mark_in_the_corner_are_spread_over_all_choices(
    opponent: str, choices: Sequence[int], vectorization: str
) -> None:
    vector = gymnasium.make_vec(VERSUS, 800, vectorization, opponent=opponent)
    vector.reset(seed=1)
    replies = vector.step(np.zeros(800, int))[0][..., 2].reshape(800, 9).sum(axis=0)
    assert np.flatnonzero(replies).tolist() == list(choices)
    expected = 800 / len(choices)
    assert np.abs(replies[choices] - expected).max() < 5 * np.sqrt(expected)  # five standard deviations
