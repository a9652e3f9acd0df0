"""The benchmark of the rule says what the proof says of it, which takes longer."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from benchmarks.environment import rule
from selfplay.evaluation.agents import built_in_policy
from selfplay.evaluation.evaluate import evaluate_policy
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS, Choices

NAMED: Mapping[str, Choices] = MappingProxyType({name: OPPONENTS[name] for name in ("random", "heuristic", "rule")})


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("size", [(3, 3, 3), (3, 3, 2), (2, 4, 3), (3, 4, 3), (1, 6, 3), (3, 4, 4)], ids=str)
def test_it_says_what_the_proof_says(size: tuple[int, int, int], name: str) -> None:
    rules = Rules(*size)
    proof = evaluate_policy(built_in_policy(NAMED[name], rules))
    for seat, found in enumerate((proof.first, proof.second)):
        assert rule.can_lose(rules, NAMED[name], seat)[0] is (found.losses > 0)


def test_what_the_rule_comes_to_on_larger_boards() -> None:
    lost = {size: [rule.can_lose(Rules(*size), NAMED["rule"], seat)[0] for seat in (0, 1)] for size in SIZES}
    assert lost == SIZES


SIZES = {(4, 4, 4): [False, False], (5, 5, 4): [True, True]}


def test_positions_that_are_taken_for_one_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rule.can_lose(Rules(4, 4, 4), NAMED["rule"], 0)
    assert whole == (False, 20_721)
    monkeypatch.setattr(rule, "PARENTS", 1_000)
    assert rule.can_lose(Rules(4, 4, 4), NAMED["rule"], 0) == whole


def test_each_board_has_two_rows(capsys: pytest.CaptureFixture[str]) -> None:
    rule.main(["--boards", "3x3x3", "--games", "1000"])
    shown = capsys.readouterr().out
    assert "3x3x3, seat 0: cannot lose, 25 positions" in shown
    assert "3x3x3, seat 1: can lose" in shown
    table = [line.replace("│", "|").split("|")[2:] for line in shown.splitlines() if line.startswith("│ 3")]
    rows = [[cell.strip() for cell in line] for line in table]
    assert [row[:2] for row in rows] == [["X", "never"], ["O", "yes"]]
    for row, wins in zip(rows, (0.99, 0.87), strict=True):  # what the proof says of games against random play
        won, drawn, lost = map(int, row[4].split("/"))
        assert won == pytest.approx(100 * wins, abs=5)
        assert 99 <= won + drawn + lost <= 101
