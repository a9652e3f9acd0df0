"""A player gives the same moves for either perspective and array kind, and can lean on the built-in rule."""

from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn.player import QPlayer, network_inputs, rule_ratings
from selfplay.errors import UserError
from selfplay.judging.agents import AgentPolicy, player_policy
from selfplay.judging.evaluate import evaluate_policy
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, constant_values, make
from tictactoe import Rules, planes
from tictactoe.opponents import rule_choices
from tictactoe.tree import game_tree

TREE = game_tree(Rules())
CHOICES = planes.bits(
    9, rule_choices(Rules(), *(marks[TREE.decisions].astype(np.int64) for marks in (TREE.mover, TREE.opponent)))
)
"""[4520, 9]: the cells that the built-in rule chooses among."""
EMPTY = ABSOLUTE[..., 0].reshape(-1, 9) != 0


@pytest.mark.parametrize("perspective", ["absolute", "mover"])
@pytest.mark.parametrize("given", [ABSOLUTE, MOVER])
def test_inputs_are_of_the_networks_perspective_whatever_is_given(given: np.ndarray, perspective: str) -> None:
    wanted = torch.as_tensor(ABSOLUTE if perspective == "absolute" else MOVER).flatten(1).float()
    assert torch.equal(network_inputs(torch.as_tensor(given).flatten(1), perspective), wanted)


def test_a_masked_player_never_takes_a_taken_cell_and_a_raw_one_may() -> None:
    masked, raw = make(config_with(mask=True)).player(), make(config_with()).player()
    boards = np.arange(len(ABSOLUTE))
    assert EMPTY[boards, masked.act(ABSOLUTE)].all()
    assert not EMPTY[boards, raw.act(ABSOLUTE)].all()


@pytest.mark.parametrize("form", [np.asarray, torch.as_tensor])
def test_one_observation_gets_one_cell_and_a_value_for_each_cell(form: Any) -> None:
    player = make(config_with()).player()
    some, mask = ABSOLUTE[::300], np.eye(9, dtype=np.int8)[3]
    values, cells = player.q_values(some), player.act(some)
    assert isinstance(player.act(form(some)), type(form(some)))
    for board, value, cell in zip(some, values, cells, strict=True):
        assert np.asarray(player.q_values(form(board))) == pytest.approx(value, abs=1e-6)
        chosen = player.act(form(board))
        assert (type(chosen), chosen) == (int, cell)
        assert player.act(form(board), form(mask)) == 3


def constant_player(value: float, **changes: object) -> QPlayer:
    """Return a player to which every cell has the same value."""
    self_play = make(config_with(**changes))
    values = [value] * self_play.config.rules.cells
    constant_values(self_play.agents[0], values, values, values)
    return self_play.player()


def test_a_masked_player_takes_no_taken_cell_even_if_no_number_is_lower_than_its_values() -> None:
    cells = constant_player(torch.finfo(torch.float32).min, mask=True).act(ABSOLUTE)
    assert EMPTY[np.arange(len(cells)), cells].all()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_values_that_are_not_finite_are_refused_wherever_a_player_is_asked(value: float) -> None:
    player = constant_player(value, mask=True)
    for ask in (player.q_values, player.preferences, player.act):
        for observation in (ABSOLUTE, ABSOLUTE[:1]):
            with pytest.raises(UserError, match="finite"):
                ask(observation)


def test_a_sum_of_value_and_rating_that_is_not_finite_is_refused() -> None:
    player = constant_player(3e38, rule_weight=3e38)
    assert np.isfinite(player.q_values(ABSOLUTE)).all()
    with pytest.raises(UserError, match="finite"):
        player.act(ABSOLUTE)


def test_the_verdict_on_a_canonical_player_of_equal_values_is_that_of_all_its_games() -> None:
    rules = Rules(2, 3, 3)
    player = constant_player(0.0, rules=rules, mask=True)
    assert player_policy(player).symmetric
    by_images, whole = (evaluate_policy(policy) for policy in (player_policy(player), AgentPolicy(player, rules)))
    assert by_images == whole


def test_observations_of_another_board_are_refused() -> None:
    with pytest.raises(ValueError, match="4, 4, 3"):
        make(config_with()).player().act(np.zeros((1, 4, 4, 3), np.int8))


@pytest.mark.parametrize("perspective", ["mover", "absolute"])
def test_the_cells_rated_1_are_those_that_the_rule_chooses_among(perspective: str) -> None:
    rating = rule_ratings(Rules(), torch.as_tensor(MOVER if perspective == "mover" else ABSOLUTE).flatten(1)).numpy()
    assert np.array_equal(rating == 1, CHOICES)
    assert not rating[~EMPTY].any()
    assert ((rating > 0) & (rating < 1)).any()


@pytest.mark.parametrize("symmetry", ["canonical", "none"])
def test_player_and_self_play_lean_on_the_rule_by_its_weight(symmetry: str) -> None:
    rating = rule_ratings(Rules(), torch.as_tensor(MOVER).flatten(1)).numpy()
    for weight in (0.0, 0.5, 1e6):
        self_play = make(config_with(rule_weight=weight, symmetry=symmetry))
        player = self_play.player()
        cells = player.act(ABSOLUTE)
        preferred = player.q_values(ABSOLUTE) + np.float32(weight) * rating
        assert np.array_equal(preferred[np.arange(len(cells)), cells], preferred.max(axis=1))
        assert CHOICES[np.arange(len(cells)), cells].all() == (weight == 1e6)
        chosen = self_play.agents[0].act(torch.as_tensor(MOVER).flatten(1).float(), 0.0).numpy()
        assert CHOICES[np.arange(len(cells)), chosen].all() == (weight == 1e6)
