"""Anybody's agent is judged as it is: in the view it was trained on, with every move it may draw, or not at all."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from gymnasium.error import InvalidAction
from selfplay.evaluation.evaluation import Evaluation, Proof

import selfplay
from tests.selfplay.evaluation.players import (
    Draw,
    Marks,
    ScriptedPlayer,
    assert_close,
    certain,
    empty,
    first_empty,
    optimal_player,
    walked,
)
from tictactoe import Rules, solve


class Drawing:
    """Give the probabilities of a plain rule, of absolute observations."""

    def __init__(self, rules: Rules, draw: Draw) -> None:
        self.rules = rules
        self.draw = draw

    def probabilities(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        chances = np.zeros((len(observation), self.rules.cells))
        for row, board in enumerate(np.asarray(observation).reshape(len(observation), -1, 3)):
            marks = tuple(frozenset(np.flatnonzero(board[:, plane]).tolist()) for plane in (1, 2))
            for cell, chance in self.draw(self.rules, (marks[0], marks[1]), len(marks[0] | marks[1]) % 2).items():
                chances[row, cell] = chance
        return chances


def uniform(rules: Rules, marks: Marks, _seat: int) -> dict[int, Fraction]:
    cells = empty(rules, marks)
    return {cell: Fraction(1, len(cells)) for cell in cells}


def careless(rules: Rules, marks: Marks, seat: int) -> dict[int, Fraction]:
    """Draw the first empty cell or, in the second seat sometimes a taken one, the last cell of the board."""
    first, last = empty(rules, marks)[0], rules.cells - 1
    if first == last or seat == 0:
        return {first: Fraction(1)}
    return {first: Fraction(3, 4), last: Fraction(1, 4)}


def best(rules: Rules, marks: Marks, seat: int) -> dict[int, Fraction]:
    mover, opponent = (sum(1 << cell for cell in marks[number]) for number in (seat, 1 - seat))
    cells = solve(rules).lookup(mover, opponent)[1]
    return {cell: Fraction(1, len(cells)) for cell in cells}


@pytest.mark.parametrize("draw", [uniform, careless, best])
@pytest.mark.parametrize(
    "rules", [Rules(2, 3, 2), Rules(2, 3, 3), Rules(1, 3, 1), Rules(2, 4, 3), Rules(1, 1, 1)], ids=str
)
def test_an_agent_that_draws_is_judged_by_each_move_that_has_any_probability(rules: Rules, draw: Draw) -> None:
    agent = Drawing(rules, draw)
    whole, reached = selfplay.evaluate(agent, rules), selfplay.evaluate_reach(agent, rules)
    assert isinstance(reached, Proof)
    for seat in (0, 1):
        expected, _ = walked(rules, draw, seat)
        assert_close((whole.first, whole.second)[seat], expected)
        assert_close((reached.first, reached.second)[seat], expected)
    if draw is best:
        assert whole.optimal
        assert whole.exploitability == 0
    if draw is careless and rules.k > 1:
        assert whole.illegal_states > 0


def test_a_random_agent_is_no_longer_reported_by_one_draw() -> None:
    random = Drawing(Rules(), uniform)
    proof = selfplay.evaluate(random, Rules())
    shares = (proof.first.win, proof.first.draw, proof.first.loss)
    assert shares == pytest.approx((737 / 1260, 8 / 63, 121 / 420), abs=1e-12)
    assert proof.first.losses == 77_904  # the lines that O wins, of the 255,168 games that there are
    assert -1 < proof.first.best_response < -0.5
    assert not proof.unbeatable
    assert proof.illegal_states == 0
    reached = selfplay.evaluate_reach(random, Rules())
    assert isinstance(reached, Proof)
    assert_close(reached.second, proof.second)


def test_drawing_among_best_moves_is_proved_unbeatable_and_optimal() -> None:
    proof = selfplay.evaluate(Drawing(Rules(), best), Rules())
    assert (proof.unbeatable, proof.optimal, proof.exploitability) == (True, True, 0)


def test_certain_probabilities_are_judged_as_the_moves_themselves() -> None:
    drawing = Drawing(Rules(), certain(first_empty))
    assert selfplay.evaluate(drawing, Rules()) == selfplay.evaluate(ScriptedPlayer(first_empty), Rules(), "mover")


class Absolute:
    """Play the best move of absolute observations; of the mover's view it is nonsense."""

    def act(self, observation: Any, _mask: Any = None) -> Any:
        moves = []
        for board in np.asarray(observation).reshape(len(observation), -1, 3):
            first, second = (sum(1 << int(cell) for cell in np.flatnonzero(board[:, plane])) for plane in (1, 2))
            marks = (first, second) if (first | second).bit_count() % 2 == 0 else (second, first)
            try:
                moves.append(solve(Rules()).lookup(*marks)[1][0])
            except ValueError:
                moves.append(0)
        return np.array(moves)


