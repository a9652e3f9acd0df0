"""The opponents inside the versus environments: their randomness, their errors, and those that do not exist."""

import sys
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.tictactoe.driver import VERSUS, first_empty, random_actions, sized
from tictactoe import TicTacToeVersusEnv, TicTacToeVersusVectorEnv
from tictactoe.opponents import OPPONENTS


def test_a_random_seat_is_sampled_for_each_game_from_the_environments_generator() -> None:
    def seats(seed: int) -> list[int]:
        game = TicTacToeVersusEnv(seat="random")
        game.reset(seed=seed)
        found = []
        for _ in range(200):
            game.reset()
            found.append(game.seat)
        return found

    assert seats(1) == seats(1)
    assert seats(1) != seats(2)
    assert 70 < sum(seats(1)) < 130


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_the_same_seed_gives_the_same_games(opponent: str) -> None:
    def boards(seed: int) -> list[bytes]:
        game = TicTacToeVersusEnv(opponent, 1)
        found = []
        for number in range(30):
            observation, _ = game.reset(seed=seed if number == 0 else None)
            found.append(observation.tobytes())
            found.append(game.step(int(np.flatnonzero(game.action_masks())[0]))[0].tobytes())
        return found

    assert boards(4) == boards(4)
    assert boards(4) != boards(5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *[
            ({"opponent": one}, f"unknown opponent '{one}': choose from random, heuristic, rule, ")
            for one in ("me", "")
        ],
        *[({"seat": one}, "unknown seat .*: choose 0, 1 or 'random'") for one in (2, -1, 1.0, True, "first", None)],
        ({"seat": np.array([0, 1])}, "unknown seat"),
        ({"opponent": "optimal", "rows": 5, "cols": 13}, "up to 64 cells"),
        *[({"seat": one, "k": 1}, "with k=1 the first move wins: seat must be 0") for one in (1, "random")],
    ],
    ids=str,
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    for make in (TicTacToeVersusEnv, TicTacToeVersusVectorEnv):
        with pytest.raises(ValueError, match=message):
            make(**settings)


@pytest.mark.parametrize("opponent", [[1], None, "minimax"], ids=repr)
def test_an_unknown_opponent_leaves_the_old_one(opponent: Any) -> None:
    game = TicTacToeVersusEnv()
    game.set_opponent(lambda *_: 8)
    with pytest.raises(ValueError, match=r"unknown opponent .*: choose from random, heuristic, rule, optimal"):
        game.set_opponent(opponent)
    game.reset()
    assert game.step(0)[0][2, 2].tolist() == [0, 0, 1]


def test_a_live_opponent_never_hides_in_the_specification() -> None:
    env = gymnasium.make(VERSUS, opponent="heuristic")
    before = env.spec.to_json()  # type: ignore[union-attr]
    env.unwrapped.set_opponent(first_empty)  # type: ignore[attr-defined]
    assert env.spec.to_json() == before  # type: ignore[union-attr]
    with pytest.raises(TypeError, match=r"pass a function to set_opponent\(\) instead"):
        gymnasium.make(VERSUS, opponent=first_empty)


@pytest.mark.parametrize("answer", [1.5, None, 9, "centre", ValueError("no move")])
def test_an_opponent_that_fails_ends_the_game_and_is_heard(answer: Any) -> None:
    def opponent(*_: Any) -> Any:
        if isinstance(answer, ValueError):
            raise answer
        return answer

    game = TicTacToeVersusEnv()
    game.reset(seed=0)
    game.set_opponent(opponent)
    message = "the opponent's action must be an integer from 0 to 8|^no move$"
    with pytest.raises((gymnasium.error.InvalidAction, ValueError), match=message):
        game.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):  # or the agent would move in the opponent's place
        game.step(1)


def test_optimal_on_a_board_that_is_searched_is_never_beaten() -> None:
    pytest.importorskip("numba", reason="without Numba there is no search")
    for seat in (0, 1):
        env = gymnasium.make_vec(VERSUS, num_envs=2, opponent="optimal", seat=seat, **sized((5, 5, 4)))
        _, info = env.reset(seed=seat)
        rng = np.random.default_rng(seat)
        winners: list[int] = []
        while len(winners) < 3:
            actions = random_actions(info["action_mask"], rng, careless=0)
            _, _, over, _, info = env.step(actions)
            winners += info["winner"][over].tolist()
        assert seat not in winners
        assert 1 - seat in winners  # random moves lose


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec], ids=["single", "vector"])
def test_optimal_on_a_board_that_is_searched_wants_numba(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tictactoe.compiled_search", None)
    monkeypatch.delattr("tictactoe.compiled_search", raising=False)
    with pytest.raises(ImportError, match=r"numba is not installed, .*: pip install 'tictactoe-selfplay\[train\]'"):
        make(VERSUS, opponent="optimal", **sized((5, 5, 4)))
    make(VERSUS, opponent="optimal")
    make(VERSUS, opponent="rule", **sized((5, 5, 4)))
