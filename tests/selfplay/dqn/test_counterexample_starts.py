"""Some new games start at counterexamples: only some, and only at those."""

from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn.counterexample_starts import EARLIER, ENOUGH, CounterexampleStarts
from selfplay.dqn.learner import DQNLearner
from tests.selfplay.dqn.scripted import SMALL, config_with
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
    """Return which part of the games that ended starts at one of so many positions, each of them about as often."""
    starts = CounterexampleStarts(Rules(), fraction)
    mover, opponent = positions(number)
    starts.replace(mover, opponent)
    boards = batch.reset(Rules(), BOARDS, np)
    boards = boards._replace(mover=boards.mover + (np.arange(BOARDS) % 2) * 5)
    ended = np.arange(BOARDS) % 2 == 0
    started = starts.start_games(boards, ended, torch.Generator().manual_seed(0))
    assert all(isinstance(field, np.ndarray) for field in started)
    for field, before in zip(started, boards, strict=True):
        np.testing.assert_array_equal(field[1::2], before[1::2])
    given = set(pairs(mover, opponent))
    sampled = pairs(started.mover[::2], started.opponent[::2])
    assert {*sampled} - {(0, 0)} <= given
    for one, other, ply in zip(*(field[::2].tolist() for field in started), strict=True):
        assert ply == (one | other).bit_count()
    counts = [sampled.count(each) for each in given]
    assert not counts or min(counts) > 0.5 * np.mean(counts) or not fraction
    return sum(pair in given for pair in sampled) / len(sampled)


def test_the_fraction_starts_there_and_fewer_with_few_positions() -> None:
    assert share(0.5, 2 * ENOUGH) == pytest.approx(0.5, abs=0.02)
    assert share(1.0, ENOUGH) == 1.0
    assert share(0.5, ENOUGH // 8) == pytest.approx(0.5 / 8, abs=0.02)
    assert share(0.5, 0) == 0.0


def test_earlier_counterexamples_have_the_rest_of_the_fraction() -> None:
    starts = CounterexampleStarts(Rules(), 0.5)
    mover, opponent = positions(100)
    few = ENOUGH // 4
    starts.replace(mover[few:], opponent[few:])
    starts.replace(mover[:few], opponent[:few])
    started = starts.start_games(
        batch.reset(Rules(), BOARDS, np), np.ones(BOARDS, bool), torch.Generator().manual_seed(0)
    )
    sampled = pairs(started.mover, started.opponent)
    newest, earlier = set(pairs(mover[:few], opponent[:few])), set(pairs(mover[few:], opponent[few:]))
    assert sum(pair in newest for pair in sampled) / BOARDS == pytest.approx(0.5 / 4, abs=0.02)
    assert sum(pair in earlier for pair in sampled) / BOARDS == pytest.approx(0.5 * 3 / 4, abs=0.02)
    assert newest | earlier <= set(sampled)


def test_of_too_many_earlier_ones_the_latest_are_kept() -> None:
    starts = CounterexampleStarts(Rules(), 1.0)
    for number, cell in ((EARLIER, 0), (EARLIER - 10, 1), (0, 2)):
        marks = np.full(number, 1 << cell)
        starts.replace(marks, np.zeros_like(marks))
    state = starts.state()
    assert state["count"].tolist() == [0, EARLIER]
    assert state["mover"][1, :EARLIER].tolist() == [2] * (EARLIER - 10) + [1] * 10


def test_a_restored_state_starts_the_same_games() -> None:
    first, second = (CounterexampleStarts(Rules(), 0.5) for _ in range(2))
    first.replace(*positions(100))
    second.restore({name: tensor.clone() for name, tensor in first.state().items()})
    boards, ended = batch.reset(Rules(), 300, np), np.ones(300, bool)
    started = [each.start_games(boards, ended, torch.Generator().manual_seed(1)) for each in (first, second)]
    assert started[0].ply.any()
    for one, other in zip(*started, strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_counterexamples_there_is_no_state_of_them() -> None:
    learner = DQNLearner(config_with(**{**vars(SMALL), "counterexamples": 0.0}))
    assert not learner.takes_counterexamples
    assert not any("starts" in name for name in learner.state().tensors)


def test_games_of_self_play_start_at_the_counterexamples_given() -> None:
    learner = DQNLearner(config_with(**{**vars(SMALL), "counterexamples": 1.0}))
    mover, opponent = positions(2 * ENOUGH)
    learner.teach(mover, opponent)
    given = set(pairs(mover, opponent))
    started = 0
    for _ in range(20):
        before = learner.self_play.boards
        learner.advance()
        after = learner.self_play.boards
        for board in np.flatnonzero(after.ply != before.ply + 1):
            started += 1
            assert (int(after.mover[board]), int(after.opponent[board])) in given
    assert started > 20
