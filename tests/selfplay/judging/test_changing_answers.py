"""An agent whose answer depends on more than the position, or is none, is refused; none of them is proved."""

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import selfplay
from selfplay.dqn.player import QPlayer
from selfplay.judging.agents import AgentPolicy, agent_policy, observe
from selfplay.judging.certificate import unbeatable_play
from selfplay.judging.evaluate import search_seat
from selfplay.judging.training_positions import evaluate_for_training
from selfplay.judging.ways_to_ask import position_text
from tests.runs import refused
from tests.selfplay.decisions import ABSOLUTE
from tictactoe import Rules

When = Callable[[int, Any], Any]
"""Returns whether an agent plays badly, [B] or for all boards, by the number of the question and the observations."""
Position = tuple[int, int]
"""Bitboards of X and O."""
SHIPPED = selfplay.load("shipped")


def last_empty(observation: Any) -> Any:
    return 8 - observation[..., 0].reshape(len(observation), -1)[:, ::-1].argmax(axis=1)


class TwoFaced:
    """An agent that plays as the shipped player or, sometimes, marks the last empty cell."""

    def __init__(self, badly: When) -> None:
        self.badly, self.asked = badly, 0

    def act(self, observation: Any) -> Any:
        self.asked += 1
        return np.where(self.badly(self.asked, observation), last_empty(observation), SHIPPED.act(observation))


class Hedging(TwoFaced):
    """One that says it samples, and sometimes gives a losing move a small probability."""

    def probabilities(self, observation: Any) -> Any:
        self.asked += 1
        share = 9e-4 * self.badly(self.asked, observation)
        return (1 - share) * np.eye(9)[SHIPPED.act(observation)] + share * np.eye(9)[last_empty(observation)]


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


def of_one_board(badly: When) -> Callable[[Any], Any]:
    """Return a function of one board that plays as the shipped player or, sometimes, marks the last empty cell."""
    moves = dict(zip((board.tobytes() for board in ABSOLUTE), SHIPPED.act(ABSOLUTE), strict=True))

    def answer(observation: Any) -> int:
        if badly(0, observation[None]):
            return int(last_empty(observation[None])[0])
        return int(moves[observation.tobytes()])

    return answer


def never(_asked: int, _observation: Any) -> Any:
    return False


def second(asked: int, _observation: Any) -> Any:
    return asked % 2 == 0


def by_chance() -> When:
    generator = np.random.default_rng(0)
    return lambda _asked, _observation: generator.random() < 0.5


def after_two_turns() -> When:
    """Return a function that is True for one board alone that continues a game after two earlier turns of it."""
    game: list[Any] = []

    def is_late_in_a_game(_asked: int, observation: Any) -> Any:
        marks = observation[0, ..., 1:]
        if game and not ((game[-1] <= marks).all() and marks.sum() == game[-1].sum() + 2):
            game.clear()
        game.append(marks.copy())
        return len(observation) == 1 and len(game) > 2

    return is_late_in_a_game


def alone_in(position: Position) -> When:
    """Return a function that is True for one position, if it is asked about alone."""

    def badly(_asked: int, observation: Any) -> Any:
        marks = (1 << np.arange(9)) @ observation[0, ..., 1:].reshape(9, 2)
        return len(observation) == 1 and marks.tolist() == [*position]

    return badly


def last_choice() -> Position:
    """Return a position late in the shipped player's own play as X in which the last empty cell is not its move."""
    ply = search_seat(AgentPolicy(SHIPPED, Rules()), 0, 10_000, keep_plies=True).plies[3]
    last = last_empty(observe(Rules(), ply.mine, ply.theirs, "absolute"))
    other = int(np.flatnonzero(ply.moves != 1 << last)[-1])
    return int(ply.mine[other]), int(ply.theirs[other])


def board_of(position: Position) -> str:
    """Return a position in which X is to move as a refusal names it."""
    (board,) = observe(Rules(), np.array(position[:1]), np.array(position[1:]), "absolute")
    return position_text(board)


HOSTILE: dict[str, tuple[Any, str]] = {
    "the order of questions": (Hedging(second), "position"),
    "the batch": (TwoFaced(alone_in(last_choice())), board_of(last_choice())),
    "chance": (with_network(by_chance()), "position"),
    "what was asked before": (of_one_board(after_two_turns()), "position"),
    "no cells": (SimpleNamespace(act=lambda observation: np.zeros((len(observation), 9), np.float32)), "(2, 9)"),
    "an error": (nn.Linear(5, 9), "(3, 3, 3)"),
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
        unbeatable_play(agent_policy(TwoFaced(alone_in(last_choice()))), 10_000, "mine")


def test_an_honest_custom_network_is_proved() -> None:
    assert selfplay.counterexamples(with_network(never)).verdict.unbeatable


def test_a_player_of_ours_is_asked_again_where_two_values_are_nearly_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    play, network = QPlayer.act, copy.deepcopy(SHIPPED.networks[0])
    badly = alone_in(last_choice())

    def act(_player: QPlayer, observation: Any) -> Any:
        return np.where(badly(0, observation), last_empty(observation), play(SHIPPED, observation))

    monkeypatch.setattr(QPlayer, "act", act)
    with torch.no_grad():
        network.output.bias += 1e9  # beside which the differences of the values are lost in rounding
    assert "position" in refused(selfplay.evaluate, QPlayer(SHIPPED.config, (network,)))
    assert selfplay.evaluate(SHIPPED).unbeatable
