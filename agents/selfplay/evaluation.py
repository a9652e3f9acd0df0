"""Exact evaluation: what an agent does against every possible opponent, without sampling."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from selfplay.agent import Agent
from tictactoe import Rules, batch, solve
from tictactoe.actions import checked_cells
from tictactoe.tree import GameTree, IntArray, Policy, every_legal, play_out, uniform_legal

BOARDS = 16_384
"""Boards in one call of `Agent.act`."""


@dataclass(frozen=True)
class SeatEvaluation:
    """Hold what an agent does in one seat."""

    losses: int
    """Distinct game lines it loses by the opponent's line, over every legal opponent reply."""
    illegal: int
    """Distinct game lines it ends by playing a taken cell."""
    win: float
    """Probability against an opponent who picks among the empty cells uniformly."""
    draw: float
    loss: float
    """Of a lost or an illegal game."""
    best_response: int
    """The agent's result, +1, 0 or -1, against the opponent that does it most harm."""


@dataclass(frozen=True)
class Proof:
    """Hold what an agent's own play comes to on one board, over every legal reply, in both seats."""

    first: SeatEvaluation
    second: SeatEvaluation

    @property
    def exploitability(self) -> float:
        """Return how much a best response gains over the value of the game, mean of both seats, 0 to 2.

        What that value adds in one seat it takes away in the other, so the game need not be solved.
        """
        return -(self.first.best_response + self.second.best_response) / 2

    @property
    def unbeatable(self) -> bool:
        """Tell whether it never loses and never plays a taken cell, in both seats."""
        return not any((self.first.losses, self.first.illegal, self.second.losses, self.second.illegal))

    @property
    def unexploitable(self) -> bool:
        """Tell whether no opponent gets more than the value of the game, and no line ends by an illegal move.

        On a board that best play draws this is the same as unbeatable. On one that a seat wins nobody is
        unbeatable in the other, and this is what can be reached.
        """
        return self.exploitability == 0 and self.first.illegal == self.second.illegal == 0

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, the verdicts included, ready for JSON; None is what only every state would tell."""
        of_states = dict.fromkeys(("decision_states", "optimal_states", "illegal_states", "optimal"))
        names = "exploitability", "unbeatable", "unexploitable"
        return {**of_states, **asdict(self), **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class Evaluation(Proof):
    """Hold beside the proof how an agent moves in all decision states of the board."""

    decision_states: int
    optimal_states: int
    """Decision states in which the agent's move keeps the game-theoretic value."""
    illegal_states: int
    """Decision states in which the agent plays a taken cell."""

    @property
    def optimal(self) -> bool:
        """Tell whether its move keeps the game-theoretic value in every decision state."""
        return self.optimal_states == self.decision_states

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, the verdicts included, ready for JSON."""
        return {**super().as_dict(), "optimal": self.optimal}


def evaluate(agent: Agent, rules: Rules) -> Evaluation:
    """Evaluate an agent exactly, as it acts without being given a mask.

    Raises:
        ValueError: the board has more than 16 cells and cannot be solved.
        gymnasium.error.InvalidAction: the agent answers something else than a cell for each board.
    """
    solution = solve(rules)
    tree = solution.tree
    decisions = tree.decisions
    actions = chosen_actions(agent, tree)
    chosen = actions[decisions]
    occupied = tree.mover[decisions] | tree.opponent[decisions]
    first, second = (_evaluate_seat(tree, actions, seat) for seat in (0, 1))
    return Evaluation(
        first,
        second,
        decision_states=len(decisions),
        optimal_states=int(np.count_nonzero(solution.optimal_moves[decisions] >> chosen & 1)),
        illegal_states=int(np.count_nonzero(occupied >> chosen & 1)),
    )


def chosen_actions(agent: Agent, tree: GameTree) -> IntArray:
    """Return the agent's action in every decision state, [S] int32, 0 in finished states."""
    actions = np.zeros(len(tree), dtype=np.int32)
    decisions = tree.decisions
    mover, opponent = tree.mover[decisions].astype(np.int64), tree.opponent[decisions].astype(np.int64)
    actions[decisions] = chosen_cells(agent, tree.rules, mover, opponent)
    return actions


def chosen_cells(agent: Agent, rules: Rules, mover: IntArray, opponent: IntArray) -> NDArray[np.int64]:
    """Return the cell that an agent chooses without a mask in each position, [n] int64.

    `mover` and `opponent` are bitboards [n] int64.

    Raises:
        gymnasium.error.InvalidAction: it answers something else than a cell for each board.
    """
    cells = np.empty(len(mover), dtype=np.int64)
    for start in range(0, len(cells), BOARDS):
        part = slice(start, start + BOARDS)
        positions = batch.State(mover[part], opponent[part], ply=np.zeros_like(mover[part]))
        answer = agent.act(batch.observe(rules, positions, "mover"))
        try:
            cells[part] = checked_cells(rules.cells, answer, len(cells[part]))
        except InvalidAction as error:
            raise InvalidAction(f"the agent's {error}") from None
    return cells


def _evaluate_seat(tree: GameTree, actions: IntArray, seat: int) -> SeatEvaluation:
    def in_seats(opponent: Policy) -> tuple[Policy, Policy]:
        agent = deterministic(tree, actions)
        return (agent, opponent) if seat == 0 else (opponent, agent)

    lines = play_out(tree, *in_seats(every_legal(tree)))
    chances = play_out(tree, *in_seats(uniform_legal(tree)))
    losses, illegal = int((lines.second_wins, lines.first_wins)[seat]), int(lines.illegal[seat])
    return SeatEvaluation(
        losses,
        illegal,
        win=(chances.first_wins, chances.second_wins)[seat],
        draw=chances.draws,
        loss=(chances.second_wins, chances.first_wins)[seat] + chances.illegal[seat],
        best_response=worst_result(losses + illegal, int(lines.draws)),
    )


def deterministic(tree: GameTree, actions: IntArray) -> Policy:
    """Return the policy that plays the given action [S] of each state."""
    return lambda states: np.eye(tree.rules.cells)[actions[states]]


def worst_result(lost: int, drawn: int) -> int:
    """Return the result against a best response, by the numbers of game lines that end so over every legal reply.

    An agent that always plays the same move in a position leaves its opponent the choice among all of them.
    """
    return -1 if lost else 0 if drawn else 1
