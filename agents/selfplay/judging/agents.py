"""Queries to an agent: the view that it is shown, the answers that it may give, and what is refused."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from selfplay.agent import Array, Player
from selfplay.errors import UserError, what_failed
from selfplay.judging.asking import INSTEAD, Way, numbers, way_to_ask
from tictactoe import Rules, batch, planes
from tictactoe.opponents import Choices
from tictactoe.tree import BoolArray, FloatArray, GameTree, IntArray, Policy, game_tree

BOARDS = 16_384
"""Boards in one query."""
OUR_PLAYERS = ("selfplay.dqn.player", "selfplay.tabular.players")
"""Modules whose players can be trusted if they say that they are symmetric, or never mark a taken cell."""
LARGEST_ERROR = 1e-3
"""Largest distance of a sum of probabilities from 1, as 32-bit numbers of many moves have it."""

OTHER_CELLS = (
    "the agent answers the same positions differently when asked twice, and one sampled move proves nothing: give it "
    "probabilities(observation), or have it choose its best move"
)
OTHER_PROBABILITIES = "the agent gives the same positions other probabilities when asked twice"


class AgentPolicy:
    """Query an agent for its moves in positions, as it acts without being given a mask.

    `perspective` is the view that it is shown. With `twice` every query is made two times, and an agent whose answers
    differ is refused: one sampled move proves nothing. With a `name` an error in the agent becomes a message of one
    line; without a name it is raised as it is. A `symmetric` agent plays the same in all symmetric images of a
    position, so that the evaluation follows one image. A `legal` agent can never mark a taken cell.

    Raises:
        UserError: it is not an agent, cannot be asked, or answers the same positions differently.
        ValueError: there is no such perspective.
        gymnasium.error.InvalidAction: its answer is not a cell, or probabilities, for each board.
    """

    shown: str | None = None
    """The perspective, if a user has chosen it and the verdict names it."""

    def __init__(
        self,
        agent: Any,
        rules: Rules,
        perspective: str = "absolute",
        twice: bool = True,
        name: str | None = None,
        symmetric: bool = False,
        legal: bool = False,
    ) -> None:
        batch.check_perspective(perspective)
        self.agent, self.rules = agent, rules
        self.symmetric, self.legal = symmetric, legal
        self._perspective, self._twice, self._name = perspective, twice, name
        self.stochastic = hasattr(agent, "probabilities")
        """Whether the agent samples its moves, and says with which probabilities."""
        self._way: Way | None = None
        with self._named_errors():
            if isinstance(agent, type):
                raise UserError("a class is not an agent: make an object of it first")
            if not (callable(agent) or any(hasattr(agent, name) for name in ("act", "probabilities", "predict"))):
                raise UserError(f"an object of type {type(agent).__name__} is not an agent: {INSTEAD}")

    def cells(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return the cell that the agent chooses in each position, [n]; the bitboards are [n] int64."""
        return self._answers(self._cells, np.zeros(0, np.int64), mover, opponent)

    def probabilities(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        """Return the probability of each move in each position, [n, A]; the bitboards are [n] int64."""
        if not self.stochastic:
            return np.eye(self.rules.cells)[self.cells(mover, opponent)]
        return self._answers(self._probabilities, np.zeros((0, self.rules.cells)), mover, opponent)

    def moves(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return the cells that the agent may mark in each position, bitboards [n] int64."""
        if self.stochastic:
            return bitboards(self.probabilities(mover, opponent) > 0)
        return np.int64(1) << self.cells(mover, opponent)

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self._name is None:
                raise
            ours = isinstance(error, UserError | InvalidAction)
            raise UserError(f"{self._name}: {error if ours else what_failed(error)}") from None

    def _answers(self, ask: Callable[[Array], Array], none: Array, mover: IntArray, opponent: IntArray) -> NDArray[Any]:
        """Return the agent's answers in positions [n], [n, ...]; `none` are those for no positions."""
        answers = [none]
        with self._named_errors():
            for start in range(0, len(mover), BOARDS):
                part = slice(start, start + BOARDS)
                mine, theirs = mover[part].astype(np.int64), opponent[part].astype(np.int64)
                ply = planes.bits(self.rules.cells, mine | theirs).sum(axis=1, dtype=np.int64)
                observation = batch.observe(self.rules, batch.State(mine, theirs, ply), self._perspective)
                answers.append(ask(observation))
                if self._twice and not np.allclose(answers[-1], ask(observation), rtol=0, atol=LARGEST_ERROR):
                    raise UserError(OTHER_PROBABILITIES if self.stochastic else OTHER_CELLS)
        return np.concatenate(answers)

    def _cells(self, observation: Array) -> IntArray:
        if self._way is None:
            self._way = way_to_ask(self.agent, observation)
        return self._way.cells(observation)

    def _probabilities(self, observation: Array) -> FloatArray:
        answer = np.asarray(numbers(self.agent.probabilities(observation)), np.float64)
        shape = (len(observation), self.rules.cells)
        if answer.shape != shape:
            raise InvalidAction(f"the agent's probabilities must be of shape {shape}, got {answer.shape}")
        sums = answer.sum(axis=1, keepdims=True)
        if not (answer >= 0).all() or not (abs(sums - 1) <= LARGEST_ERROR).all():
            raise InvalidAction("the agent's probabilities must be 0 or more and have the sum 1 on each board")
        probabilities: FloatArray = answer / sums
        return probabilities


class TabulatedPolicy(AgentPolicy):
    """Answer from a table for an agent that samples nothing: it is queried once in every decision state."""

    def __init__(self, policy: AgentPolicy) -> None:
        super().__init__(policy.agent, policy.rules, symmetric=policy.symmetric, legal=policy.legal)
        self.shown = policy.shown
        self._tree = game_tree(policy.rules)
        decisions = self._tree.decisions
        self._actions = np.zeros(len(self._tree), np.int64)
        self._actions[decisions] = policy.cells(self._tree.mover[decisions], self._tree.opponent[decisions])

    def cells(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return the cell that the agent chooses in each position, [n]."""
        return self._actions[self._tree.find(mover, opponent)]


class BuiltInPolicy(AgentPolicy):
    """Play as a built-in opponent, which samples among its choices, each with the same probability."""

    def __init__(self, choices: Choices, rules: Rules, symmetric: bool = False) -> None:
        super().__init__(choices, rules, symmetric=symmetric, legal=True)
        self._choices, self.stochastic = choices, True

    def probabilities(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        """Return the probability of each move in each position, [n, A]."""
        chosen = self.moves(mover, opponent)[:, None] >> np.arange(self.rules.cells) & 1
        probabilities: FloatArray = chosen / chosen.sum(axis=1, keepdims=True)
        return probabilities

    def moves(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return its choices in each position, bitboards [n] int64."""
        words = np.stack([mover, opponent]).astype(np.int64)
        parts = (words[:, start : start + BOARDS] for start in range(0, len(mover), BOARDS))
        return np.concatenate([np.zeros(0, np.int64), *(self._choices(self.rules, *part) for part in parts)])


def player_policy(player: Player, rules: Rules | None = None) -> AgentPolicy:
    """Return the policy of a player in a run; one of ours need not be queried twice."""
    if isinstance(policy := getattr(player, "policy", None), AgentPolicy):  # a player of the user
        return policy
    symmetric, legal = getattr(player, "canonical", False), getattr(player, "mask", False)
    return AgentPolicy(player, rules or player.rules, "mover", twice=False, symmetric=symmetric, legal=legal)


def agent_policy(agent: Any, rules: Rules | None, perspective: str, name: str | None = None) -> AgentPolicy:
    """Return the policy of anybody's agent; the default rules are its own, or 3,3,3 if it has none.

    Raises:
        UserError: it is not an agent.
        ValueError: there is no such perspective.
    """
    if type(agent).__module__ in OUR_PLAYERS:
        return player_policy(agent, rules)
    own = getattr(agent, "rules", None)
    policy = AgentPolicy(agent, rules or (own if isinstance(own, Rules) else Rules()), perspective, name=name)
    policy.shown = perspective
    return policy


def tree_policy(policy: AgentPolicy, tree: GameTree) -> Policy:
    """Return the probability of each move in decision states of a tree; an agent that samples none is queried once."""
    if not policy.stochastic:
        policy = TabulatedPolicy(policy)
    return lambda states: policy.probabilities(tree.mover[states], tree.opponent[states])


def bitboards(marked: BoolArray) -> IntArray:
    """Return cells [n, A] as bitboards [n]."""
    words: IntArray = marked @ (np.int64(1) << np.arange(marked.shape[1]))
    return words
