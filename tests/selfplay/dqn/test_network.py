"""The networks: messages are those of a plain computation; layers start as PyTorch's do."""

import pytest
import torch

from selfplay.dqn.network import TIE_BREAK, MessageNetwork, MessageRound, empty_network, initialize
from tests.selfplay.dqn.scripted import CPU, config_with
from tictactoe import Rules


def boards(rules: Rules) -> torch.Tensor:
    """Return observations of 5 boards of random marks, [B, A, 3]."""
    marks = torch.randint(0, 3, (5, rules.cells), generator=torch.Generator().manual_seed(1))
    return torch.nn.functional.one_hot(marks, 3).float()


@pytest.mark.parametrize("hidden", [(), (6,), (6, 5)])
def test_cells_and_lines_tell_each_other_what_they_know(hidden: tuple[int, ...]) -> None:
    rules = Rules(3, 4, 3)
    network = MessageNetwork(rules, 2, 7, hidden)
    initialize(network, torch.Generator().manual_seed(0))
    members = [[cell for cell in range(rules.cells) if line >> cell & 1] for line in rules.lines]
    observation = boards(rules)
    cells = list(observation.unbind(dim=1))  # of each cell [B, features]
    for number, each in enumerate(network.rounds):
        assert isinstance(each, MessageRound)
        told = [each.message(each.line(sum(cells[cell] for cell in line)).relu()) for line in members]
        learned = [
            (each.cell(own) + sum(told[line] for line in range(len(members)) if cell in members[line])).relu()
            for cell, own in enumerate(cells)
        ]
        cells = [own + more for own, more in zip(cells, learned, strict=True)] if number else learned
    first, *others = (*network.hidden, network.output)
    values: list[torch.Tensor] = []
    for own in cells:
        features = first(own) + network.mean(torch.stack(cells).mean(dim=0))
        for layer in others:
            features = layer(features.relu())
        values.append(features - TIE_BREAK * len(values))
    torch.testing.assert_close(network(observation.flatten(1)), torch.cat(values, dim=1))


@pytest.mark.parametrize("message_rounds", [0, 2])
def test_every_layer_is_called_so_that_it_can_be_replaced_or_watched(message_rounds: int) -> None:
    network = empty_network(config_with(message_rounds=message_rounds), CPU)
    initialize(network, torch.Generator().manual_seed(0))
    layers = [module for module in network.modules() if isinstance(module, torch.nn.Linear)]
    called = []
    for layer in layers:
        layer.register_forward_hook(lambda module, _, output: called.append((module, output)))
    network(boards(Rules()).flatten(1))
    assert {module for module, _ in called} == {*layers}
    assert all((output < 0).any() for _, output in called)  # what a layer gave is not changed by the next


def test_messages_are_as_wide_as_the_settings_say() -> None:
    weights = empty_network(config_with(message_rounds=2, message_width=7), CPU).state_dict()
    assert [weights[f"rounds.{number}.message.weight"].shape for number in (0, 1)] == [(7, 7)] * 2


def test_of_cells_that_look_the_same_the_first_is_chosen_however_many_boards_are_asked() -> None:
    rules = Rules(4, 4, 4)
    network = MessageNetwork(rules, 2, 32, (32,))
    initialize(network, torch.Generator().manual_seed(0))
    empty = torch.tensor([1.0, 0.0, 0.0]).repeat(1, 16)
    (first,) = network(empty).topk(16).indices
    on_diagonals, others = [0, 3, 5, 6, 9, 10, 12, 15], [1, 2, 4, 7, 8, 11, 13, 14]
    assert first.tolist() in (on_diagonals + others, others + on_diagonals)
    for number in (2, 3, 17, 512, 1_000):
        assert (network(empty.repeat(number, 1)).topk(16).indices == first).all()
