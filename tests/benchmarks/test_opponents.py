"""Learners of the comparison that learn alone can play against frozen copies of themselves."""

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from torch import nn

from benchmarks.peers.opponents import COPIES, VERSUS_RANDOM, Game, Games, decision_states, replies


class Favourite(nn.Module):
    """Value one cell above all, and the others the less the higher their number is."""

    def __init__(self, cell: int) -> None:
        super().__init__()
        values = -torch.arange(9.0)
        values[cell] = 1
        self.values = nn.Parameter(values)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.values.expand(len(inputs), 9)


def test_a_copy_replies_by_its_values_among_the_empty_cells_of_every_position() -> None:
    observations, _ = decision_states()
    found = replies(Favourite(4))
    assert len(found) == 4_520
    for observation in observations:
        empty = np.flatnonzero(observation[..., 0])
        assert found[observation.tobytes()] == (4 if 4 in empty else empty[0])


def test_in_self_play_the_opponent_is_the_copy_from_when_one_is_due() -> None:
    games = Games(Game(opponent="self", copy_every=100, opponent_random=0.0), seed=1000)
    game = games.make()
    games.keep_up(99, Favourite(4))
    assert len(first_cells(game)) > 2  # still random
    games.keep_up(100, Favourite(4))
    games.keep_up(199, Favourite(7))
    assert first_cells(game) == {4}
    games.keep_up(200, Favourite(7))
    assert first_cells(game) == {4, 7}
    for number in range(COPIES):
        games.keep_up(300 + 100 * number, Favourite(2))
    assert first_cells(game) == {2}


def first_cells(game: gymnasium.Env[Any, Any]) -> set[int]:
    """Return where the opponent moves first, in games in which it does."""
    seen = set()
    for seed in range(60):
        observation, info = game.reset(seed=seed)
        if info["to_play"] == 1:
            [cell] = np.flatnonzero(observation[..., 2])
            seen.add(int(cell))
    return seen


def test_some_replies_are_random_if_so_asked() -> None:
    games = Games(Game(opponent="self", copy_every=1, opponent_random=0.5), seed=1000)
    games.keep_up(1, Favourite(4))
    empty_board = decision_states()[0][0]
    assert empty_board[..., 0].all()
    cells = [games.reply(empty_board, empty_board[..., 0].reshape(9)) for _ in range(900)]
    assert 0.45 < np.mean(np.equal(cells, 4)) < 0.66  # a half, and a ninth of the other
    assert set(cells) == set(range(9))


@pytest.mark.parametrize("rewards", ["shaped", "sparse"])
def test_other_opponents_and_rewards_are_the_environments_own(rewards: str) -> None:
    game = Games(Game(opponent="heuristic", rewards=rewards), seed=1000).make()  # type: ignore[arg-type]
    assert game.spec is not None
    asked = {"opponent": "heuristic", "seat": "random", "perspective": "mover", "rewards": rewards}
    assert game.spec.kwargs == asked
    games = Games(VERSUS_RANDOM, seed=1000)
    games.keep_up(10**9, Favourite(4))
    assert len(first_cells(games.make())) > 2
