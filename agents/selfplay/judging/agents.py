"""Agents as the evaluation sees them: asked in positions, asked again, and refused if they answer otherwise."""

import contextlib
import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.agent import Array, Player
from selfplay.errors import UserError, what_failed
from selfplay.judging.exact import ALL_STATES_CELLS
from selfplay.judging.ways_to_ask import INSTEAD, AnswerError, Ask, Way, as_numpy, position_text, way_to_ask
from tictactoe import Rules, batch, planes
from tictactoe.opponents import Choices
from tictactoe.tree import BoolArray, FloatArray, GameTree, IntArray, Policy, game_tree

BOARDS = 16_384
"""Boards in one query."""
OUR_PLAYERS = ("selfplay.dqn.player", "selfplay.tabular.players")
"""Modules whose players can be trusted if they say that they are symmetric, or never mark a taken cell."""
OUR_NETWORKS = ("selfplay.dqn.network",)
"""Modules whose networks answer alike whenever they are asked, but for rounding."""
TOGETHER = 32
"""Boards in one query when an agent is asked again about some of them."""
KEPT = 100_000
"""Most answers that are kept of an agent that takes one observation: all of one that is slow."""
LARGEST_ERROR = 1e-3
"""Largest distance of a sum of probabilities from 1, as 32-bit numbers of many moves have it."""

OTHER_ANSWER = (
    "the agent changes its answer when asked again about the position {}, but its choice must depend on the position "
    "alone. If it samples, give it probabilities(observation), or have it choose its best move. If it remembers, pass "
    "a function that asks a fresh copy. If some of its values are nearly equal, round them: their last digits depend "
    "on how many boards are asked together"
)


