"""Exact evaluation: what an agent does against every possible opponent, without sampling."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from selfplay.agent import Agent
from tictactoe import Rules, batch, solve
from tictactoe.tree import GameTree, IntArray, Policy, every_legal, play_out, uniform_legal

CHUNK = 65_536
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
class Evaluation:
    """Hold the exact evaluation of an agent on one board."""

    first: SeatEvaluation
    second: SeatEvaluation
    decision_states: int
    optimal_states: int
    """Decision states in which the agent's move keeps the game-theoretic value."""
    illegal_states: int
    """Decision states in which the agent plays a taken cell."""
    exploitability: float
    """How much a best response gains over the value of the game, mean of both seats, 0 to 2."""

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

    @property
    def optimal(self) -> bool:
        """Tell whether its move keeps the game-theoretic value in every decision state."""
        return self.optimal_states == self.decision_states

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, the verdicts included, ready for JSON."""
        verdicts = {"unbeatable": self.unbeatable, "unexploitable": self.unexploitable, "optimal": self.optimal}
        return {**asdict(self), **verdicts}


def evaluate(agent: Agent, rules: Rules) -> Evaluation:
    """Evaluate an agent exactly, as it acts without being given a mask.

    Raises:
        ValueError: the board has more than 16 cells and cannot be solved.
    """
    solution = solve(rules)
    tree = solution.tree
    decisions = tree.decisions
    actions = chosen_actions(agent, tree)
    chosen = actions[decisions]
    occupied = tree.mover[decisions] | tree.opponent[decisions]
    first, second = (_evaluate_seat(tree, actions, seat) for seat in (0, 1))
    value = int(solution.value[0])
    return Evaluation(
        first,
        second,
        decision_states=len(decisions),
        optimal_states=int(np.count_nonzero(solution.optimal_moves[decisions] >> chosen & 1)),
        illegal_states=int(np.count_nonzero(occupied >> chosen & 1)),
        exploitability=((value - first.best_response) + (-value - second.best_response)) / 2,
    )


def chosen_actions(agent: Agent, tree: GameTree) -> IntArray:
    """Return the agent's action in every decision state, [S] int32, 0 in finished states."""
    actions = np.zeros(len(tree), dtype=np.int32)
    for chunk in np.split(tree.decisions, range(CHUNK, len(tree.decisions), CHUNK)):
        mover, opponent = tree.mover[chunk].astype(np.int64), tree.opponent[chunk].astype(np.int64)
        positions = batch.State(mover, opponent, ply=np.zeros_like(mover))
        actions[chunk] = agent.act(batch.observe(tree.rules, positions, "mover"))
    return actions


def _evaluate_seat(tree: GameTree, actions: IntArray, seat: int) -> SeatEvaluation:
    def in_seats(opponent: Policy) -> tuple[Policy, Policy]:
        agent = deterministic(tree, actions)
        return (agent, opponent) if seat == 0 else (opponent, agent)

    lines = play_out(tree, *in_seats(every_legal(tree)))
    chances = play_out(tree, *in_seats(uniform_legal(tree)))
    return SeatEvaluation(
        losses=int((lines.second_wins, lines.first_wins)[seat]),
        illegal=int(lines.illegal[seat]),
        win=(chances.first_wins, chances.second_wins)[seat],
        draw=chances.draws,
        loss=(chances.second_wins, chances.first_wins)[seat] + chances.illegal[seat],
        best_response=_value_against_best_response(tree, actions, seat),
    )


def deterministic(tree: GameTree, actions: IntArray) -> Policy:
    """Return the policy that plays the given action [S] of each state."""
    return lambda states: np.eye(tree.rules.cells)[actions[states]]


def _value_against_best_response(tree: GameTree, actions: IntArray, seat: int) -> int:
    """Return the agent's result from the empty board if its opponent knows all its moves."""
    value = np.zeros(len(tree), dtype=np.int8)
    for ply, level in reversed(list(tree.plies())):
        agent_moves = ply % 2 == seat
        value[level] = np.where(tree.lost[level], -1 if agent_moves else 1, 0)
        states = np.flatnonzero(~tree.finished[level]) + level.start
        following = tree.successors(states)
        if agent_moves:
            chosen = following[np.arange(len(states)), actions[states]]
            value[states] = np.where(chosen < 0, -1, value[chosen])
        else:
            value[states] = np.where(following < 0, 1, value[following]).min(axis=1, initial=1)
    return int(value[0])
