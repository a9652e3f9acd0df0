"""Corrections: in positions from which a player is beaten, the moves after which nothing beats it as it plays.

The walk of the proof finds the positions from which some reply beats a player. Going back from the last of them, each
is tried with other moves, and the player's own play behind them is followed to the end: a move behind which nothing
beats it is the position's correction, and what was lost by this position alone is cured as well. It is a step of policy
iteration (Howard 1960) in these positions alone, and needs no solution of the game.
"""

from collections.abc import Callable, Sequence
from itertools import compress, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import UserError
from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.backward_induction import (
    NEVER,
    Distances,
    answered_by_a_line,
    loss_distances,
    move_distances,
    moved,
    ply_distances,
)
from selfplay.evaluation.evaluate import Report, search_seat, settles
from selfplay.evaluation.exact import known_results
from selfplay.evaluation.forward_search import ForwardSearch, Frontier, Ply, merged, start_of_games
from selfplay.evaluation.verdict import Verdict
from tictactoe import Rules
from tictactoe.symmetry import representatives
from tictactoe.tree import FloatArray, IntArray

TRIED = 4, 8, 16
"""Of how many ranks the moves are tried in every lost position before those of the next."""

SEARCHED = 1_000_000
"""Positions that the solver looks at for one answer, some tenths of a second."""

Preferences: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
"""What a player chooses by in positions [n]: a number for each cell, [n, A], the least for one that it may not mark."""
Position: TypeAlias = tuple[int, int]
"""Bitboards: its own marks and the other seat's."""


class Corrected(NamedTuple):
    """Hold what beats a player, and which moves would do better."""

    verdict: Verdict
    """Of the player as it was."""
    beaten: int
    """Positions of its own play from which it is beaten."""
    positions: int
    """Of its own play, all of which were followed."""
    cells: dict[Position, int]
    """The better moves by position."""


