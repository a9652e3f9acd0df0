"""Interleaved self-play: who moves, who remembers, who learns."""

import numpy as np
import pytest
import torch

from selfplay.dqn.agent import DQNAgent
from selfplay.dqn.interleaved import InterleavedAgents
from tests.selfplay.dqn.scripted import CPU, config_with, constant_values, inputs, make, play, remembered
from tictactoe import Rewards, Rules, batch


def first_prefers(cell: int) -> list[float]:
    return [float(number == cell) for number in range(9)]


def test_each_boards_move_comes_from_the_agent_whose_seat_is_to_move() -> None:
    agents = make(config_with(), separate=True)
    for agent, cell in zip(agents.seats, (2, 6), strict=True):
        constant_values(agent, first_prefers(cell), [0] * 9)
    seat = torch.tensor([0, 1, 1, 0])
    assert agents.explore(torch.zeros(4, 27), seat, 0.0).tolist() == [2, 6, 6, 2]


@pytest.mark.parametrize("target", ["negamax", "independent", "article"])
def test_each_transition_is_stored_with_the_agent_that_acted(target: str) -> None:
    agents = make(config_with(target=target), separate=True)
    play(agents, [0, 3, 1, 4, 2])
    cells = [remembered(agent).action.argmax(dim=1).tolist() for agent in agents.seats]
    assert cells == [[0, 1, 2], [3, 4]]


def test_boards_at_different_plies_are_told_apart() -> None:
    agents = make(config_with(), separate=True)
    rules, rewards = Rules(), Rewards()
    # Board 0 has one mark, board 1 none: the seats to move differ.
    state = batch.State(np.array([0, 0]), np.array([1, 0]), np.array([1, 0]))
    actions = np.array([4, 8])
    played = batch.step(rules, rewards, state, actions)
    agents.remember(
        torch.as_tensor(state.to_play),
        inputs(state, rules),
        torch.as_tensor(actions),
        torch.as_tensor(played.reward),
        torch.as_tensor(played.other_reward),
        torch.as_tensor(played.terminated),
        inputs(played.state, rules),
    )
    assert remembered(agents.seats[0]).action.argmax(dim=1).tolist() == [8]
    assert remembered(agents.seats[1]).action.argmax(dim=1).tolist() == [4]


@pytest.mark.parametrize("target", ["negamax", "independent", "article"])
@pytest.mark.parametrize("mask", [False, True])
def test_shared_and_separate_networks_are_equal_after_one_update_from_equal_weights(target: str, mask: bool) -> None:
    config = config_with(target=target, mask=mask)
    shared = make(config)
    generators = [torch.Generator().manual_seed(config.seed) for _ in range(2)]
    separate = InterleavedAgents([DQNAgent(config, CPU, generator) for generator in generators])
    play(shared, [0, 3, 1, 4, 2])
    rows = shared.seats[0].memory.table[:5]
    for agent in separate.seats:
        agent.memory.add(rows)
    before = [parameter.clone() for parameter in shared.seats[0].network.parameters()]
    shared.learn()
    separate.learn()
    for agent in separate.seats:
        for old, one, other in zip(
            before, shared.seats[0].network.parameters(), agent.network.parameters(), strict=True
        ):
            assert torch.equal(one, other)
            assert not torch.equal(old, one)


def test_one_agent_for_both_seats_learns_once_a_step_and_two_learn_both() -> None:
    shared, separate = make(config_with()), make(config_with(), separate=True)
    for agents, expected in ((shared, 1), (separate, 2)):
        play(agents, [0, 3, 1, 4, 2])
        assert len(agents.learn()) == expected
        assert [agent.updates for agent in agents.seats] == [1, 1]


def test_separate_agents_bootstrap_from_each_other_when_they_learn() -> None:
    config = config_with(target="negamax", gamma=0.5, symmetry="none", hidden=())
    agents = make(config, separate=True)
    for agent, value in zip(agents.seats, (8.0, 100.0), strict=True):
        constant_values(agent, [0.0] * 9, [value] * 9)
    play(agents, [0, 3, 1])
    # Both have only transitions that go on, without reward, and value their actions 0: the loss is the
    # squared target, which is minus half of what the other thinks of the next position.
    assert [float(update.loss) for update in agents.learn()] == [50.0**2, 4.0**2]


def test_the_player_is_the_averaged_network_unless_updates_are_hard() -> None:
    for hard_update, expected in ((0, 6), (5, 2)):
        agents = make(config_with(hard_update=hard_update))
        constant_values(agents.seats[0], first_prefers(2), first_prefers(6))
        empty = batch.observe(Rules(), batch.reset(Rules(), 1, np))
        assert agents.player().act(empty).tolist() == [expected]


def test_the_player_of_separate_agents_uses_each_seats_network() -> None:
    agents = make(config_with(), separate=True)
    for agent, cell in zip(agents.seats, (2, 6), strict=True):
        constant_values(agent, [0] * 9, first_prefers(cell))
    state = batch.State(np.array([0, 0]), np.array([0, 16]), np.array([0, 1]))
    for perspective in ("absolute", "mover"):
        assert agents.player().act(batch.observe(Rules(), state, perspective)).tolist() == [2, 6]
