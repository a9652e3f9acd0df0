"""The vector of games against an opponent: its seats, its replies and their randomness."""

import sys
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.tictactoe.shared import VERSUS, sized
from tictactoe.opponents import OPPONENTS


def test_seats_are_drawn_for_boards_that_start_alone() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=200, seat="random", autoreset_mode="SameStep")
    _, info = env.reset(seed=0)
    changed = 0
    for ply in range(12):
        before = env.unwrapped.seats
        if ply % 4 == 3:
            started = np.arange(200) % 3 == 0
            _, info = env.reset(options={"reset_mask": started})
        else:
            _, _, started, _, info = env.step(info["action_mask"].argmax(axis=1))
        after = env.unwrapped.seats
        np.testing.assert_array_equal(after[~started], before[~started])
        changed += int((after != before).sum())
    assert changed > 50


def test_an_opponent_that_answers_no_cell_is_named_and_nothing_changes() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=2)
    env.reset(seed=0)
    before = env.unwrapped.action_masks()
    env.unwrapped.set_opponent(lambda observation, action_mask: np.full(len(observation), 9.5))  # noqa: ARG005
    with pytest.raises(gymnasium.error.InvalidAction, match="the opponent's actions must be 2 integers"):
        env.step([0, 0])
    np.testing.assert_array_equal(env.unwrapped.action_masks(), before)


def test_an_opponent_that_fails_to_begin_a_game_leaves_every_game_as_it_was() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=20, seat="random", autoreset_mode="Disabled")
    env.unwrapped.set_opponent(lambda *_: "none")
    with pytest.raises(gymnasium.error.InvalidAction):
        env.reset(seed=0)
    with pytest.raises(gymnasium.error.ResetNeeded):  # or the agent would move in the opponent's place
        env.step([0] * 20)
    env.unwrapped.set_opponent("random")
    env.reset(seed=0)
    before, seats = env.unwrapped.action_masks(), env.unwrapped.seats
    env.unwrapped.set_opponent(lambda *_: "none")
    with pytest.raises(gymnasium.error.InvalidAction):
        env.reset()
    np.testing.assert_array_equal(env.unwrapped.action_masks(), before)
    np.testing.assert_array_equal(env.unwrapped.seats, seats)


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_versus_draws_from_its_seed_alone(opponent: str) -> None:
    def games(seed: int) -> bytes:
        env = gymnasium.make_vec(VERSUS, num_envs=50, opponent=opponent, seat="random")
        np.random.seed(seed % 7)  # noqa: NPY002 (the global stream must not matter)
        observation, info = env.reset(seed=seed)
        seen = [observation]
        for _ in range(20):
            observation, *_, info = env.step(info["action_mask"].argmax(axis=1))
            seen.append(observation)
        return np.stack(seen).tobytes()

    assert games(1) == games(1)
    assert games(1) != games(2)


@pytest.mark.parametrize(
    ("opponent", "seat"), [("random", 0), ("random", 1), ("heuristic", 0), ("rule", 0), ("optimal", 1)]
)
def test_versus_replies_are_spread_like_those_of_single_environments(opponent: str, seat: int) -> None:
    """Compare how often each result comes up when the agent plays its first empty cell."""
    games = 4000
    vector = gymnasium.make_vec(VERSUS, num_envs=games, opponent=opponent, seat=seat, autoreset_mode="SameStep")
    _, info = vector.reset(seed=1)
    first_game, winner = np.ones(games, bool), np.zeros(games, int)
    for _ in range(5):
        *_, info = vector.step(info["action_mask"].argmax(axis=1))
        if "final_info" in info:
            ended = first_game & info["_final_info"]
            winner[ended] = info["final_info"]["winner"][ended]
            first_game &= ~ended
    assert not first_game.any()

    single = gymnasium.make(VERSUS, opponent=opponent, seat=seat)
    single.reset(seed=2)
    expected = []
    for _ in range(games):
        _, info = single.reset()
        terminated = False
        while not terminated:
            _, _, terminated, _, info = single.step(int(info["action_mask"].argmax()))
        expected.append(info["winner"])
    # Five standard deviations of the difference of two frequencies.
    frequencies, others = (np.bincount(np.array(seats) + 1, minlength=3) / games for seats in (winner, expected))
    np.testing.assert_allclose(frequencies, others, atol=5 * np.sqrt(0.5 / games))


def test_optimal_on_a_board_that_is_searched_is_never_beaten() -> None:
    pytest.importorskip("numba", reason="without Numba there is no search")
    for seat in (0, 1):
        env = gymnasium.make_vec(VERSUS, num_envs=4, opponent="optimal", seat=seat, **sized((5, 5, 4)))
        _, info = env.reset(seed=seat)
        rng = np.random.default_rng(seat)
        winners: list[int] = []
        while len(winners) < 8:
            actions = np.where(info["action_mask"] == 1, rng.random((4, 25)), -1).argmax(axis=1)
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