class AgentPolicy:
    """An agent's moves in positions, as it acts without being given a mask.

    `perspective` is the view that it is shown. With `twice` every query is made two times, and `confirm` asks again
    what a proof rests on. An agent whose answers differ is refused: one sampled move proves nothing. With a `name` an
    error in the agent becomes a message of one line; without a name it is raised as it is. A `symmetric` agent plays
    the same in all symmetric images of a position, so that the evaluation follows one image. A `legal` agent can never
    mark a taken cell. One that `rounds` is asked again, if not `twice`, where values are nearly equal: their last
    digits depend on how many boards are asked together.

    Raises:
        UserError: it is not an agent, cannot be asked, answers the same positions differently, or its answer is not a
            cell, or probabilities, for each board.
        ValueError: there is no such perspective.
    """

    shown: str | None = None
    """The perspective, if a user has chosen it and the verdict names it."""
    watch: Callable[[int], None] | None = None
    """A function that is told in how many positions the agent has just been asked."""
    sparing: bool = False
    """Whether an agent that takes one observation, and so may be slow, is asked once about a position and its answer
    kept. Its moves may only be used for a verdict, for which `confirm` asks it again."""

    def __init__(
        self,
        agent: Any,
        rules: Rules,
        perspective: str = "absolute",
        twice: bool = True,
        name: str | None = None,
        symmetric: bool = False,
        legal: bool = False,
        rounds: bool = False,
    ) -> None:
        batch.check_perspective(perspective)
        self.agent, self.rules = agent, rules
        self.symmetric, self.legal = symmetric, legal
        self._perspective, self._twice, self._name = perspective, twice, name
        self._rounds = rounds
        self.stochastic = hasattr(agent, "probabilities")
        """Whether the agent samples its moves, and says with which probabilities."""
        self._way: Way | None = None
        self._kept: dict[bytes, IntArray] = {}
        with self._named_errors():
            if isinstance(agent, type):
                raise UserError("a class is not an agent: make an object of it first")
            if not (callable(agent) or any(hasattr(agent, name) for name in ("act", "probabilities", "predict"))):
                raise UserError(f"an object of type {type(agent).__name__} is not an agent: {INSTEAD}")

    @property
    def asked_once(self) -> bool:
        """Return whether its answers were asked for once, so that `confirm` is needed before any verdict."""
        return self.sparing and self._twice and self._way is not None and not self._way.together

    def judged(self) -> "AgentPolicy":
        """Return the policy of an agent whose verdict is known, so that it need not be asked twice."""
        once = copy.copy(self)
        once._twice = False
        return once

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

    def confirm(self, mover: IntArray, opponent: IntArray, moves: IntArray) -> None:
        """Ask again about positions, each alone and then, if the agent can be asked so, some together.

        The bitboards are [n] int64; `moves` are those that the verdict rests on.

        Raises:
            UserError: some are others now.
        """
        if not self._twice:
            unsure = self._unsure(mover, opponent)
            mover, opponent, moves = mover[unsure], opponent[unsure], moves[unsure]
        once = self.judged()
        once.sparing = False
        for size in (1,) if self.asked_once else (1, TOGETHER):
            for start in range(0, len(moves), size):
                part = slice(start, start + size)
                again = once.moves(mover[part], opponent[part])
                with self._named_errors():
                    self._refuse(mover[part], opponent[part], again != moves[part])

    def _unsure(self, mover: IntArray, opponent: IntArray) -> BoolArray:
        """Return in which positions [n] one of our players could choose otherwise with other last digits."""
        if not self._rounds:
            return np.zeros(len(mover), np.bool_)
        unsure = [np.zeros(0, np.bool_)]
        for start in range(0, len(mover), BOARDS):
            part = slice(start, start + BOARDS)
            observation = observe(self.rules, mover[part], opponent[part], self._perspective)
            unsure.append(self.agent.nearly_equal(observation))
        return np.concatenate(unsure)

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self._name is None:
                raise
            message = error if isinstance(error, UserError) else what_failed(error)
            raise UserError(f"{self._name}: {message}") from None

    def _answers(self, ask: Callable[[Array], Array], none: Array, mover: IntArray, opponent: IntArray) -> NDArray[Any]:
        """Return the agent's answers in positions [n], [n, ...]; `none` are those for no positions."""
        answers = [none]
        with self._named_errors():
            for start in range(0, len(mover), BOARDS):
                some = mover[start : start + BOARDS], opponent[start : start + BOARDS]
                answer = ask(observe(self.rules, *some, self._perspective))
                if self._twice and not self.asked_once:
                    # With a new observation: the agent may have written into the first.
                    self._refuse(*some, differ(answer, ask(observe(self.rules, *some, self._perspective))))
                answers.append(answer)
        return np.concatenate(answers)

    def _refuse(self, mover: IntArray, opponent: IntArray, other: BoolArray) -> None:
        """Refuse an agent with another answer in some of these positions [n], and name one of them.

        Raises:
            UserError: there is any.
        """
        if other.any():
            (board,) = observe(self.rules, mover[other][:1], opponent[other][:1], "absolute")
            raise UserError(OTHER_ANSWER.format(position_text(board)))

    def _cells(self, observation: Array) -> IntArray:
        if self._way is None:
            self._way = way_to_ask(self.agent, observation)
        if self._way.together:
            cells = self._way.ask(observation)
            self._tell(len(observation))
            return cells
        return np.concatenate([self._cell(self._way.ask, board[None]) for board in observation])

    def _cell(self, ask: Ask, observation: Array) -> IntArray:
        """Return the cell [1] of an agent that is shown one board at a time, and keep it if it is spared."""
        board = observation.tobytes()  # now: the agent may write into the observation
        if self.sparing and board in self._kept:
            return self._kept[board]
        cell = ask(observation)
        self._tell(1)
        if self.sparing and len(self._kept) < KEPT:
            self._kept[board] = cell
        return cell

    def _tell(self, positions: int) -> None:
        if self.watch is not None:
            self.watch(positions)

    def _probabilities(self, observation: Array) -> FloatArray:
        given = np.asarray(as_numpy(self.agent.probabilities(observation)))
        self._tell(len(observation))
        answer = given.astype(np.float64)
        shape = (len(observation), self.rules.cells)
        if answer.shape != shape:
            raise AnswerError(f"the agent's probabilities must be of shape {shape}, got {answer.shape}")
        sums = answer.sum(axis=1, keepdims=True)
        if not (answer >= 0).all() or not (abs(sums - 1) <= LARGEST_ERROR).all():
            raise AnswerError("the agent's probabilities must be 0 or more and have the sum 1 on each board")
        if ((given > 0) != (answer > 0)).any():
            raise AnswerError("the agent has a probability that is too small for 64 bits")
        probabilities: FloatArray = answer / sums
        return probabilities