class Corrections:
    """Find better moves for a player round after round, and remember which have turned out no better.

    At most so many `positions` are followed at each ply of a seat; of each ply the `report` is told. With a `solver`
    moves are not tried that lose with best play, which is by far most of them.
    """

    def __init__(self, positions: int, report: Report | None = None, solver: bool = False) -> None:
        self._limit, self._report, self._solver = positions, report, solver
        self._not_lost: dict[Position, int] = {}
        """What the solver has been asked: cells that do not lose, as far as is known, by bitboard."""
        self._given_up: set[Position] = set()
        """Positions behind moves that were no better, each as it is told from others."""
        self._tried: dict[Position, int] = {}
        """Of how many ranks the moves of a position have not helped."""
        self._followed = 0
        """Positions behind other moves than the player's that were followed in a round and a seat."""

    def find(self, policy: AgentPolicy, preferences: Preferences) -> Corrected:
        """Return what beats a player, and its corrections; none are left where there is nothing more to try.

        Raises:
            UserError: it leads to too many positions.
        """
        seats, beaten, positions = [], 0, 0
        cells: dict[Position, int] = {}
        for seat in (0, 1):
            verdict, plies = search_seat(policy, seat, self._limit, report=self._report, keep_plies=True)
            seats.append(verdict)
            if not seats[-1].complete:
                raise UserError(
                    f"the player leads to more than {self._limit:,} positions at one ply, and must be followed to the "
                    "end to be corrected; raise --positions, or train it longer"
                )
            known = loss_distances(policy, plies)
            beaten += sum(int((distances.plies < NEVER).sum()) for distances in known)
            positions += sum(len(ply.mine) for ply in plies)
            cells |= self._in_seat(policy, preferences, seat, plies, known)
        return Corrected(Verdict(seats[0], seats[1]), beaten, positions, cells)

    def _in_seat(
        self, policy: AgentPolicy, preferences: Preferences, seat: int, plies: Sequence[Ply], known: Sequence[Distances]
    ) -> dict[Position, int]:
        """Return the corrections of one seat, all of whose plies are given and known."""
        cells = policy.rules.cells
        for first, last in pairwise((0, *(each for each in TRIED if each < cells), cells)):
            found, _ = self._back(policy, preferences, seat, plies, known, range(first, last))
            if found:
                return found
        # Behind each other move there are mistakes, too. In the last ply where one is left to try, the next round goes
        # on behind the one with which a position is lost last, and corrects what it finds there.
        self._tried.clear()
        found, otherwise = self._back(policy, preferences, seat, plies, known, range(cells))
        self._tried.clear()
        if found:
            return found
        for ply in plies:
            now = moved(policy.rules, ply)
            tried = zip(_positions(ply), _behind(policy, now.mine, now.theirs), strict=True)
            self._given_up.update(behind for position, behind in tried if position in otherwise)
        return otherwise

    def _back(
        self,
        policy: AgentPolicy,
        preferences: Preferences,
        seat: int,
        plies: Sequence[Ply],
        known: Sequence[Distances],
        ranks: range,
    ) -> tuple[dict[Position, int], dict[Position, int]]:
        """Go back from the last ply, and try the moves of some ranks in each lost position, of those that are wanted.

        Return the corrections, and the moves to go on with where there are none.
        """
        found: dict[Position, int] = {}
        otherwise: dict[Position, int] = {}
        self._followed, own = 0, sum(len(ply.mine) for ply in plies)
        for number in reversed(range(len(plies))):
            if found and self._followed > own:  # in the next round there will be less to try
                break
            distance, later = known[number].plies, known[number + 1] if number + 1 < len(known) else None
            lost = np.flatnonzero(distance < NEVER)
            if found and len(lost):  # which may have cured some of them
                distance[lost] = ply_distances(policy, plies[number].where(lost), later).plies
                lost = lost[distance[lost] < NEVER]
            untried = [self._tried.get(each, 0) < ranks.stop for each in _positions(plies[number].where(lost))]
            if not any(untried):
                continue
            lost = lost[untried]
            of_lost = plies[number].where(lost)
            places, wanted = _positions(of_lost), preferences(of_lost.mine, of_lost.theirs)
            left, new = self._try_others(policy, seat, seat + 2 * number, of_lost, wanted, ranks)
            cured = (left == NEVER).any(axis=1)
            found |= _chosen(places, left == NEVER, wanted)
            distance[lost[cured]] = NEVER
            self._tried.update(dict.fromkeys(compress(places, ~cured), ranks.stop))
            if not otherwise:
                longest = np.where(new & ~cured[:, None], left, 0)
                longest_each = longest.max(axis=1, keepdims=True)
                otherwise = _chosen(places, (longest > 0) & (longest == longest_each), wanted)
        return found, otherwise

    def _try_others(
        self, policy: AgentPolicy, seat: int, number: int, lost: Ply, wanted: FloatArray, ranks: range
    ) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
        """Return in how many plies lost positions [n] of a ply are lost by other moves, [n, A], and which are new.

        Of moves of other `ranks`, which the most wanted one begins, these are 0 plies.
        """
        rules = policy.rules
        left, new = np.zeros(wanted.shape, np.int16), np.zeros(wanted.shape, np.bool_)
        others = rules.empty_cells(lost.mine, lost.theirs) & ~lost.moves
        if self._solver:
            others &= np.array([self._held(rules, position) for position in _positions(lost)], np.int64)
        if not others.any():
            return left, new
        bits = np.int64(1) << np.arange(rules.cells)
        open_ = others[:, None] & bits != 0
        rank = np.argsort(np.argsort(-np.where(open_, wanted, -np.inf), axis=1, kind="stable"), axis=1)
        moves = np.where(open_ & (rank >= ranks.start) & (rank < ranks.stop), bits, 0).sum(axis=1)
        after, now = moved(rules, lost._replace(moves=moves)), moved(rules, lost)
        goes_on = ~(after.won | answered_by_a_line(rules, after))
        later = self._later(policy, seat, number + 1, start_of_games(after.mine[goes_on], after.theirs[goes_on]))
        left[after.position, after.cell] = move_distances(policy, after, later)
        known = {*_behind(policy, now.mine, now.theirs), *self._given_up}
        new[after.position, after.cell] = [each not in known for each in _behind(policy, after.mine, after.theirs)]
        return left, new

    def _held(self, rules: Rules, position: Position) -> int:
        """Return the cells that the solver does not know to lose, a bitboard."""
        if position not in self._not_lost:
            results = known_results(rules, *position, SEARCHED)
            self._not_lost[position] = sum(1 << cell for cell, bounds in results.items() if bounds.most >= 0)
        return self._not_lost[position]

    def _later(self, policy: AgentPolicy, seat: int, number: int, start: Frontier) -> Distances | None:
        """Return what is known of the player's next ply behind positions in which the other seat is to move."""
        search = ForwardSearch(policy, seat, self._limit, settle=settles(policy))
        plies = list(search.plies(merged(policy.rules, [start]), number))
        self._followed += search.positions
        if not search.complete:
            raise UserError(f"a better move leads to more than {self._limit:,} positions at one ply; raise --positions")
        known = loss_distances(policy, plies)
        return known[0] if known else None


def _chosen(positions: Sequence[Position], among: NDArray[np.bool_], wanted: FloatArray) -> dict[Position, int]:
    """Return the most wanted cell among some [n, A] of each position [n] that has any."""
    cells = np.where(among, wanted, -np.inf).argmax(axis=1)
    return {positions[number]: int(cells[number]) for number in np.flatnonzero(among.any(axis=1)).tolist()}


def _behind(policy: AgentPolicy, mine: IntArray, theirs: IntArray) -> list[Position]:
    """Return positions [n] as they are told from others, which is by one of their images of a symmetric player."""
    if policy.symmetric:
        mine, theirs = representatives(policy.rules, mine, theirs)
    return list(zip(mine.tolist(), theirs.tolist(), strict=True))


def _positions(ply: Ply) -> list[Position]:
    return list(zip(ply.mine.tolist(), ply.theirs.tolist(), strict=True))
