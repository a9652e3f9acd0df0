"""Rows keep what is packed into them, and a symmetry turns a transition into another true one."""

import numpy as np
import pytest
import torch

from selfplay.dqn.transitions import Layout, Symmetry
from tests.selfplay.dqn.scripted import CPU, config_with, make, play, remembered
from tictactoe import Rules, solve
from tictactoe.symmetry import symmetries


def bits(cells: torch.Tensor) -> list[int]:
    """Return each row of zeros and ones [B, A] as a bitboard."""
    return [sum(1 << cell for cell, full in enumerate(row) if full) for row in cells.tolist()]


def test_unpacking_gives_back_what_was_packed() -> None:
    agents = make(config_with())
    play(agents, [4, 0, 8, 2])
    layout = agents.seats[0].layout
    transitions = remembered(agents.seats[0])
    again = layout.unpack(layout.pack(transitions))
    assert all(torch.equal(one, other) for one, other in zip(transitions, again, strict=True))
    assert layout.pack(transitions).shape == (4, layout.width)


def test_legal_actions_are_the_empty_cells_of_the_observation() -> None:
    agents = make(config_with())
    seen = play(agents, [4, 0])
    legal = Layout(9).legal(torch.cat(seen))
    assert [int(row.sum()) for row in legal] == [9, 8, 7]
    assert not legal[2, 4]
    assert not legal[2, 0]


@pytest.mark.parametrize("rules", [Rules(3, 3, 3), Rules(2, 4, 3)])
def test_a_turned_transition_is_true_and_worth_the_same(rules: Rules) -> None:
    agents = make(config_with(rows=rules.rows, cols=rules.cols, k=rules.k))
    play(agents, [0, 5, 1, 6, 3])
    layout = agents.seats[0].layout
    rows = agents.seats[0].memory.table[:5]
    solution = solve(rules)
    images = set()
    turn, generator = Symmetry(rules, CPU), torch.Generator().manual_seed(1)
    for _ in range(60):
        turned = layout.unpack(turn(rows, generator))
        original = layout.unpack(rows)
        assert torch.equal(turned.reward, original.reward)
        assert torch.equal(turned.goes_on, original.goes_on)
        before = turned.observation.reshape(5, rules.cells, 3)
        after = turned.next_observation.reshape(5, rules.cells, 3)
        # The action, put on the board, leads to the next position as its mover sees it.
        assert torch.equal((before[..., 1] + turned.action)[:4], after[..., 2][:4])
        assert torch.equal(before[..., 2][:4], after[..., 1][:4])
        for position in range(5):
            value = solution.lookup(bits(before[..., 1])[position], bits(before[..., 2])[position])[0]
            unturned = original.observation.reshape(5, rules.cells, 3)
            assert value == solution.lookup(bits(unturned[..., 1])[position], bits(unturned[..., 2])[position])[0]
        images.add(tuple(turned.action[0].tolist()))
    orbit = {int(np.flatnonzero(permutation == 0)[0]) for permutation in symmetries(rules)}
    assert len(images) == len(orbit) == 4  # a corner goes to every corner


def test_each_transition_of_a_batch_is_turned_on_its_own() -> None:
    agents = make(config_with())
    play(agents, [0])
    row = agents.seats[0].memory.table[:1].expand(200, -1)
    actions = agents.seats[0].layout.unpack(Symmetry(Rules(), CPU)(row, torch.Generator().manual_seed(0))).action
    assert {int(cell) for cell in actions.argmax(dim=1)} == {0, 2, 6, 8}
