"""A player gives the same moves for either perspective and array kind, and can lean on the built-in rule."""

from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn.dqn import DQNAgent
from selfplay.dqn.player import QPlayer, network_inputs, rule_ratings
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import CPU, config_with, make, observe
from tictactoe import Rules, batch, planes
from tictactoe.opponents import rule_choices

BOARDS = [Rules(3, 3, 3), Rules(3, 4, 3), Rules(4, 4, 4), Rules(5, 5, 4), Rules(6, 6, 5)]


@pytest.mark.parametrize("perspective", ["absolute", "mover"])
@pytest.mark.parametrize("given", [ABSOLUTE, MOVER])
def test_inputs_are_of_the_networks_perspective_whatever_is_given(given: np.ndarray, perspective: str) -> None:
    wanted = ABSOLUTE if perspective == "absolute" else MOVER
    assert torch.equal(
        network_inputs(torch.as_tensor(given).flatten(1), perspective), torch.as_tensor(wanted).flatten(1).float()
    )


def test_a_masked_player_never_takes_a_taken_cell_and_a_raw_one_may() -> None:
    masked, raw = make(config_with(mask=True)).player(), make(config_with()).player()
    empty = ABSOLUTE[..., 0].reshape(-1, 9)
    boards = np.arange(len(ABSOLUTE))
    assert empty[boards, masked.act(ABSOLUTE)].all()
    assert not empty[boards, raw.act(ABSOLUTE)].all()


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


def test_observations_of_another_board_are_refused() -> None:
    with pytest.raises(ValueError, match=r"player knows observations \[B, \(3, 3, 3\)\], got shape \(1, 4, 4, 3\)"):
        make(config_with()).player().act(np.zeros((1, 4, 4, 3), np.int8))


def random_positions(rules: Rules, number: int, seed: int) -> batch.State:
    """Return positions [number] after some random legal plies, from which the game goes on."""
    generator = np.random.default_rng(seed)
    boards = batch.reset(rules, number, np)
    for _ in range(rules.cells):
        mask = batch.action_mask(rules, boards)
        played = batch.play(rules, boards, np.where(mask, generator.random(mask.shape), -1).argmax(axis=1))
        stays = played.terminated | (generator.random(number) < 0.2)
        boards = batch.where(stays, boards, played.state)
    return boards


class Zero(torch.nn.Module):
    """A network that has learned nothing."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.zeros = torch.nn.Parameter(torch.zeros(rules.cells))

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return self.zeros.expand(len(observation), -1)


@pytest.mark.parametrize("perspective", ["mover", "absolute"])
@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_the_cells_rated_1_are_those_that_the_rule_chooses_among(rules: Rules, perspective: str) -> None:
    positions = random_positions(rules, 500, seed=1)
    rating = rule_ratings(rules, observe(positions, rules, perspective))
    choices = planes.bits(rules.cells, rule_choices(rules, positions.mover, positions.opponent))
    assert np.array_equal(rating.numpy() == 1, choices)
    assert rating.min() == 0
    taken = planes.bits(rules.cells, positions.mover | positions.opponent)
    assert not rating.numpy()[taken].any()
    assert ((rating > 0) & (rating < 1)).any()


@pytest.mark.parametrize("symmetry", ["canonical", "none"])
def test_a_player_that_has_learned_nothing_plays_the_rule_and_one_that_has_weighs_both(symmetry: str) -> None:
    rules = Rules(5, 5, 4)
    positions = random_positions(rules, 300, seed=2)
    boards = batch.observe(rules, positions, "absolute")
    choices = planes.bits(rules.cells, rule_choices(rules, positions.mover, positions.opponent))
    network = Zero(rules)
    for mask in (True, False):
        config = config_with(rows=5, cols=5, k=4, mask=mask, symmetry=symmetry, rule_weight=0.5)
        player = QPlayer(config, (network,))
        assert choices[np.arange(300), player.act(boards)].all()
        assert not player.q_values(boards).any()
    network.zeros.data += torch.linspace(0, 1, rules.cells)
    values, rating = player.q_values(boards), rule_ratings(rules, observe(positions, rules, "mover")).numpy()
    both = player.act(boards)
    assert np.array_equal(both, (values + np.float32(0.5) * rating).argmax(axis=1))
    assert not np.array_equal(both, values.argmax(axis=1))
    assert not choices[np.arange(300), both].all()


def test_self_play_leans_on_the_rule_as_the_player_does_and_learns_values_alone() -> None:
    leaning, plain = (
        DQNAgent(config_with(rule_weight=weight), CPU, torch.Generator().manual_seed(0)) for weight in (1e6, 0.0)
    )
    rules = leaning.config.rules
    positions = random_positions(rules, 200, seed=3)
    observation = observe(positions, rules, "mover")
    choices = planes.bits(rules.cells, rule_choices(rules, positions.mover, positions.opponent))
    for agent, always in ((leaning, True), (plain, False)):
        assert choices[np.arange(200), agent.act(observation, 0.0)].all() == always
    transitions = plain.memory.sample(4, torch.Generator())._replace(
        next_observation=observation[:4], continues=torch.ones(4)
    )
    assert torch.equal(leaning.targets(transitions, leaning), plain.targets(transitions, plain))
