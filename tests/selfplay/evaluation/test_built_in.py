"""Built-in opponents are judged by all of their choices."""

from fractions import Fraction

import pytest
from selfplay.evaluation.built_in import BuiltIn
from selfplay.evaluation.evaluation import Proof, evaluate_tree
from selfplay.evaluation.reach import follow, of_seats

from tests.selfplay.evaluation.players import Draw, Marks, assert_close, walked
from tests.tictactoe.rule_book import bits, cells_in
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS


def drawn_by(name: str) -> Draw:
    """Return what draws the same among all choices of a built-in opponent."""

    def draw(rules: Rules, marks: Marks, seat: int) -> dict[int, Fraction]:
        choices = OPPONENTS[name](rules, bits(marks[seat]), bits(marks[1 - seat]))
        cells = cells_in(int(choices), rules.cells)
        return dict.fromkeys(sorted(cells), Fraction(1, len(cells)))

    return draw


@pytest.mark.parametrize("name", OPPONENTS)
@pytest.mark.parametrize("size", [(2, 3, 2), (2, 4, 3), (1, 5, 3)], ids=str)
def test_each_choice_is_followed(name: str, size: tuple[int, int, int]) -> None:
    rules = Rules(*size)
    for evaluation in (evaluate_tree(BuiltIn(OPPONENTS[name], rules)), _reached(BuiltIn(OPPONENTS[name], rules))):
        for seat, found in enumerate((evaluation.first, evaluation.second)):
            assert_close(found, walked(rules, drawn_by(name), seat)[0])


def _reached(judge: BuiltIn) -> Proof:
    proof = of_seats(*(follow(judge, seat, 10_000) for seat in (0, 1)))
    assert isinstance(proof, Proof)
    return proof


def test_what_the_rule_comes_to_on_3_3_3() -> None:
    evaluation = evaluate_tree(BuiltIn(OPPONENTS["rule"], Rules()))
    assert (evaluation.first.losses, evaluation.second.losses) == (0, 16)
    assert (evaluation.first.illegal, evaluation.second.illegal, evaluation.illegal_states) == (0, 0, 0)
    assert evaluation.optimal_states == 4_362


def test_optimal_is_proved_optimal() -> None:
    evaluation = evaluate_tree(BuiltIn(OPPONENTS["optimal"], Rules()))
    assert evaluation.optimal
    assert evaluation.unbeatable
    assert str(evaluation.exploitability) == "0.0"  # and not -0.0
