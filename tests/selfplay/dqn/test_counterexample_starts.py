"""Some new games start at counterexamples: only some, and only at those."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn.counterexample_starts import CounterexampleStarts
from selfplay.dqn.learner import DQNLearner
from selfplay.judge.teach import ANY
from tests.selfplay.dqn.scripted import config_with
from tictactoe import Rules, batch, planes
from tictactoe.tree import game_tree

BOARDS = 20_000


def positions(number: int) -> tuple[Any, Any, Any]:
    """Return some decision states of tic-tac-toe with marks on them, and a legal move in every other one."""
    tree = game_tree(Rules())
    states = tree.decisions[100 : 100 + number]
    mover, opponent = tree.mover[states].astype(np.int64), tree.opponent[states].astype(np.int64)
    move = planes.bits(9, Rules().legal_cells(mover, opponent)).argmax(axis=1)
    return mover, opponent, np.where(np.arange(number) % 2 == 0, move, ANY)


@pytest.mark.parametrize(
    ("fraction", "earlier", "latest", "kept", "expected"),
    [
        (0.5, 0, 128, 256, (0.5, 0)),
        (1.0, 0, 64, 256, (1, 0)),
        (0.5, 0, 8, 256, (0.5 / 8, 0)),  # few positions start fewer games
        (0.5, 84, 16, 256, (0.5 / 4, 0.5 * 3 / 4)),  # and earlier ones start the rest
        (0.5, 84, 16, 512, (0.5 / 8, 0.5 * 7 / 8)),
        (0.5, 84, 2, 32, (0.5 / 4, 0.5 * 3 / 4)),  # of these only so many are kept
        (0.5, 0, 0, 256, (0, 0)),
    ],
)
def test_a_fraction_of_the_new_games_starts_at_counterexamples(
    fraction: float, earlier: int, latest: int, kept: int, expected: tuple[float, float]
) -> None:
    starts = CounterexampleStarts(Rules(), fraction, kept)
    mover, opponent, move = positions(earlier + latest)
    starts.teach(mover[:earlier], opponent[:earlier], move[:earlier])
    starts.teach(mover[earlier:], opponent[earlier:], move[earlier:])
    remembered = min(earlier, kept)
    ended = np.arange(BOARDS) % 2 == 0
    boards = batch.restart(batch.State(*np.full((3, BOARDS), [[1], [2], [2]])), ended)
    started, next_move = starts.start_games(boards, ended, torch.Generator().manual_seed(0))
    assert next_move[~ended].eq(ANY).all()
    assert np.array_equal(np.stack(started)[:, ~ended], np.stack(boards)[:, ~ended])
    assert np.array_equal(planes.bits(9, started.mover | started.opponent).sum(axis=1), started.ply)
    begun = Counter(zip(*(each[ended].tolist() for each in (started.mover, started.opponent, next_move)), strict=True))
    given = [*zip(mover.tolist(), opponent.tolist(), move.tolist(), strict=True)]
    assert begun.keys() <= {(0, 0, ANY), *given}
    numbers = np.array([begun[each] for each in given])
    assert not numbers[remembered:earlier].any()
    for part, share in ((numbers[earlier:], expected[0]), (numbers[:remembered], expected[1])):
        assert part.sum() * 2 / BOARDS == pytest.approx(share, abs=0.02)
        assert not part.any() or part.min() > 0.5 * part.mean()  # each position about as often


def test_without_counterexamples_there_is_no_state_of_them() -> None:
    learner = DQNLearner(config_with(counterexamples=0.0))
    assert not hasattr(learner, "teach")
    assert not any("starts" in name for name in learner.state())


@pytest.mark.parametrize("symmetry", ["canonical", "none"])
def test_games_of_self_play_start_at_the_position_given_and_with_the_move_given(symmetry: str) -> None:
    learner = DQNLearner(config_with(counterexamples=1.0, symmetry=symmetry))
    mover, opponent, move = (np.repeat(each, 64) for each in positions(1))
    learner.teach(mover, opponent, move)
    moved, started = 0, np.zeros(16, dtype=bool)
    for _ in range(30):
        before = learner.self_play.boards
        learner.advance(1)
        after = learner.self_play.boards
        continued = after.ply == before.ply + 1
        assert (after.opponent[started & continued] == mover[0] | 1 << move[0]).all()
        moved += (started & continued).sum()
        started = ~continued
        assert (after.mover[started] == mover[0]).all()
        assert (after.opponent[started] == opponent[0]).all()
    assert moved > 20
