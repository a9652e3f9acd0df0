"""Some of the games that end make room for one at a counterexample, and only some, and only those."""

from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn.beginnings import EARLIER, ENOUGH, Beginnings
from selfplay.dqn.self_play import DQNLearner
from tests.selfplay.dqn.scripted import CPU, SMALL, config_with
from tictactoe import Rules, batch
from tictactoe.tree import game_tree

BOARDS = 20_000


def positions(number: int) -> tuple[Any, Any]:
    """Return some decision states of tic-tac-toe with marks on them."""
    tree = game_tree(Rules())
    states = tree.decisions[100 : 100 + number]
    return tree.mover[states].astype(np.int64), tree.opponent[states].astype(np.int64)


def pairs(mover: Any, opponent: Any) -> list[tuple[int, int]]:
    return list(zip(mover.tolist(), opponent.tolist(), strict=True))


def share(fraction: float, number: int) -> float:
    """Return which part of the games that ended begins at one of so many positions, each of them about as often."""
    beginnings = Beginnings(Rules(), fraction, CPU)
    mover, opponent = positions(number)
    beginnings.replace(mover, opponent)
    boards = batch.reset(Rules(), BOARDS, np)
    boards = boards._replace(mover=boards.mover + (np.arange(BOARDS) % 2) * 5)
    ended = torch.arange(BOARDS) % 2 == 0
    begun = beginnings.begin(boards, ended, torch.Generator().manual_seed(0))
    assert all(isinstance(field, np.ndarray) for field in begun)
    for field, before in zip(begun, boards, strict=True):
        np.testing.assert_array_equal(field[1::2], before[1::2])
    given = set(pairs(mover, opponent))
    found = pairs(begun.mover[::2], begun.opponent[::2])
    assert {*found} - {(0, 0)} <= given
    for one, other, ply in zip(*(field[::2].tolist() for field in begun), strict=True):
        assert ply == (one | other).bit_count()
    counts = [found.count(each) for each in given]
    assert not counts or min(counts) > 0.5 * np.mean(counts) or not fraction
    return sum(pair in given for pair in found) / len(found)


def test_the_fraction_begins_there_and_fewer_with_few_positions() -> None:
    assert share(0.5, 2 * ENOUGH) == pytest.approx(0.5, abs=0.02)
    assert share(1.0, ENOUGH) == 1.0
    assert share(0.5, ENOUGH // 8) == pytest.approx(0.5 / 8, abs=0.02)
    assert share(0.5, 0) == 0.0


def test_what_earlier_proofs_found_has_the_rest_of_the_fraction() -> None:
    beginnings = Beginnings(Rules(), 0.5, CPU)
    mover, opponent = positions(100)
    few = ENOUGH // 4
    beginnings.replace(mover[few:], opponent[few:])
    beginnings.replace(mover[:few], opponent[:few])
    begun = beginnings.begin(
        batch.reset(Rules(), BOARDS, np), torch.ones(BOARDS, dtype=torch.bool), torch.Generator().manual_seed(0)
    )
    found = pairs(begun.mover, begun.opponent)
    newest, earlier = set(pairs(mover[:few], opponent[:few])), set(pairs(mover[few:], opponent[few:]))
    assert sum(pair in newest for pair in found) / BOARDS == pytest.approx(0.5 / 4, abs=0.02)
    assert sum(pair in earlier for pair in found) / BOARDS == pytest.approx(0.5 * 3 / 4, abs=0.02)
    assert newest | earlier <= set(found)


def test_of_too_many_earlier_ones_the_latest_are_kept() -> None:
    beginnings = Beginnings(Rules(), 1.0, CPU)
    for number, cell in ((EARLIER, 0), (EARLIER - 10, 1), (0, 2)):
        marks = np.full(number, 1 << cell)
        beginnings.replace(marks, np.zeros_like(marks))
    state = beginnings.state()
    assert state["number"].tolist() == [0, EARLIER]
    assert state["mover"][1, :EARLIER].tolist() == [2] * (EARLIER - 10) + [1] * 10


def test_it_stays_what_it_is_over_a_checkpoint() -> None:
    first, second = (Beginnings(Rules(), 0.5, CPU) for _ in range(2))
    first.replace(*positions(100))
    second.restore({name: tensor.clone() for name, tensor in first.state().items()})
    boards, ended = batch.reset(Rules(), 300, np), torch.ones(300, dtype=torch.bool)
    begun = [each.begin(boards, ended, torch.Generator().manual_seed(1)) for each in (first, second)]
    assert begun[0].ply.any()
    for one, other in zip(*begun, strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_counterexamples_nothing_is_drawn_for_them() -> None:
    learner = DQNLearner(config_with(**{**vars(SMALL), "counterexamples": 0.0}))
    assert not learner.takes_counterexamples
    assert not any("beginnings" in name for name in learner.state().tensors)


def test_games_of_self_play_begin_at_what_it_was_taught() -> None:
    learner = DQNLearner(config_with(**{**vars(SMALL), "counterexamples": 1.0}))
    mover, opponent = positions(2 * ENOUGH)
    learner.teach(mover, opponent)
    given = set(pairs(mover, opponent))
    begun = 0
    for _ in range(20):
        before = learner.positions.boards
        learner.advance()
        after = learner.positions.boards
        for board in np.flatnonzero(after.ply != before.ply + 1):
            begun += 1
            assert (int(after.mover[board]), int(after.opponent[board])) in given
    assert begun > 20
