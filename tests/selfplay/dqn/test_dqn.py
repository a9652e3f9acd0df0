"""The DQN agent: its network, its moves, its updates, and the bits they come from."""

from typing import cast

import numpy as np
import pytest
import torch

from selfplay.dqn.adam import Adam
from selfplay.dqn.network import QNetwork, flatten_parameters, initialize
from tests.selfplay.dqn.scripted import config_with, constant_values, make, play
from tictactoe import Rules, batch


def weights(network: torch.nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


@pytest.mark.parametrize("in_numbers", [True, False], ids=["cpu", "as on a GPU"])
@pytest.mark.parametrize("hold", [0, 50])
def test_adam_takes_the_steps_of_pytorchs_adam(hold: int, in_numbers: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(50, generator=generator)
    theirs = torch.nn.Parameter(start.clone())
    reference = torch.optim.Adam([theirs], lr=0.01)
    ours, gradient = start.clone(), torch.zeros(50)
    optimizer = Adam(ours, gradient, 0.01, hold)
    optimizer._in_numbers = in_numbers
    for step in range(1, 201):
        gradient.copy_(torch.randn(50, generator=generator))
        theirs.grad = gradient.clone()
        reference.param_groups[0]["lr"] = 0.01 * min(1, hold / step) if hold else 0.01
        optimizer.step()
        reference.step()
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-5, atol=1e-6)
    assert not torch.equal(ours, start)


def test_flat_weights_are_the_networks_own() -> None:
    network = QNetwork(Rules(), (5, 4), convolution=(2, 3), dueling=True)
    initialize(network, torch.Generator().manual_seed(0))
    flat = flatten_parameters(network)
    observation = torch.rand(3, 27, generator=torch.Generator().manual_seed(1))
    network(observation).square().sum().backward()
    assert torch.equal(flat.gradient, torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None]))
    assert flat.gradient.abs().sum() > 0
    with torch.no_grad():
        flat.weights.zero_()
    assert torch.equal(network(observation), torch.zeros(3, 9))


def test_a_network_is_the_stack_of_its_layers_and_a_dueling_ones_mean_is_its_value() -> None:
    for dueling in (False, True):
        network = QNetwork(Rules(), (8, 7), dueling=dueling)
        initialize(network, torch.Generator().manual_seed(0))
        observation = torch.rand(4, 27, generator=torch.Generator().manual_seed(1))
        features = network.hidden[1](network.hidden[0](observation).relu()).relu()
        if network.value is None:
            torch.testing.assert_close(network(observation), network.advantage(features))
        else:
            torch.testing.assert_close(network(observation).mean(dim=1, keepdim=True), network.value(features))
    assert network.value is not None


def test_a_convolutional_network_sees_the_board_as_it_lies() -> None:
    rules = Rules(2, 4, 2)
    network = QNetwork(rules, (7,), convolution=(5, 6))
    initialize(network, torch.Generator().manual_seed(0))
    observation = torch.as_tensor(batch.observe(rules, batch.State(*np.array([[5, 6], [64, 9], [3, 4]])), "mover"))
    features = observation.float()  # [B, R, C, 3]
    for layer in cast("list[torch.nn.Conv2d]", network.convolution):
        padded = torch.nn.functional.pad(features, (0, 0, 1, 1, 1, 1))
        assert layer.bias is not None
        summed = layer.bias.expand(2, 2, 4, -1).clone()
        for down in range(3):
            for right in range(3):
                summed += padded[:, down : down + 2, right : right + 4] @ layer.weight[:, :, down, right].T
        features = summed.relu()
    expected = network.advantage(network.hidden[0](features.flatten(1)).relu())
    torch.testing.assert_close(network(observation.flatten(1).float()), expected)


def test_the_features_of_a_cell_are_those_of_the_lines_through_it() -> None:
    rules = Rules(3, 4, 3)
    network = QNetwork(rules, (7,), lines=2)
    initialize(network, torch.Generator().manual_seed(0))
    assert network.lines is not None
    board = torch.randint(0, 3, (5, 12), generator=torch.Generator().manual_seed(1))
    observation = torch.nn.functional.one_hot(board, 3).float()  # [B, A, 3]
    of_cells = torch.zeros(5, 12, 2)
    for line in rules.lines:
        cells = [cell for cell in range(12) if line >> cell & 1]
        told = network.lines.cell(network.lines.line(observation[:, cells].flatten(1)).relu()).view(5, 3, 2)
        for place, cell in enumerate(cells):
            of_cells[:, cell] += told[:, place]
    features = torch.cat((observation.flatten(1), of_cells.relu().flatten(1)), dim=1)
    expected = network.advantage(network.hidden[0](features).relu())
    torch.testing.assert_close(network(observation.flatten(1)), expected)


