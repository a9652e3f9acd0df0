"""A player gives the same moves for either perspective and array kind."""

from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn.player import QPlayer, network_inputs
from selfplay.errors import UserError
from selfplay.judge.ask import player_policy
from selfplay.judge.evaluate import evaluate_policy
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, constant_values, make
from tests.selfplay.judge.hand_made_players import policy_of
from tictactoe import Rules, planes
from tictactoe.tree import game_tree

EMPTY = ABSOLUTE[..., 0].reshape(-1, 9) != 0


@pytest.mark.parametrize("perspective", ["absolute", "mover"])
@pytest.mark.parametrize("given", [ABSOLUTE, MOVER])
def test_inputs_are_of_the_networks_perspective_whatever_is_given(given: np.ndarray, perspective: str) -> None:
    wanted = torch.as_tensor(ABSOLUTE if perspective == "absolute" else MOVER).flatten(1).float()
    assert torch.equal(network_inputs(torch.as_tensor(given).flatten(1), perspective), wanted)


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


@pytest.mark.parametrize("observation", [ABSOLUTE, MOVER], ids=["absolute", "mover"])
@pytest.mark.parametrize("changes", [{}, {"perspective": "absolute", "symmetry": "none"}, {"mask": True}], ids=str)
def test_a_player_that_takes_wins_completes_a_line_where_it_can(changes: Any, observation: np.ndarray) -> None:
    takes, other = (make(config_with(take_wins=take_wins, **changes)).player() for take_wins in (True, False))
    tree = game_tree(Rules())
    mover, opponent = tree.mover[tree.decisions], tree.opponent[tree.decisions]
    wins = planes.bits(9, Rules().completing_cells(mover) & Rules().legal_cells(mover, opponent)) != 0
    cells, winning = takes.act(observation), wins.any(axis=1)
    assert wins[winning, cells[winning]].all()
    assert np.array_equal(cells[~winning], other.act(observation)[~winning])
    masked = takes.act(observation, ~wins)  # a mask has the last word
    assert not wins[np.arange(len(masked)), masked].any()
    values = takes.module()(torch.as_tensor(observation)).detach().numpy()
    assert wins[winning, values.argmax(axis=1)[winning]].all()
    assert np.array_equal(values[~winning], other.module()(torch.as_tensor(observation)).detach().numpy()[~winning])


def test_values_that_32_bits_cannot_tell_apart_are_told_apart() -> None:
    player = constant_player(1e8, hidden=(), symmetry="none", mask=True)
    with torch.no_grad():  # nine inputs are 1, so each cell is worth its number more than the first
        player.tensors()["shared.output.weight"].copy_(torch.arange(9)[:, None] / 9)
    legal = ABSOLUTE[..., 0].reshape(-1, 9)
    assert np.array_equal(player.act(ABSOLUTE), 8 - legal[:, ::-1].argmax(axis=1))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_values_that_are_not_finite_are_refused_wherever_a_player_is_asked(value: float) -> None:
    player = constant_player(value, mask=True)
    for ask in (player.q_values, player.preferences, player.act):
        for observation in (ABSOLUTE, ABSOLUTE[:1]):
            with pytest.raises(UserError, match="finite"):
                ask(observation)


def test_the_verdict_on_a_canonical_player_of_equal_values_is_that_of_all_its_games() -> None:
    rules = Rules(2, 3, 3)
    player = constant_player(0.0, rules=rules, mask=True)
    assert player_policy(player).symmetric
    by_images, whole = (evaluate_policy(policy).verdict for policy in (player_policy(player), policy_of(player, rules)))
    assert by_images == whole


def test_observations_of_another_board_are_refused() -> None:
    with pytest.raises(ValueError, match="4, 4, 3"):
        make(config_with()).player().act(np.zeros((1, 4, 4, 3), np.int8))


@pytest.mark.parametrize("symmetry", ["canonical", "none"])
def test_a_player_chooses_the_cell_of_its_highest_value(symmetry: str) -> None:
    player = make(config_with(symmetry=symmetry)).player()
    cells, values = player.act(ABSOLUTE), player.q_values(ABSOLUTE)
    assert np.array_equal(values[np.arange(len(cells)), cells], values.max(axis=1))
