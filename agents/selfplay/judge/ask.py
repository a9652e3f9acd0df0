"""Agents as the evaluation sees them: which moves they make in positions, asked in one way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from selfplay.errors import UserError, what_failed
from selfplay.judge.forms import (
    LARGEST_ERROR,
    AgentCall,
    AnswerError,
    agent_call,
    checked_answer,
    checked_probabilities,
    position_text,
)
from selfplay.judge.progress import EvaluationProgress
from selfplay.protocols import Array
from tictactoe import Rules, batch, planes
from tictactoe.opponents import Choices
from tictactoe.tree import BoolArray, FloatArray, IntArray

BOARDS = 16_384
"""Boards in one question."""
OUR_PLAYERS = (
    "selfplay.dqn.player.QPlayer",
    "selfplay.tabular.tabular_players.AfterstatePlayer",
    "selfplay.tabular.tabular_players.MinimaxQPlayer",
)
"""Classes whose players can be trusted if they say that they are symmetric, or never mark a taken cell."""
OUR_NETWORKS = ("selfplay.dqn.network.QNetwork", "selfplay.dqn.network.MessageNetwork")
"""Classes whose networks make a player answer alike whenever it is asked."""

Answers: TypeAlias = Callable[[IntArray, IntArray, int], Array]
"""A function that returns what an agent answers in positions, bitboards [n] of the mover and of the opponent: its cells
[n], or the probability of each move [n, A]. The third argument is how many boards it is shown at once."""


@dataclass(frozen=True)
class AgentPolicy:
    """An agent's moves in positions, without a mask."""

    rules: Rules
    answers: Answers
    samples: bool = False
    """Whether it answers with probabilities."""
    together: bool = True
    """Whether it can be shown many boards at once."""
    symmetric: bool = False
    """Whether it plays the same in all symmetric images of a position, so that following one image is enough."""
    legal: bool = False
    """Whether it can never mark a taken cell."""
    trusted: bool = False
    """Whether it is one of our players or a built-in opponent, which answer alike whenever they are asked; any other
    agent must be asked again before a proof."""
    player: Any = None
    """The trained player whose policy it is; None for somebody's agent and a built-in opponent."""
    name: str | None = None
    """The name of the agent in messages."""
    perspective: str | None = None
    """The perspective that was chosen for somebody's agent, which the verdict names."""
    other_view: "AgentPolicy | None" = None
    """The policy of the same agent if it is shown the other perspective; None where it understands both."""
    progress: EvaluationProgress | None = None
    """Shows how far an evaluation is."""

    def moves(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return the cells that the agent may mark in each position, bitboards [n] int64."""
        return move_sets(self.answers(mover, opponent, BOARDS))

    def probabilities(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        """Return the probability of each move in each position, [n, A]; the bitboards are [n] int64."""
        answers = self.answers(mover, opponent, BOARDS)
        probabilities: FloatArray = answers if self.samples else np.eye(self.rules.cells)[answers]
        return probabilities


def agent_policy(
    agent: Any,
    rules: Rules | None = None,
    perspective: str = "absolute",
    name: str | None = None,
    progress: EvaluationProgress | None = None,
) -> AgentPolicy:
    """Return the policy of any agent; the default rules are its own, or 3,3,3 if it has none.

    Messages call it by its `name`.

    Raises:
        UserError: it is not an agent, or plays on another board.
        ValueError: there is no such perspective.
    """
    batch.check_perspective(perspective)
    own = own_rules(agent)
    check_same_board(own, rules, name)
    if is_of(OUR_PLAYERS, agent):
        return player_policy(agent, progress)
    rules = rebuilt(rules or own or Rules())
    try:
        call = agent_call(agent, rules)
    except UserError as error:
        raise UserError(called(name, error)) from error

    def shown(view: str, other_view: AgentPolicy | None = None) -> AgentPolicy:
        asked = Asked(call, rules, view, name, progress)
        return AgentPolicy(
            rules,
            asked.answers,
            call.samples,
            call.together,
            name=name,
            perspective=view,
            other_view=other_view,
            progress=progress,
        )

    return shown(perspective, shown("mover" if perspective == "absolute" else "absolute"))


def player_policy(player: Any, progress: EvaluationProgress | None = None) -> AgentPolicy:
    """Return the policy of one of our players, which is symmetric and legal if it says so.

    One with a custom network is asked again as somebody's agent is.
    """
    rules = rebuilt(player.rules)
    networks = getattr(player, "networks", ())
    asked = Asked(agent_call(player, rules), rules, "mover", None, progress)
    trusted = all(is_of(OUR_NETWORKS, network) for network in networks)

    return AgentPolicy(
        rules,
        asked.answers,
        symmetric=bool(networks) and player.canonical,
        legal=getattr(player, "mask", False),
        trusted=trusted,
        player=player,
        progress=progress,
    )


def choices_policy(
    choices: Choices,
    rules: Rules,
    symmetric: bool = False,
    legal: bool = True,
    progress: EvaluationProgress | None = None,
) -> AgentPolicy:
    """Return the policy that samples among its choices, each with the same probability, as built-in opponents do."""
    rules = rebuilt(rules)

    def share(mover: IntArray, opponent: IntArray) -> FloatArray:
        chosen = planes.bits(rules.cells, choices(rules, mover, opponent))
        shares: FloatArray = chosen / chosen.sum(axis=1, keepdims=True)
        return shares

    def answers(mover: IntArray, opponent: IntArray, _: int) -> Array:
        return in_parts(share, mover, opponent)

    return AgentPolicy(rules, answers, samples=True, symmetric=symmetric, legal=legal, trusted=True, progress=progress)


def near_best_policy(player: Any) -> AgentPolicy:
    """Return the policy that samples among all cells that a DQN's player values nearly as its best."""

    def choices(rules: Rules, mover: IntArray, opponent: IntArray) -> IntArray:
        return bitboards(player.near_best(observe(rules, mover, opponent, "mover")))

    return choices_policy(choices, player.rules, symmetric=player.canonical, legal=player.mask)


class Asked:
    """An agent that is asked about observations, in the one way of its call."""

    def __init__(
        self, call: AgentCall, rules: Rules, perspective: str, name: str | None, progress: EvaluationProgress | None
    ) -> None:
        self._call, self._rules, self._perspective = call, rules, perspective
        self._name, self._progress = name, progress

    def answers(self, mover: IntArray, opponent: IntArray, together: int) -> Array:
        """Return its cells [n] or probabilities [n, A] in positions, with at most `together` boards in one question.

        Raises:
            AnswerError: it fails, or what it returns is not a cell, or probabilities, for each board.
        """
        size = together if self._call.together else 1
        answers = [np.zeros((0, self._rules.cells)) if self._call.samples else np.zeros(0, np.int64)]
        for start in range(0, len(mover), BOARDS):
            part = slice(start, start + BOARDS)
            observation = observe(self._rules, mover[part], opponent[part], self._perspective)
            questions = (observation[first : first + size] for first in range(0, len(observation), size))
            with self._call.state():
                answers += map(self._answer, questions)
        return np.concatenate(answers)

    def _answer(self, observation: Array) -> Array:
        """Return the answer to one question; what the agent writes into the observation is not seen by anybody."""
        given = observation.copy()
        with self._explained(observation):
            answer = self._call.answer(given if self._call.together else given[0])
            checked = checked_probabilities if self._call.samples else checked_answer
            return checked(answer, observation)

    @contextmanager
    def _explained(self, observation: Array) -> Iterator[None]:
        """Count what is asked, and make an AnswerError of whatever fails."""
        try:
            yield
        except AnswerError as error:
            raise AnswerError(called(self._name, error)) from error
        except Exception as error:  # the agent is somebody's own program
            where = f" in the position {position_text(observation[0])}" if len(observation) == 1 else ""
            advice = f"; {self._call.advice}" * bool(self._call.advice)
            raise AnswerError(called(self._name, f"the agent fails{where}: {what_failed(error)}{advice}")) from error
        if self._progress is not None:
            self._progress.ask(len(observation))


def is_of(classes: tuple[str, ...], part: Any) -> bool:
    """Return whether an object is of one of these classes, and not of one that is derived from it."""
    return f"{type(part).__module__}.{type(part).__qualname__}" in classes


def own_rules(agent: Any) -> Rules | None:
    """Return the rules that an agent brings, None if it has none."""
    own = getattr(agent, "rules", None)
    return own if isinstance(own, Rules) else None


def check_same_board(own: Rules | None, rules: Rules | None, name: str | None) -> None:
    """Refuse another board than the one that an agent brings.

    Raises:
        UserError: both are given, and differ.
    """
    if None not in (own, rules) and own != rules:
        raise UserError(called(name, f"plays on {own}, and no other board can be chosen for it, such as {rules}"))


def rebuilt(rules: Rules) -> Rules:
    """Return rules made anew from their fields: what else somebody has written into them is left out."""
    return replace(rules)


def called(name: str | None, message: object) -> str:
    """Return a message that begins with the name of an agent, if it has one."""
    return str(message) if name is None else f"{name}: {message}"


def observe(rules: Rules, mover: IntArray, opponent: IntArray, perspective: str) -> Array:
    """Return what the seat to move sees in positions, bitboards [n], of either seat: [n, R, C, 3]."""
    mine, theirs = mover.astype(np.int64), opponent.astype(np.int64)
    ply = planes.bits(rules.cells, mine | theirs).sum(axis=1, dtype=np.int64)
    return batch.observe(rules, batch.State(mine, theirs, ply), perspective)


def in_parts(function: Callable[[IntArray, IntArray], Array], mover: IntArray, opponent: IntArray) -> Array:
    """Return a function's results [n] or [n, A] for positions, computed for some at a time."""
    if len(mover) <= BOARDS:
        return function(mover, opponent)
    parts = np.array_split(np.arange(len(mover)), len(mover) // BOARDS + 1)
    return np.concatenate([function(mover[part], opponent[part]) for part in parts])


def differ(answers: Array, again: Array) -> BoolArray:
    """Return for each board whether two answers are different cells, [n], or other probabilities, [n, A]."""
    if answers.ndim == 1:
        return np.asarray(answers != again)
    other = ((answers > 0) != (again > 0)) | (abs(answers - again) > LARGEST_ERROR)
    return np.asarray(other.any(axis=1))


def move_sets(answers: Array) -> IntArray:
    """Return the cells that answers, cells [n] or probabilities [n, A], may mark, bitboards [n] int64."""
    if answers.ndim == 2:
        return bitboards(answers > 0)
    sets: IntArray = np.int64(1) << answers
    return sets


def bitboards(marked: BoolArray) -> IntArray:
    """Return cells [n, A] as bitboards [n]."""
    words: IntArray = marked @ (np.int64(1) << np.arange(marked.shape[1]))
    return words
