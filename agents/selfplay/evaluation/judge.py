"""How an agent is asked for its moves: the view that it is shown, what it may answer, and what is refused."""

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from selfplay.agent import AnyAgent, Array, Player
from selfplay.errors import UserError, what_failed
from tictactoe import Rules, batch, planes
from tictactoe.actions import checked_cells
from tictactoe.tree import FloatArray, IntArray

BOARDS = 16_384
"""Boards in one question."""
LARGEST_ERROR = 1e-3
"""By which the probabilities of a position may miss a sum of 1, as 32-bit numbers of many moves do."""


class Asked(Protocol):
    """Answer what an agent plays; a `Judge` does."""

    @property
    def rules(self) -> Rules:
        """Return the rules of the board."""

    @property
    def draws(self) -> bool:
        """Tell whether it draws its moves."""

    def cells(self, mover: IntArray, opponent: IntArray) -> NDArray[np.int64]:
        """Return the cell that it chooses in each position, [n]."""

    @property
    def symmetric(self) -> bool:
        """Tell whether it plays the same in all symmetric images of a position."""

    @property
    def legal(self) -> bool:
        """Tell whether it can never mark a taken cell."""

    def chances(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        """Return the probability of each cell, [n, A]."""


class Judge:
    """Ask an agent what it plays in positions, as it acts without being given a mask.

    `perspective` is the view that it is shown. With `twice` every question is put two times, and an agent that
    answers them differently is refused, for one draw is no proof. With a `name` whatever goes wrong in somebody's agent
    is a mistake of theirs, told in one line; without one it is raised as it is. Of a `symmetric` agent, which plays the
    same in all symmetric images of a position, the proof follows one image of each; of a `legal` one, which can never
    mark a taken cell, no game beyond the point from which it cannot be lost.

    Raises:
        UserError: it is no agent, or answers the same positions differently.
        ValueError: there is no such perspective.
        gymnasium.error.InvalidAction: it answers something else than a cell, or probabilities, for each board.
    """

    def __init__(
        self,
        agent: AnyAgent,
        rules: Rules,
        perspective: str = "absolute",
        twice: bool = True,
        name: str | None = None,
        symmetric: bool = False,
        legal: bool = False,
    ) -> None:
        batch.check_perspective(perspective)
        self.rules = rules
        self._name = name
        self.agent = agent
        self._perspective = perspective
        self._twice = twice
        self.symmetric, self.legal = symmetric, legal
        self.draws = hasattr(agent, "probabilities")
        """Whether it draws its moves, and says with which probabilities."""
        with self._named_mistakes():
            if not (self.draws or hasattr(agent, "act") or callable(agent)):
                has = "neither act(observation) nor probabilities(observation), and is no function of an observation"
                raise UserError(f"a {type(agent).__name__} is no agent: it has {has}")

    def cells(self, mover: IntArray, opponent: IntArray) -> NDArray[np.int64]:
        """Return the cell that it chooses in each position, [n] int64; the bitboards are [n] int64."""
        chosen = np.empty(len(mover), dtype=np.int64)
        with self._named_mistakes():
            for part, observation in self._questions(mover, opponent):
                answer = self._cells(observation)
                if self._twice and not np.array_equal(answer, self._cells(observation)):
                    raise UserError(
                        "the agent answers the same positions differently when asked twice, and one draw is no proof: "
                        "give it probabilities(observation), or have it choose its best move"
                    )
                chosen[part] = answer
        return chosen

    def chances(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        """Return the probability of each move in each position, [n, A]; the bitboards are [n] int64."""
        if not self.draws:
            certain: FloatArray = np.eye(self.rules.cells)[self.cells(mover, opponent)]
            return certain
        chances = np.empty((len(mover), self.rules.cells))
        with self._named_mistakes():
            for part, observation in self._questions(mover, opponent):
                answer = self._probabilities(observation)
                if self._twice and not np.allclose(
                    answer, self._probabilities(observation), rtol=0, atol=LARGEST_ERROR
                ):
                    raise UserError("the agent gives the same positions other probabilities when asked twice")
                chances[part] = answer
        return chances

    @contextlib.contextmanager
    def _named_mistakes(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self._name is None:
                raise
            ours = isinstance(error, UserError | InvalidAction)
            raise UserError(f"{self._name}: {error if ours else what_failed(error)}") from None

    def _questions(self, mover: IntArray, opponent: IntArray) -> Iterator[tuple[slice, Array]]:
        """Yield parts of the positions with their observations [B, R, C, 3]."""
        for start in range(0, len(mover), BOARDS):
            part = slice(start, start + BOARDS)
            mine, theirs = mover[part].astype(np.int64), opponent[part].astype(np.int64)
            ply = np.zeros_like(mine)
            if self._perspective == "absolute":  # which alone asks whose turn it is
                ply = planes.bits(self.rules.cells, mine | theirs).sum(axis=1, dtype=np.int64)
            yield part, batch.observe(self.rules, batch.State(mine, theirs, ply), self._perspective)

    def _cells(self, observation: Array) -> NDArray[np.int64]:
        agent: Any = self.agent
        # A function is asked for one board at a time, as an environment would ask it.
        answer = agent.act(observation) if hasattr(agent, "act") else [_single(agent(board)) for board in observation]
        try:
            return checked_cells(self.rules.cells, answer, len(observation))
        except InvalidAction as error:
            raise InvalidAction(f"the agent's {error}") from None

    def _probabilities(self, observation: Array) -> FloatArray:
        agent: Any = self.agent
        answer = np.asarray(agent.probabilities(observation), dtype=np.float64)
        wanted = (len(observation), self.rules.cells)
        if answer.shape != wanted:
            raise InvalidAction(f"the agent's probabilities must be of shape {wanted}, got {answer.shape}")
        sums = answer.sum(axis=1, keepdims=True)
        if not (answer >= 0).all() or not (abs(sums - 1) <= LARGEST_ERROR).all():
            raise InvalidAction("the agent's probabilities must be 0 or more and have the sum 1 on each board")
        probabilities: FloatArray = answer / sums
        return probabilities


def trusted(player: Player) -> Judge:
    """Return the judge of one of our own trained players, whom nobody needs to ask twice."""
    canonical, masked = getattr(player, "canonical", False), getattr(player, "mask", False)
    return Judge(player, player.rules, "mover", twice=False, symmetric=canonical, legal=masked)


def _single(answer: Any) -> Any:
    """Return the one number of an answer, which libraries like to give as an array of one."""
    found = np.asarray(answer)
    return found.reshape(()) if found.size == 1 else found