def test_an_agent_is_shown_the_view_it_was_trained_on() -> None:
    assert selfplay.evaluate(Absolute(), Rules()).optimal
    wrong = selfplay.evaluate(Absolute(), Rules(), perspective="mover")
    assert wrong.second.losses + wrong.second.illegal > 0
    reached = selfplay.evaluate_reach(Absolute(), Rules())
    assert isinstance(reached, Proof)
    assert reached.unbeatable
    for view in ("absolute", "mover"):  # our own players take either
        assert selfplay.evaluate(selfplay.load("shipped"), Rules(), view).optimal
    with pytest.raises(ValueError, match="unknown perspective 'mine': choose from absolute, mover"):
        selfplay.evaluate(Absolute(), Rules(), "mine")


@pytest.mark.parametrize("wrapped", [int, np.int64, lambda cell: np.array([cell]), np.array])
def test_a_function_of_one_observation_is_an_agent(wrapped: Callable[[int], Any]) -> None:
    agent = optimal_player(Rules())

    def function(observation: Any) -> Any:
        assert observation.shape == (3, 3, 3)
        return wrapped(int(agent.act(observation[None])[0]))

    proof = selfplay.evaluate(function, Rules())
    assert isinstance(proof, Evaluation)
    assert proof.optimal


class Draws:
    """Play at random and do not say so."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        return self.generator.integers(9, size=len(observation))


class Wavers(Drawing):
    """Give other probabilities each time."""

    def __init__(self) -> None:
        super().__init__(Rules(), uniform)
        self.asked = 0

    def probabilities(self, observation: Any, action_mask: Any = None) -> Any:
        self.asked += 1
        return np.roll(super().probabilities(observation, action_mask), self.asked, axis=1)


@pytest.mark.parametrize("evaluate", [selfplay.evaluate, selfplay.evaluate_reach])
def test_one_draw_is_no_proof(evaluate: Callable[..., Any]) -> None:
    with pytest.raises(
        selfplay.UserError, match="answers the same positions differently when asked twice, and one draw"
    ):
        evaluate(Draws(), Rules())
    with pytest.raises(selfplay.UserError, match="gives the same positions other probabilities when asked twice"):
        evaluate(Wavers(), Rules())


class Answering:
    """Give one answer to everything."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.answer = answer

    def probabilities(self, observation: Any, _mask: Any = None) -> Any:
        return self.answer(observation)


@pytest.mark.parametrize(
    ("agent", "error", "gist"),
    [
        (object(), selfplay.UserError, "a object is no agent: it has neither act"),
        (Answering(lambda _: np.ones((3, 9)) / 9), InvalidAction, r"must be of shape \(1, 9\), got \(3, 9\)"),
        (Answering(lambda o: np.full((len(o), 9), 0.2)), InvalidAction, "0 or more and have the sum 1 on each"),
        (
            Answering(lambda o: np.full((len(o), 9), np.nan)),
            InvalidAction,
            "0 or more and have the sum 1 on each board",
        ),
        (lambda _: 9, InvalidAction, r"the agent's actions must be integers from 0 to 8, got 9"),
        (lambda _: 0.5, InvalidAction, r"the agent's actions must be 4520 integers"),
        (lambda _: [1, 2], InvalidAction, r"the agent's actions must be 4520 integers"),
    ],
)
def test_what_is_no_answer_is_named(agent: Any, error: type[Exception], gist: str) -> None:
    with pytest.raises(error, match=gist):
        selfplay.evaluate(agent, Rules())