def test_every_layer_starts_within_its_bound_and_from_the_generator() -> None:
    network, same = (QNetwork(Rules(), (50,), convolution=(40, 30)) for _ in range(2))
    for each in (network, same):
        initialize(each, torch.Generator().manual_seed(3))
    assert all(map(torch.equal, network.parameters(), same.parameters()))
    inputs = [27, 360, 270, 50]
    for layer, count in zip([*network.convolution, *network.hidden, network.advantage], inputs, strict=True):
        weight, bias = (parameter.abs().max() for parameter in layer.parameters())
        assert 0.9 * count**-0.5 < weight <= count**-0.5
        assert bias <= count**-0.5


@pytest.mark.parametrize(("explore", "taken"), [("legal", [0, 4, 8]), ("any", [])])
def test_random_moves_are_drawn_evenly_from_the_empty_cells_or_from_all(explore: str, taken: list[int]) -> None:
    agents = make(config_with(explore=explore))
    inputs = play(agents, [4, 0, 8])[3].expand(10_000 * (9 - len(taken)), -1)
    counts = torch.bincount(agents.seats[0].explore(inputs, 1.0), minlength=9)
    expected = torch.tensor([0 if cell in taken else 10_000 for cell in range(9)])
    assert (counts - expected).abs().max() < 500  # more than five standard deviations
    assert not counts[taken].any()


def test_epsilon_is_the_share_of_random_moves() -> None:
    agents = make(config_with(explore="any"))
    constant_values(agents.seats[0], [0, 0, 1, 0, 0, 0, 0, 0, 0], [0] * 9)
    inputs = play(agents, [4])[1].expand(90_000, -1)
    counts = torch.bincount(agents.seats[0].explore(inputs, 0.3), minlength=9).tolist()
    assert abs(counts.pop(2) - 90_000 * (0.7 + 0.3 / 9)) < 700
    assert all(abs(count - 3_000) < 300 for count in counts)  # whether and where to explore are drawn apart
    assert (agents.seats[0].explore(inputs, 0.0) == 2).all()


@pytest.mark.parametrize(("mask", "expected"), [(False, 4), (True, 7)])
def test_only_a_masked_agent_avoids_a_taken_cell_it_values_most(mask: bool, expected: int) -> None:
    agents = make(config_with(mask=mask))
    constant_values(agents.seats[0], [0, 0, 0, 0, 9, 0, 0, 5, 0], [0] * 9)
    assert agents.seats[0].explore(play(agents, [4])[1], 0.0).tolist() == [expected]


def test_an_update_lowers_the_error_on_its_own_batch() -> None:
    agents = make(config_with(symmetry="none", soft_update=1e-6, learning_rate=3e-3))
    play(agents, [0, 3, 1, 4, 2])
    losses = [float(agents.learn()[0].loss) for _ in range(150)]
    assert losses[-1] < losses[0] / 10


def test_a_soft_update_moves_the_target_network_by_its_rate() -> None:
    agents = make(config_with(soft_update=0.25))
    agent = agents.seats[0]
    play(agents, [0, 3, 1, 4, 2])
    before = weights(agent.target_network).clone()
    agents.learn()
    torch.testing.assert_close(weights(agent.target_network), before + 0.25 * (weights(agent.network) - before))
    assert not torch.equal(weights(agent.target_network), before)


def test_a_hard_update_copies_the_network_every_so_many_updates() -> None:
    agents = make(config_with(hard_update=3))
    agent = agents.seats[0]
    play(agents, [0, 3, 1, 4, 2])
    start = weights(agent.target_network).clone()
    for _ in range(2):
        agents.learn()
        assert torch.equal(weights(agent.target_network), start)
    agents.learn()
    assert torch.equal(weights(agent.target_network), weights(agent.network))
    assert not torch.equal(weights(agent.target_network), start)


def test_a_dueling_agent_learns_in_all_its_parts() -> None:
    agents = make(config_with(dueling=True))
    play(agents, [0, 3, 1, 4, 2])
    before = [parameter.clone() for parameter in agents.seats[0].network.parameters()]
    agents.learn()
    assert all(not torch.equal(old, new) for old, new in zip(before, agents.seats[0].network.parameters(), strict=True))
