"""Exact evaluation on boards of any size: only what an agent's own play leads to is followed.

In each seat the walk goes through all that the agent's moves and every legal reply come to. Every legal reply being
followed, the worst end that is met is what a best response makes of the agent; no solution of the game is needed.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import nan
from typing import Any

from selfplay.agent import AnyAgent
from selfplay.evaluation.evaluation import Proof, SeatEvaluation, evaluate_tree, worst_result
from selfplay.evaluation.judge import Asked, Judge
from selfplay.evaluation.stochastic import worst_mean_of
from selfplay.evaluation.walk import Ply, Walk
from tictactoe import Rules, batch
from tictactoe.tree import SOLVABLE_CELLS

POSITIONS = 500_000
"""Distinct positions that are followed at each ply, unless told otherwise: more than players of 4,4,4 lead to."""
WHOLE_TREE_CELLS = 12
"""Up to this board size the whole tree is evaluated in less than a second."""
SETTLED_ABOVE = SOLVABLE_CELLS
"""Beyond this board size it is enough to know that a player cannot lose any more, which halves the positions."""

Report = Callable[[int, int, int], None]
"""Is told the seat, the ply and the number of distinct positions there, before the next ply is looked at."""


@dataclass(frozen=True)
class Unfinished:
    """Say how far the game lines of one seat were followed before there were too many positions."""

    plies: int
    """Every game line is followed so far."""
    positions: int
    """Distinct positions met, of those in which the agent is to move."""
    losses: int
    """Lost game lines among those that have ended; there may be more."""
    illegal: int
    """Game lines that a taken cell has ended; there may be more."""


@dataclass(frozen=True)
class Unproved:
    """Hold what is known of an agent that leads to more positions, in one seat or both, than were to be followed."""

    first: SeatEvaluation | Unfinished
    """As X, which moves first."""
    second: SeatEvaluation | Unfinished
    """As O."""

    @property
    def beatable(self) -> bool:
        """Tell whether a lost or an illegal line was met, which settles that it is not unbeatable."""
        return any((self.first.losses, self.first.illegal, self.second.losses, self.second.illegal))

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers ready for JSON, with None for the verdicts that are open."""
        verdicts = {"unbeatable": False if self.beatable else None, "unexploitable": None, "optimal": None}
        return {**asdict(self), **verdicts}


def assess(
    judge: Asked, every_state: bool = False, positions: int = POSITIONS, report: Report | None = None
) -> Proof | Unproved:
    """Evaluate an agent over the whole tree where that is cheap enough, else over what its own play leads to.

    The whole tree counts up to 12 cells, which takes less than a second, and with `every_state` up to 16; beyond, at
    most so many distinct `positions` are followed at each ply of a seat, and of each ply the `report` is told.
    """
    if judge.rules.cells <= (SOLVABLE_CELLS if every_state else WHOLE_TREE_CELLS):
        return evaluate_tree(judge)
    return _in_both_seats(judge, positions, report)


def evaluate_reach(
    agent: AnyAgent, rules: Rules, positions: int = POSITIONS, perspective: str = "absolute"
) -> Proof | Unproved:
    """Evaluate an agent exactly, as it acts without being given a mask, by what its own play leads to.

    At most so many distinct positions are followed at each ply of a seat, which take about 200 bytes each; of an agent
    that draws its moves all of them are kept to the end. What an agent is stands at `evaluate`.

    Raises:
        ValueError: the board has more than 64 cells, or there is no such perspective.
        UserError: it is no agent, or answers the same positions differently when asked twice.
        gymnasium.error.InvalidAction: it answers something else than a cell, or probabilities, for each board.
    """
    return _in_both_seats(Judge(agent, rules, perspective), positions)


def _in_both_seats(judge: Asked, positions: int, report: Report | None = None) -> Proof | Unproved:
    batch.check_fits(judge.rules)
    return of_seats(*(follow(judge, seat, positions, report=report) for seat in (0, 1)))


def of_seats(first: SeatEvaluation | Unfinished, second: SeatEvaluation | Unfinished) -> Proof | Unproved:
    """Return what both seats prove together."""
    if isinstance(first, Unfinished) or isinstance(second, Unfinished):
        return Unproved(first, second)
    return Proof(first, second)


def settles(judge: Asked) -> bool:
    """Tell whether games of an agent are followed no further than to where it cannot lose any more."""
    return judge.legal and not judge.draws and judge.rules.cells > SETTLED_ABOVE


def follow(
    judge: Asked,
    seat: int,
    limit: int,
    salt: int | None = None,
    kept: list[Ply] | None = None,
    report: Report | None = None,
) -> SeatEvaluation | Unfinished:
    """Evaluate an agent in one seat by a walk over at most so many distinct positions at each ply.

    Of more the walk follows a random part that `salt` chooses, or without one it ends. All plies are `kept`, if asked.
    """

    def visit(number: int, ply: Ply) -> None:
        if kept is not None:
            kept.append(ply)
        if report is not None:
            report(seat, number, len(ply.mine))

    walk = Walk(judge, seat, limit, salt, settles(judge))
    walk.run(visit)
    if walk.whole and not (walk.lost.lines or walk.drawn.lines) and walk.settled.lines:
        # Whether it wins everything, which is the most that can be, only the ends of the settled games can say.
        walk = Walk(judge, seat, limit, salt)
        walk.run(lambda *_: None)
    lost, illegal, drawn = walk.lost.lines, walk.illegal.lines, walk.drawn.lines + walk.settled.lines
    if not walk.whole:
        return Unfinished(walk.followed, walk.positions, lost, illegal)
    moves, settled = walk.drawn_moves, walk.settled.lines > 0
    return SeatEvaluation(
        losses=lost,
        illegal=illegal,
        win=nan if settled else walk.won.chance,
        draw=nan if settled else walk.drawn.chance,
        loss=walk.lost.chance + walk.illegal.chance,
        best_response=worst_mean_of(judge.rules, moves, seat) if moves else worst_result(lost + illegal, drawn),
    )
