"""A player may lean on the built-in rule: its rating is the rule's order, and what is learned stays values alone."""

import numpy as np
import pytest
import torch

from selfplay.dqn.agent import DQNAgent
from selfplay.dqn.player import QPlayer
from selfplay.dqn.rule import RuleRating
from selfplay.dqn.self_play import DQNLearner
from tests.selfplay.dqn.scripted import CPU, config_with
from tictactoe import Rules, batch
from tictactoe.opponents import rule_choices
from tictactoe.tree import IntArray

BOARDS = [Rules(3, 3, 3), Rules(3, 4, 3), Rules(4, 4, 4), Rules(5, 5, 4), Rules(6, 6, 5)]


def random_positions(rules: Rules, number: int, seed: int) -> batch.State:
    """Return positions [number] after random legal plies from which the game goes on."""
    generator = np.random.default_rng(seed)
    mover: list[int] = []
    opponent: list[int] = []
    plies: list[int] = []
    while len(mover) < number:
        ply = int(generator.integers(rules.cells))
        cells = generator.permutation(rules.cells)[:ply]
        first, second = (sum(1 << int(cell) for cell in cells[seat::2]) for seat in (0, 1))
        if rules.has_line(first) or rules.has_line(second):
            continue
        own, other = (first, second) if ply % 2 == 0 else (second, first)
        mover.append(own)
        opponent.append(other)
        plies.append(ply)
    return batch.State(*(np.array(field, np.int64) for field in (mover, opponent, plies)))


def seen(rules: Rules, positions: batch.State, perspective: str) -> torch.Tensor:
    """Return what the movers see, [n, 3A] float32."""
    return torch.as_tensor(batch.observe(rules, positions, perspective)).flatten(1).float()


def bits(rules: Rules, words: IntArray) -> np.ndarray:
    """Return the cells of bitboards, [n, A] bool."""
    return (words[:, None] >> np.arange(rules.cells) & 1).astype(bool)


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
    rating = RuleRating(rules, CPU)(seen(rules, positions, perspective))
    choices = bits(rules, rule_choices(rules, positions.mover, positions.opponent))
    assert np.array_equal(rating.numpy() == 1, choices)
    assert rating.min() == 0
    taken = bits(rules, positions.mover | positions.opponent)
    assert not rating.numpy()[taken].any()
    assert ((rating > 0) & (rating < 1)).any()


@pytest.mark.parametrize("canonical", [True, False])
def test_a_player_that_has_learned_nothing_plays_the_rule_and_one_that_has_weighs_both(canonical: bool) -> None:
    rules = Rules(5, 5, 4)
    positions = random_positions(rules, 300, seed=2)
    boards = batch.observe(rules, positions, "absolute")
    choices = bits(rules, rule_choices(rules, positions.mover, positions.opponent))
    network = Zero(rules)
    for mask in (True, False):
        player = QPlayer(rules, (network,), "mover", mask, canonical, rule_weight=0.5)
        assert choices[np.arange(300), player.act(boards)].all()
        assert not player.q_values(boards).any()
    network.zeros.data += torch.linspace(0, 1, rules.cells)
    values, rating = player.q_values(boards), RuleRating(rules, CPU)(seen(rules, positions, "mover")).numpy()
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
    inputs = seen(rules, positions, "mover")
    choices = bits(rules, rule_choices(rules, positions.mover, positions.opponent))
    for agent, always in ((leaning, True), (plain, False)):
        assert choices[np.arange(200), agent.explore(inputs, 0.0)].all() == always
    row = leaning.layout.width
    rows = torch.rand((4, row), generator=torch.Generator().manual_seed(1))
    transitions = leaning.layout.unpack(rows)
    assert torch.equal(leaning.targets(transitions, leaning), plain.targets(transitions, plain))


def test_the_weight_of_the_settings_reaches_the_player_and_its_file() -> None:
    learner = DQNLearner(config_with(rule_weight=1e6))
    player = learner.player()
    empty = np.zeros((1, 3, 3, 3), np.int8)
    empty[..., 0] = 1
    assert player.act(empty) == 4
