"""The opponents inside the versus environments: their randomness, their errors, and those that do not exist."""

import pickle
import sys
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.tictactoe.driver import VERSUS
from tictactoe import Rules, TicTacToeVersusEnv, TicTacToeVersusVectorEnv
from tictactoe.opponents import OPPONENTS


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"opponent": "me"}, f"opponent 'me'.*{', '.join(OPPONENTS)}"),
        ({"opponent": None}, "opponent None"),
        pytest.param(
            {"opponent": type("Module", (), {"__call__": print, "forward": print})()},
            "opponent .*Module.*lambda",
            id="a module",
        ),
        ({"seat": 2}, "seat 2"),
        ({"seat": "first"}, "seat 'first'"),
        ({"opponent": "optimal", "rows": 5, "cols": 13}, "64 cells"),
        ({"seat": 1, "k": 1}, "seat=0"),
        ({"seat": "random", "k": 1}, "seat=0"),
    ],
    ids=str,
)
def test_bad_settings_are_named(settings: dict[str, Any], named: str) -> None:
    for make in (TicTacToeVersusEnv, TicTacToeVersusVectorEnv):
        with pytest.raises(ValueError, match=named):
            make(**settings)


class Agent:
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


@pytest.mark.parametrize(
    "opponent",
    [
        Agent(),
        MaskedAgent(),
        lambda _, legal: legal.argmax(axis=-1),
        lambda _, *, mask=None: mask.argmax(axis=-1),
        lambda _, eps=0.0, legal_mask=None: legal_mask.argmax(axis=-1) if eps == 0 else 8,
        lambda seen, legal_cells=None: first_empty(seen) if legal_cells is None else 8,
        lambda seen, empty=first_empty: empty(seen),
        lambda *seen: first_empty(*seen),  # noqa: PLW0108 (which takes one)
        first_empty,
    ],
    ids=[
        "act",
        "act with mask",
        "function with mask",
        "mask by name",
        "a number and a mask",
        "another name",
        "a default",
        "any number",
        "function",
    ],
)
@pytest.mark.parametrize(
    ("make", "cells"),
    [(gymnasium.make, 8), (partial(gymnasium.make_vec, num_envs=2), [8, 8])],
    ids=["single", "vector"],
)
def test_any_agent_is_an_opponent(opponent: Any, make: Any, cells: Any) -> None:
    given, later = make(VERSUS, opponent=opponent, seat=1), make(VERSUS, seat=1)
    later.unwrapped.set_opponent(opponent)
    for env in (given, later):
        env.reset(seed=0)
        observation, *_ = env.step(cells)
        x_marks = observation[..., 1].reshape(-1, 9)
        assert x_marks.tolist() == [[1, 1, 0, 0, 0, 0, 0, 0, 0]] * np.size(cells)
    if opponent is first_empty:  # of a module, as pickle wants it
        assert pickle.loads(pickle.dumps(given)).reset(seed=0)[0][..., 1].sum() == np.size(cells)


@pytest.mark.parametrize("answer", [1.5, None, 9, ValueError("no move")])
@pytest.mark.parametrize("in_batches", [False, True])
def test_an_opponent_that_fails_ends_the_game_and_is_heard(answer: Any, in_batches: bool) -> None:
    def opponent(*_: Any) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return [answer] if in_batches else answer

    game = TicTacToeVersusEnv()
    game.reset(seed=0)
    game.set_opponent(SimpleNamespace(act=opponent) if in_batches else opponent)
    with pytest.raises((gymnasium.error.InvalidAction, ValueError), match=r"opponent|^no move$"):
        game.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):  # or the agent would move in the opponent's place
        game.step(1)


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
@pytest.mark.parametrize("opponent", OPPONENTS)
def test_games_and_seats_follow_from_the_seed_alone(opponent: str, vectorization: str) -> None:
    def games(seed: int) -> bytes:
        np.random.seed(seed % 7)  # noqa: NPY002 (the global stream must not matter)
        env = gymnasium.make_vec(VERSUS, 30, vectorization, opponent=opponent, seat="random")
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
