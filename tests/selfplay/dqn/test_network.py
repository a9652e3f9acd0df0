"""The Q-network and its optimizer, each equal to a plain computation of the same."""

from typing import cast

import numpy as np
import pytest
import torch

from selfplay.dqn.network import QNetwork, initialize
from selfplay.dqn.optimizer import Adam, flatten_parameters
from tictactoe import Rules, batch


@pytest.mark.parametrize("hold", [0, 50])
def test_adam_takes_the_steps_of_pytorchs_adam(hold: int) -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(50, generator=generator)
    theirs, ours = (torch.nn.Parameter(start.clone()) for _ in range(2))
    ours.grad = torch.ones(50)
    reference = torch.optim.Adam([theirs], lr=0.01)
    optimizer = Adam(ours, 0.01, hold)
    for step in range(1, 201):
        optimizer.zero_grad()
        assert not ours.grad.any()
        ours.grad += torch.randn(50, generator=generator)
        theirs.grad = ours.grad.clone()
        reference.param_groups[0]["lr"] = 0.01 * min(1, hold / step) if hold else 0.01
        optimizer.step()
        reference.step()
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    assert not torch.equal(ours, start)


def test_flat_weights_are_the_networks_own() -> None:
    network = QNetwork(Rules(), (5, 4), convolution=(2, 3), dueling=True)
    initialize(network, torch.Generator().manual_seed(0))
    weights = flatten_parameters(network)
    observation = torch.rand(3, 27, generator=torch.Generator().manual_seed(1))
    network(observation).square().sum().backward()
    gradients = [parameter.grad.flatten() for parameter in network.parameters() if parameter.grad is not None]
    assert weights.grad is not None
    assert torch.equal(weights.grad, torch.cat(gradients))
    assert weights.grad.abs().sum() > 0
    with torch.no_grad():
        weights.zero_()
    assert torch.equal(network(observation), torch.zeros(3, 9))


def test_the_mean_of_a_dueling_network_is_its_value() -> None:
    network = QNetwork(Rules(), (8, 7), dueling=True)
    initialize(network, torch.Generator().manual_seed(0))
    observation = torch.rand(4, 27, generator=torch.Generator().manual_seed(1))
    features = network.hidden[1](network.hidden[0](observation).relu()).relu()
    assert network.value is not None
    torch.testing.assert_close(network(observation).mean(dim=1, keepdim=True), network.value(features))


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
        cell_features = network.lines.cell(network.lines.line(observation[:, cells].flatten(1)).relu()).view(5, 3, 2)
        for place, cell in enumerate(cells):
            of_cells[:, cell] += cell_features[:, place]
    features = torch.cat((observation.flatten(1), of_cells.relu().flatten(1)), dim=1)
    expected = network.advantage(network.hidden[0](features).relu())
    torch.testing.assert_close(network(observation.flatten(1)), expected)


def test_every_layer_starts_within_its_bound() -> None:
    network = QNetwork(Rules(), (50,), convolution=(40, 30))
    initialize(network, torch.Generator().manual_seed(3))
    inputs = [27, 360, 270, 50]
    for layer, count in zip([*network.convolution, *network.hidden, network.advantage], inputs, strict=True):
        weight, bias = (parameter.abs().max() for parameter in layer.parameters())
        assert 0.9 * count**-0.5 < weight <= count**-0.5
        assert bias <= count**-0.5
