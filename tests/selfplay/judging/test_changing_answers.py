"""An agent whose answer depends on more than the position is refused, however it hides that; none of them is proved."""

import copy
import itertools
from collections.abc import Callable
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
from tests.runs import SHORT, refused
from tictactoe import Rules

When = Callable[[int, Any], Any]
"""Returns whether an agent plays badly, [B] or for all boards, by the number of the question and the observations."""
Position = tuple[int, int]
"""Bitboards of X and O."""
SHIPPED = selfplay.load("shipped")


ANSWERS: dict[bytes, int] = {}
"""The shipped player's moves on boards of which it was asked one by one, thousands of times."""


def best(observation: Any) -> Any:
    boards = np.asarray(observation)
    if len(boards) > 1:
        return np.array(SHIPPED.act(boards))
    key = boards.astype(np.int8).tobytes()
    if key not in ANSWERS:
        ANSWERS[key] = int(SHIPPED.act(boards)[0])
    return np.array([ANSWERS[key]])


def last_empty(observation: Any) -> Any:
    return 8 - observation[..., 0].reshape(len(observation), -1)[:, ::-1].argmax(axis=1)


class TwoFaced:
    """An agent that plays as the shipped player or, sometimes, marks the last empty cell."""

    def __init__(self, badly: When) -> None:
        self.badly, self.asked = badly, 0

    def act(self, observation: Any) -> Any:
        self.asked += 1
        return np.where(self.badly(self.asked, observation), last_empty(observation), best(observation))


class Reusing(TwoFaced):
    """One that returns the same array each time, with other cells."""

    def __init__(self, badly: When) -> None:
        super().__init__(badly)
        self.cells = np.zeros(5_000, np.int64)

    def act(self, observation: Any) -> Any:
        cells = self.cells[: len(observation)]
        cells[:] = super().act(observation)
        return cells


class Spoiling(TwoFaced):
    """One that writes into the observation, by which it knows the question if it sees it again."""

    last: Any = None

    def act(self, observation: Any) -> Any:
        if (observation == 7).all():
            return self.last
        self.last = super().act(observation)
        observation[...] = 7
        return self.last


class Hedging(TwoFaced):
    """One that says it samples, and sometimes gives a losing move a small probability."""

    def probabilities(self, observation: Any) -> Any:
        self.asked += 1
        share = 9e-4 * self.badly(self.asked, observation)
        return (1 - share) * np.eye(9)[best(observation)] + share * np.eye(9)[last_empty(observation)]


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


def replaced(badly: When) -> QPlayer:
    """Return one of our players with another `act`."""
    player = QPlayer(SHIPPED.config, SHIPPED.networks)
    player.act = TwoFaced(badly).act  # type: ignore[assignment, method-assign]
    return player


def of_our_module(badly: When) -> Any:
    """Return an agent whose class says that it is ours, never marks a taken cell, and is symmetric."""
    return type("QPlayer", (TwoFaced,), {"__module__": "selfplay.dqn.player", "mask": True, "canonical": True})(badly)


def function(badly: When) -> Callable[[Any], Any]:
    """Return a function that answers with one array, and not a cell."""
    asked, cell = itertools.count(), np.zeros((), np.int64)

    def answer(observation: Any) -> Any:
        cells = np.flatnonzero(observation[..., 0])
        cell[...] = cells[-1 if badly(next(asked), observation) else 0]
        return cell

    return answer


def of_one_board(badly: When) -> Callable[[Any], Any]:
    """Return a function that plays as the shipped player or, sometimes, marks the last empty cell."""
    agent = TwoFaced(badly)
    return lambda observation: agent.act(observation[None])[0]


def never(_asked: int, _observation: Any) -> Any:
    return False


def second(asked: int, _observation: Any) -> Any:
    return asked % 2 == 0


def third(asked: int, _observation: Any) -> Any:
    return asked % 3 == 0


def later(asked: int, _observation: Any) -> Any:
    return asked > 99


def alone(_asked: int, observation: Any) -> Any:
    return len(observation) == 1


def in_small_batches(_asked: int, observation: Any) -> Any:
    return 2 < len(observation) < 50


def out_of_order() -> When:
    """Return a function that is True for one board alone, if the one before had one to three marks more."""
    before = 0

    def is_out_of_order(_asked: int, observation: Any) -> Any:
        nonlocal before
        before, last = int(observation[0, ..., 1:].sum()), before
        return len(observation) == 1 and 1 <= last - before <= 3

    return is_out_of_order


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


