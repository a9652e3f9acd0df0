"""Anybody's agent is queried as it is: in the view it was trained on, with every move it may sample, or not at all."""

import itertools
import pkgutil
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import selfplay
from selfplay.judge.ask import OUR_NETWORKS, OUR_PLAYERS, agent_policy
from selfplay.named_players import Perspective
from tests.selfplay.judge.hand_made_players import (
    Sampler,
    choices_of,
)
from tictactoe import Rules


def test_an_agent_is_shown_the_view_it_was_trained_on() -> None:
    agent = Sampler(Rules(), choices_of("rule"))  # of absolute observations
    views: tuple[Perspective, ...] = "absolute", "mover"
    seen, misled = (selfplay.evaluate(agent, Rules(), perspective=view) for view in views)
    assert (seen.first.losses, seen.second.losses) == (0, 16)
    assert misled.second.losses + misled.second.illegal > 16
    for view in views:  # our own players take either
        assert selfplay.evaluate(selfplay.load("shipped"), perspective=view).optimal
    with pytest.raises(ValueError, match="mine"):
        selfplay.evaluate(agent, Rules(), perspective=cast(Any, "mine"))


class Answering:
    """An agent that samples, with the probabilities that a function answers."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.answer = answer

    def probabilities(self, observation: Any, _mask: Any = None) -> Any:
        return self.answer(observation)


def wavering(by: float) -> Answering:
    """Return an agent that gives each cell 1/9, or at every second question the first more and the second less."""
    more, change = itertools.cycle((0, by)), np.eye(1, 9) - np.eye(1, 9, 1)
    return Answering(lambda observation: np.full((len(observation), 9), 1 / 9) + change * next(more))


def hedging(share: float) -> Answering:
    """Return an agent that gives one cell all, and at every second question another cell a small share."""
    shares, change = itertools.cycle((0, share)), np.eye(1, 9, 1) - np.eye(1, 9)
    return Answering(lambda observation: np.tile(np.eye(1, 9) + change * next(shares), (len(observation), 1)))


@pytest.mark.parametrize(
    "agent",
    [
        lambda _, legal: legal.argmax(),
        lambda board, mask=None: board[..., 0].argmax() if mask is None else 8,
        SimpleNamespace(act=lambda _, legal: legal.argmax(axis=1)),
    ],
    ids=["function", "it can do without", "act"],
)
@pytest.mark.parametrize("perspective", ["absolute", "mover"])
def test_an_agent_gets_the_mask_if_it_cannot_do_without(agent: Any, perspective: Any) -> None:
    first_empty = selfplay.evaluate(lambda board: board[..., 0].argmax(), perspective=perspective)
    assert selfplay.evaluate(agent, perspective=perspective) == first_empty


def test_rounded_probabilities_are_taken_for_what_they_mean() -> None:
    drifting = Answering(lambda observation: np.full((len(observation), 9), 1.0009 / 9))
    for agent in (wavering(9e-4), drifting):
        (probabilities,) = agent_policy(agent).probabilities(*np.zeros((2, 1), np.int64))
        assert probabilities == pytest.approx(np.full(9, 1 / 9), abs=1e-15)


@pytest.mark.parametrize(
    ("agent", "named"),
    [
        (wavering(1.1e-3), "position"),
        (hedging(9e-4), "position"),
        (Answering(lambda _: np.ones((3, 9)) / 9), r"\(2, 9\), got \(3, 9\)"),
        (Answering(lambda o: np.full((len(o), 9), 1.0011 / 9)), "sum"),
        (Answering(lambda o: np.tile([1.1, -0.1, *[0] * 7], (len(o), 1))), "sum"),
        (
            Answering(lambda o: np.tile([Fraction(1), Fraction(1, 10**400), *[0] * 7], (len(o), 1))),
            "small",
        ),
    ],
)
def test_what_is_no_answer_is_refused(agent: Any, named: str) -> None:
    with pytest.raises(selfplay.UserError, match=named):
        selfplay.evaluate(agent, Rules())


def test_an_error_of_an_agent_is_told_as_its_own_with_the_position() -> None:
    def failing_later(observation: Any) -> int:
        return 4 // int(observation[..., 0].all())

    for name, begins in ((None, "the agent"), ("mine", "mine: ")):
        policy = agent_policy(failing_later, name=name)
        assert policy.moves(*np.zeros((2, 1), np.int64)) == [1 << 4]
        with pytest.raises(selfplay.UserError, match=f"^{begins}.*X../.../....*ZeroDivisionError"):
            policy.moves(np.array([0]), np.array([1]))
    with pytest.raises(selfplay.UserError, match=r"^mine: .* object "):
        agent_policy(object(), name="mine")


@pytest.mark.parametrize("name", [*OUR_PLAYERS, *OUR_NETWORKS])
def test_classes_that_are_trusted_by_name_exist(name: str) -> None:
    assert pkgutil.resolve_name(name).__name__ == name.rpartition(".")[2]
