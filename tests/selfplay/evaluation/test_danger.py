"""Of too many positions the dangerous ones are followed: danger is what its definition says, and it finds more."""

import numpy as np
import pytest
from selfplay.evaluation.danger import dangers

from selfplay.evaluation import walk
from selfplay.evaluation.counterexamples import of_play
from tests.selfplay.evaluation.certificates import FirstChoice
from tests.tictactoe.rule_book import RuleBook, cells_in
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS


@pytest.mark.parametrize("rules", [Rules(3, 3, 3), Rules(5, 5, 4), Rules(2, 7, 3), Rules(8, 8, 5)], ids=str)
def test_danger_is_the_sum_over_the_open_lines(rules: Rules) -> None:
    marks = np.random.default_rng(0).integers(0, 3, (200, rules.cells))
    cells = np.uint64(1) << np.arange(rules.cells, dtype=np.uint64)
    mine, theirs = (((marks == mark) * cells).sum(axis=1, dtype=np.uint64).astype(np.int64) for mark in (1, 2))
    found = dangers(rules, mine, theirs)
    book = RuleBook(rules.rows, rules.cols, rules.k)
    for one, other, danger in zip(mine.tolist(), theirs.tolist(), found.tolist(), strict=True):
        own, others = (set(cells_in(side & (1 << 64) - 1, rules.cells)) for side in (one, other))
        expected = sum(2.0 ** -len(set(line) - others) for line in book.lines if not own & set(line))
        assert danger == pytest.approx(expected)


def test_more_counterexamples_are_found_among_the_dangerous(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = []
    judge = FirstChoice(OPPONENTS["rule"], Rules(5, 5, 4))
    for power in (walk.DANGER_POWER, 0):
        monkeypatch.setattr(walk, "DANGER_POWER", power)
        found = of_play(judge, 2_000, np.random.default_rng(0))
        assert not found.whole
        numbers.append(len(found.mover))
    assert numbers[0] > 2 * numbers[1]