class TabulatedPolicy(AgentPolicy):
    """The answers of an agent that samples nothing, which is asked once in every decision state."""

    def __init__(self, policy: AgentPolicy) -> None:
        super().__init__(policy.agent, policy.rules, symmetric=policy.symmetric, legal=policy.legal)
        self.shown = policy.shown
        self._policy = policy
        self._tree = game_tree(policy.rules)
        decisions = self._tree.decisions
        self._actions = np.zeros(len(self._tree), np.int64)
        self._actions[decisions] = policy.cells(self._tree.mover[decisions], self._tree.opponent[decisions])

    @property
    def asked_once(self) -> bool:
        """Return whether the agent itself was asked once."""
        return self._policy.asked_once

    def cells(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return the cell that the agent chooses in each position, [n]."""
        return self._actions[self._tree.find(mover, opponent)]

    def confirm(self, mover: IntArray, opponent: IntArray, moves: IntArray) -> None:
        """Ask the agent itself again."""
        self._policy.confirm(mover, opponent, moves)


class ChoicesPolicy(AgentPolicy):
    """An agent that samples among its choices, each with the same probability, as the built-in opponents do."""

    def __init__(self, choices: Choices, rules: Rules, symmetric: bool = False, legal: bool = True) -> None:
        super().__init__(choices, rules, twice=False, symmetric=symmetric, legal=legal)
        self._choices, self.stochastic = choices, True

    def probabilities(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        """Return the probability of each move in each position, [n, A]."""
        chosen = self.moves(mover, opponent)[:, None] >> np.arange(self.rules.cells) & 1
        probabilities: FloatArray = chosen / chosen.sum(axis=1, keepdims=True)
        return probabilities

    def confirm(self, mover: IntArray, opponent: IntArray, moves: IntArray) -> None:
        """Believe it: its choices are computed from the marks alone."""

    def moves(self, mover: IntArray, opponent: IntArray) -> IntArray:
        """Return its choices in each position, bitboards [n] int64."""
        words = np.stack([mover, opponent]).astype(np.int64)
        parts = (words[:, start : start + BOARDS] for start in range(0, len(mover), BOARDS))
        return np.concatenate([np.zeros(0, np.int64), *(self._choices(self.rules, *part) for part in parts)])


def player_policy(player: Player, rules: Rules | None = None, in_training: bool = False) -> AgentPolicy:
    """Return the policy of one of our players, which need not be asked twice unless a network is a custom one.

    In training a player is not asked again where its values are nearly equal, for they change at the next update.
    """
    networks = getattr(player, "networks", ())
    custom = not all(is_of(OUR_NETWORKS, network) for network in networks)
    return AgentPolicy(
        player,
        rules or player.rules,
        "mover",
        twice=custom,
        symmetric=bool(networks) and getattr(player, "canonical", False),
        legal=getattr(player, "mask", False),
        rounds=bool(networks) and not in_training,
    )


def near_best_policy(player: Player) -> AgentPolicy:
    """Return the policy that samples among all cells that a DQN's player values nearly as its best.

    On a small board the player is asked once in every decision state.
    """

    def asked(rules: Rules, mover: IntArray, opponent: IntArray) -> IntArray:
        return bitboards(player.near_best(observe(rules, mover, opponent, "mover")))  # type: ignore[attr-defined]

    def looked_up(_: Rules, mover: IntArray, opponent: IntArray) -> IntArray:
        return table[tree.find(mover, opponent)]

    choices: Choices = asked
    if player.rules.cells <= ALL_STATES_CELLS:
        tree = game_tree(player.rules)
        table = np.zeros(len(tree), np.int64)
        table[tree.decisions] = asked(player.rules, tree.mover[tree.decisions], tree.opponent[tree.decisions])
        choices = looked_up
    return ChoicesPolicy(choices, player.rules, symmetric=player.canonical, legal=player.mask)  # type: ignore[attr-defined]


def is_of(modules: Sequence[str], part: Any) -> bool:
    """Return whether the class of an object is defined in one of these modules, and its methods are still its own."""
    kind = type(part)
    defined = kind.__module__ in modules and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
    return defined and not {"act", "q_values", "preferences", "forward"} & vars(part).keys()


def agent_policy(
    agent: Any,
    rules: Rules | None = None,
    perspective: str = "absolute",
    name: str | None = None,
    in_training: bool = False,
) -> AgentPolicy:
    """Return the policy of any agent; the default rules are its own, or 3,3,3 if it has none.

    `in_training` is for our players, as in `player_policy`.

    Raises:
        UserError: it is not an agent.
        ValueError: there is no such perspective.
    """
    if is_of(OUR_PLAYERS, agent):
        return player_policy(agent, rules, in_training)
    policy = AgentPolicy(agent, rules or own_rules(agent) or Rules(), perspective, name=name)
    policy.shown = perspective
    return policy


def own_rules(agent: Any) -> Rules | None:
    """Return the rules that an agent brings; None if it has none, or a subclass, by which it might never lose."""
    own = getattr(agent, "rules", None)
    return own if type(own) is Rules else None


def tree_policy(policy: AgentPolicy, tree: GameTree) -> Policy:
    """Return the probability of each move in decision states of a tree; an agent that samples none is queried once."""
    if not policy.stochastic:
        policy = TabulatedPolicy(policy)
    return lambda states: policy.probabilities(tree.mover[states], tree.opponent[states])


def observe(rules: Rules, mover: IntArray, opponent: IntArray, perspective: str) -> Array:
    """Return what the seat to move sees in positions, bitboards [n], of either seat: [n, R, C, 3]."""
    mine, theirs = mover.astype(np.int64), opponent.astype(np.int64)
    ply = planes.bits(rules.cells, mine | theirs).sum(axis=1, dtype=np.int64)
    return batch.observe(rules, batch.State(mine, theirs, ply), perspective)


def differ(answer: Array, again: Array) -> BoolArray:
    """Return for each board whether two answers are different cells, [n], or other probabilities, [n, A]."""
    if answer.ndim == 1:
        return np.asarray(answer != again)
    other = ((answer > 0) != (again > 0)) | (abs(answer - again) > LARGEST_ERROR)
    return np.asarray(other.any(axis=1))


def bitboards(marked: BoolArray) -> IntArray:
    """Return cells [n, A] as bitboards [n]."""
    words: IntArray = marked @ (np.int64(1) << np.arange(marked.shape[1]))
    return words