def last_choices(seat: int) -> Position:
    """Return a position late in the shipped player's own play in which the last empty cell is not its move."""
    ply = search_seat(AgentPolicy(SHIPPED, Rules()), seat, 10_000, keep_plies=True).plies[3]
    last = last_empty(observe(Rules(), ply.mine, ply.theirs, "absolute"))
    other = int(np.flatnonzero(ply.moves != 1 << last)[-1])
    mine, theirs = int(ply.mine[other]), int(ply.theirs[other])
    return (mine, theirs) if seat == 0 else (theirs, mine)


def case(make: Any, badly: When) -> Any:
    return pytest.param(make, badly, id=f"{make.__name__} {badly.__name__}")


@pytest.mark.parametrize(
    ("make", "badly"),
    [
        *(case(make, second) for make in (TwoFaced, Reusing, Spoiling, Hedging, with_network)),
        case(function, third),
        *(case(of_one_board, badly) for badly in (third, later, out_of_order(), after_two_turns())),
        case(TwoFaced, out_of_order()),
        case(TwoFaced, after_two_turns()),
        *(case(make, later) for make in (TwoFaced, Hedging, with_network, replaced)),
        *(case(make, alone) for make in (TwoFaced, Hedging, with_network, replaced, of_our_module)),
        *(case(make, in_small_batches) for make in (TwoFaced, Hedging, with_network)),
    ],
)
def test_an_answer_that_depends_on_more_than_the_position_is_refused(make: Callable[[When], Any], badly: When) -> None:
    assert "position" in refused(selfplay.evaluate, make(badly))
    with pytest.raises(selfplay.UserError):
        evaluate_for_training(agent_policy(make(badly)), False, np.random.default_rng(0))


@pytest.mark.parametrize("position", [last_choices(0), last_choices(1), (0b000000011, 0b000001100)], ids=str)
def test_one_position_with_another_answer_alone_is_found_and_named(position: Position) -> None:
    mover, opponent = sorted(position, key=int.bit_count)  # O is to move where it has fewer marks
    (board,) = observe(Rules(), np.array([mover]), np.array([opponent]), "absolute")
    message = refused(selfplay.evaluate, TwoFaced(alone_in(position)))
    assert position_text(board) in message


def test_an_agent_that_answers_otherwise_alone_is_not_certified() -> None:
    with pytest.raises(selfplay.UserError, match="position"):
        unbeatable_play(agent_policy(TwoFaced(alone_in(last_choices(0)))), 10_000, "mine")


def test_an_honest_custom_network_is_proved() -> None:
    assert selfplay.counterexamples(with_network(never)).verdict.unbeatable


def test_a_custom_network_with_noise_is_not_trained_to_a_proof() -> None:
    class Noisy(nn.Linear):
        def forward(self, planes: Tensor) -> Tensor:
            values = super().forward(planes)
            return values + torch.randn_like(values)

    settings = {**SHORT, "eval_every": 64}
    records = selfplay.training(**settings, network=lambda rules: Noisy(3 * rules.cells, rules.cells))
    with pytest.raises(selfplay.UserError, match="position"):
        next(records)


def test_only_rules_of_this_package_are_taken_from_an_agent() -> None:
    class Harmless(Rules):
        """Rules with which nobody loses."""

        def has_line(self, marks: Any) -> Any:
            return np.zeros(np.shape(marks), np.bool_)

    class Agent(TwoFaced):
        rules: Rules = Harmless()

    assert type(agent_policy(Agent(second)).rules) is Rules
    Agent.rules = Rules(1, 2, 2)
    assert agent_policy(Agent(second)).rules == Rules(1, 2, 2)


def test_a_player_of_ours_is_asked_again_where_two_values_are_nearly_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    play, network = QPlayer.act, copy.deepcopy(SHIPPED.networks[0])
    badly = alone_in(last_choices(0))

    def act(_player: QPlayer, observation: Any) -> Any:
        return np.where(badly(0, observation), last_empty(observation), play(SHIPPED, observation))

    monkeypatch.setattr(QPlayer, "act", act)
    with torch.no_grad():
        network.output.bias += 1e9  # beside which the differences of the values are lost in rounding
    assert "position" in refused(selfplay.evaluate, QPlayer(SHIPPED.config, (network,)))
    assert selfplay.evaluate(SHIPPED).unbeatable
