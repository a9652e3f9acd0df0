"""An agent whose answer depends on more than the position, or is none, is refused; none of them is proved."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from torch import Tensor, nn

import selfplay
from selfplay.dqn.player import QPlayer
from selfplay.judge.ask import agent_policy, observe
from selfplay.judge.certificate import unbeatable_play
from selfplay.judge.evaluate import search_seat
from selfplay.judge.forms import position_text
from selfplay.judge.teach import evaluate_for_training
from tests.runs import refused
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.judge.hand_made_players import first_choice
from tictactoe import Rules

When = Callable[[int, Any], Any]
"""Returns whether an agent plays badly, [B] or for all boards, by the number of the question and the observations."""
Bitboards = tuple[int, int]
"""Bitboards of X and O."""
SHIPPED = selfplay.load("shipped")


def last_empty(observation: Any) -> Any:
    return 8 - observation[..., 0].reshape(len(observation), -1)[:, ::-1].argmax(axis=1)


MOVES = dict(zip((board.tobytes() for board in ABSOLUTE), SHIPPED.act(ABSOLUTE), strict=True))
"""The shipped player's move in each decision state, which is found sooner than the network computes it."""


def shipped_moves(observation: Any) -> Any:
    return np.array([MOVES[board.tobytes()] for board in observation])


class TwoFaced:
    """An agent that plays as the shipped player or, sometimes, marks the last empty cell."""

    def __init__(self, badly: When) -> None:
        self.badly, self.asked = badly, 0

    def act(self, observation: Any) -> Any:
        self.asked += 1
        return np.where(self.badly(self.asked, observation), last_empty(observation), shipped_moves(observation))


class Hedging(TwoFaced):
    """One that says it samples, and sometimes gives a losing move a small probability."""

    def probabilities(self, observation: Any) -> Any:
        self.asked += 1
        share = 9e-4 * self.badly(self.asked, observation)
        return (1 - share) * np.eye(9)[shipped_moves(observation)] + share * np.eye(9)[last_empty(observation)]


class Doubtful(nn.Module):
    """The shipped network, whose values change their sign at some questions."""

    def __init__(self, badly: When) -> None:
        super().__init__()
        self.network, self.badly, self.asked = SHIPPED.networks[0], badly, 0

    def forward(self, planes: Tensor) -> Tensor:
        self.asked += 1
        values: Tensor = self.network(planes)
        return -values if self.badly(self.asked, planes) else values


def with_network(badly: When) -> QPlayer:
    return QPlayer(SHIPPED.config, (Doubtful(badly),))


def never(_asked: int, _observation: Any) -> Any:
    return False


def second(asked: int, _observation: Any) -> Any:
    return asked % 2 == 0


def by_chance() -> When:
    generator = np.random.default_rng(0)
    return lambda _asked, _observation: generator.random() < 0.5


def company_of(boards: int) -> When:
    return lambda _asked, observation: len(observation) == boards


def after_a_later_one() -> When:
    """Return a function that is True for one board alone with two marks fewer than the one before."""
    before = [0]

    def badly(_asked: int, observation: Any) -> Any:
        before.append(observation[..., 1:].sum())
        return len(observation) == 1 and before[-1] == before[-2] - 2

    return badly


def alone_in(position: Bitboards) -> When:
    """Return a function that is True for one position, if it is asked about alone."""

    def badly(_asked: int, observation: Any) -> Any:
        marks = (1 << np.arange(9)) @ observation[0, ..., 1:].reshape(9, 2)
        return len(observation) == 1 and marks.tolist() == [*position]

    return badly


def last_choice() -> Bitboards:
    """Return a position late in the shipped player's own play as X in which the last empty cell is not its move."""
    ply = search_seat(agent_policy(SHIPPED.act), 0, 10_000).plies[3]
    last = last_empty(observe(Rules(), ply.mine, ply.theirs, "absolute"))
    other = int(np.flatnonzero(ply.moves != 1 << last)[-1])
    return int(ply.mine[other]), int(ply.theirs[other])


