"""Exact evaluation: what an agent does against every possible opponent, without sampling."""

from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np

from selfplay.agent import AnyAgent
from selfplay.evaluation.judge import Asked, Judge
from selfplay.evaluation.stochastic import worst_mean
from tictactoe import Rules, planes, solve
from tictactoe.tree import FloatArray, GameTree, IntArray, Policy, every_legal, play_out, uniform_legal


@dataclass(frozen=True)
class SeatEvaluation:
    """Hold what an agent does in one seat."""

    losses: int
    """Distinct game lines it loses by the opponent's line, over every legal opponent reply."""
    illegal: int
    """Distinct game lines it ends by playing a taken cell."""
    win: float
    """Probability against an opponent who picks among the empty cells uniformly; NaN if no game was followed beyond
    the point from which it cannot be lost."""
    draw: float
    """Probability of a draw against the same opponent, or NaN."""
    loss: float
    """Probability of a lost or an illegal game against the same opponent."""
    best_response: float
    """The agent's result, +1, 0 or -1, against the opponent that does it most harm; the mean, if it draws its moves."""


@dataclass(frozen=True)
class Proof:
    """Hold what an agent's own play comes to on one board, over every legal reply, in both seats."""

    first: SeatEvaluation
    """As X, which moves first."""
    second: SeatEvaluation
    """As O."""

    @property
    def exploitability(self) -> float:
        """Return how much a best response gains over the value of the game, mean of both seats, 0 to 2.

        What that value adds in one seat it takes away in the other, so the game need not be solved.
        """
        return 0.0 - (self.first.best_response + self.second.best_response) / 2  # a minus alone would make -0.0 of 0.0

    @property
    def beaten_lines(self) -> int:
        """Return the game lines that it loses or ends by a taken cell, in both seats."""
        return sum((self.first.losses, self.first.illegal, self.second.losses, self.second.illegal))

    @property
    def unbeatable(self) -> bool:
        """Tell whether it never loses and never plays a taken cell, in both seats."""
        return self.beaten_lines == 0

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
        numbers = {**of_states, **asdict(self), **{name: getattr(self, name) for name in names}}
        for seat in ("first", "second"):
            numbers[seat] = {name: None if isnan(number) else number for name, number in numbers[seat].items()}
        return numbers


@dataclass(frozen=True)
class Evaluation(Proof):
    """Hold beside the proof how an agent moves in all decision states of the board."""

    decision_states: int
    """Positions that can be reached and are not finished: 4,520 on 3,3,3."""
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


def evaluate(agent: AnyAgent, rules: Rules, perspective: str = "absolute") -> Evaluation:
    """Evaluate an agent exactly, as it acts without being given a mask.

    The agent has `act(observation) -> actions`, [B, R, C, 3] -> [B]; or `probabilities(observation)`, [B, A], if it
    draws its moves, and each that has any probability is followed; or it is a function of one observation
    [R, C, 3]. It is shown the `perspective` it was trained on, "absolute" or "mover".

    Raises:
        ValueError: the board has more than 16 cells and cannot be solved, or there is no such perspective.
        UserError: it is no agent, or answers the same positions differently when asked twice.
        gymnasium.error.InvalidAction: it answers something else than a cell, or probabilities, for each board.
    """
    return evaluate_tree(Judge(agent, rules, perspective))


def evaluate_tree(judge: Asked) -> Evaluation:
    """Evaluate an agent exactly, over the whole tree of a board of up to 16 cells."""
    solution = solve(judge.rules)
    tree = solution.tree
    policy = policy_of(judge, tree)
    optimal = illegal = 0
    for _, level in tree.plies():
        states = np.flatnonzero(~tree.finished[level]) + level.start
        if not len(states):
            break
        played = policy(states) > 0
        occupied, best = tree.mover[states] | tree.opponent[states], solution.optimal_moves[states]
        illegal += int((played & planes.bits(judge.rules.cells, occupied)).any(axis=1).sum())
        optimal += int((~played | planes.bits(judge.rules.cells, best)).all(axis=1).sum())
    first, second = (_evaluate_seat(tree, policy, judge.draws, seat) for seat in (0, 1))
    return Evaluation(first, second, len(tree.decisions), optimal, illegal)


def policy_of(judge: Asked, tree: GameTree) -> Policy:
    """Return the probability of each of an agent's actions in decision states, asked for once if it does not draw."""
    if judge.draws:
        return lambda states: judge.chances(tree.mover[states], tree.opponent[states])
    actions = np.zeros(len(tree), dtype=np.int32)
    decisions = tree.decisions
    actions[decisions] = judge.cells(tree.mover[decisions], tree.opponent[decisions])
    return lambda states: np.eye(tree.rules.cells)[actions[states]]


def _evaluate_seat(tree: GameTree, policy: Policy, draws: bool, seat: int) -> SeatEvaluation:
    def in_seats(agent: Policy, opponent: Policy) -> tuple[Policy, Policy]:
        return (agent, opponent) if seat == 0 else (opponent, agent)

    def every_move(states: IntArray) -> FloatArray:
        followed: FloatArray = (policy(states) > 0).astype(np.float64)
        return followed

    lines = play_out(tree, *in_seats(every_move if draws else policy, every_legal(tree)))
    chances = play_out(tree, *in_seats(policy, uniform_legal(tree)))
    losses, illegal = int((lines.second_wins, lines.first_wins)[seat]), int(lines.illegal[seat])
    return SeatEvaluation(
        losses,
        illegal,
        win=(chances.first_wins, chances.second_wins)[seat],
        draw=chances.draws,
        loss=(chances.second_wins, chances.first_wins)[seat] + chances.illegal[seat],
        best_response=worst_mean(tree, policy, seat) if draws else worst_result(losses + illegal, int(lines.draws)),
    )


def worst_result(lost: int, drawn: int) -> int:
    """Return the result against a best response, by the numbers of game lines that end so over every legal reply.

    An agent that always plays the same move in a position leaves its opponent the choice among all of them.
    """
    return -1 if lost else 0 if drawn else 1
