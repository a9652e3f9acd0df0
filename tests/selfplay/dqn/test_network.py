"""The Q-network: its line features are those of a plain computation, and it starts as PyTorch's layers do."""

import torch

from selfplay.dqn.network import QNetwork, initialize
from tictactoe import Rules


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
    expected = network.output(network.hidden[0](features).relu())
    torch.testing.assert_close(network(observation.flatten(1)), expected)


def test_every_layer_starts_within_its_bound() -> None:
    network = QNetwork(Rules(), (50, 40))
    initialize(network, torch.Generator().manual_seed(3))
    for layer, inputs in zip([*network.hidden, network.output], (27, 50, 40), strict=True):
        weight, bias = (parameter.abs().max() for parameter in layer.parameters())
        assert 0.9 * inputs**-0.5 < weight <= inputs**-0.5
        assert bias <= inputs**-0.5