LATE = last_choice()
UNMET = (0b10, 0b1)
"""A position that the shipped player's own play does not reach, as it does not open there."""


def board_of(position: Bitboards) -> str:
    mover, opponent = np.array(position)[:, None]
    (board,) = observe(Rules(), mover, opponent, "absolute")
    return position_text(board)


HOSTILE: dict[str, tuple[Any, str]] = {
    "the order of questions": (Hedging(second), "position"),
    "the batch": (TwoFaced(alone_in(LATE)), board_of(LATE)),
    "the batch where it never comes": (TwoFaced(alone_in(UNMET)), board_of(UNMET)),
    "chance": (with_network(by_chance()), "position"),
    "a second board": (TwoFaced(company_of(2)), "position"),
    "a third board": (TwoFaced(company_of(3)), "position"),
    "what was asked before": (TwoFaced(after_a_later_one()), "position"),
    "no cells": (SimpleNamespace(act=lambda observation: np.zeros((len(observation), 9), np.float32)), "(2, 9)"),
    "an error": (nn.Linear(5, 9), "3, 3, 3"),
}
"""Agents by what their answer depends on or is, and what the refusal names."""


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_agent_is_refused_by_the_verdict_and_in_training(kind: str) -> None:
    agent, named = HOSTILE[kind]
    assert named in refused(selfplay.evaluate, agent)
    with pytest.raises(selfplay.UserError):
        evaluate_for_training(agent_policy(agent), False, np.random.default_rng(0))


def test_an_agent_that_answers_otherwise_alone_is_not_certified() -> None:
    with pytest.raises(selfplay.UserError, match="position"):
        unbeatable_play(agent_policy(TwoFaced(alone_in(LATE))), 10_000, "mine")


def test_an_honest_custom_network_is_proved() -> None:
    assert selfplay.counterexamples(with_network(never)).verdict.unbeatable


def test_rules_are_made_anew_from_their_fields() -> None:
    rules = Rules()
    rules.__dict__["completing_cells"] = rules.__dict__["has_line"] = lambda marks: marks & 0

    class Agent(TwoFaced):
        def __init__(self) -> None:
            super().__init__(never)
            self.rules = rules

        def act(self, observation: Any) -> Any:
            return last_empty(observation)

    assert not selfplay.evaluate(Agent()).unbeatable
    assert selfplay.evaluate(Agent()) == selfplay.evaluate(lambda observation: last_empty(observation[None])[0])


def test_without_asking_again_nothing_is_proved() -> None:
    verdict = selfplay.evaluate(TwoFaced(alone_in(LATE)), ask_again=False)
    assert (verdict.ways_to_beat, verdict.confirmed, verdict.unbeatable) == (0, False, False)


def test_every_position_of_its_own_play_is_asked_again_where_there_are_many() -> None:
    rules = Rules(3, 4, 4)
    policy = first_choice("optimal", rules)
    for seat in (0, 1):
        plies = search_seat(policy, seat, 10**6).plies
        ply = max(plies, key=lambda ply: len(ply.mine))
        assert len(ply.mine) > 256
        errs_at = observe(rules, ply.mine[-1:], ply.theirs[-1:], "mover")

        def act(observation: Any, errs_at: Any = errs_at) -> Any:
            if len(observation) == 1 and (observation == errs_at).all():
                return observation[..., 0].reshape(1, -1).argmin(axis=1)
            marks = (np.int64(1) << np.arange(12)) @ observation[..., 1:].reshape(len(observation), 12, 2)  # [n, 2]
            return policy.answers(marks[:, 0], marks[:, 1], 1)

        (board,) = observe(rules, ply.mine[-1:], ply.theirs[-1:], "absolute")
        message = refused(selfplay.evaluate, SimpleNamespace(act=act), rules, perspective="mover", every_state=False)
        assert position_text(board) in message
