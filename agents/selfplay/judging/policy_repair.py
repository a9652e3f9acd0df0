"""Policy repair: in positions from which a player is beaten, find the moves after which nothing beats it as it plays.

The forward search of the evaluation finds the positions from which some reply beats a player. From the last of them
backwards, other moves are tried in each, and the player's own play after them is followed to the end. A move after
which nothing beats the player corrects the position, and all positions that were lost only because of it. This is a
step of policy iteration (Howard 1960) in these positions only, and needs no solution of the game.

On a board that the first seat wins with best play, a solver goes forward instead, and corrects the first moves after
which it does not know the win any more.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from selfplay.errors import UserError
from selfplay.judging.agents import AgentPolicy, bitboards
from selfplay.judging.backward_induction import (
    DISTANCE,
    NEVER,
    NO_WIN,
    Values,
    answered_by_a_line,
    move_values,
    play_values,
    ply_values,
)
from selfplay.judging.evaluate import search_seat, settles
from selfplay.judging.exact import exact_moves
from selfplay.judging.forward_search import ForwardSearch, Ply, Report, moved, some_of
from selfplay.judging.verdict import Verdict
from tictactoe import Rules, planes, search_value
from tictactoe.symmetry import representatives
from tictactoe.tree import BoolArray, FloatArray, IntArray

RANKS = 4, 8, 16, 64
"""Ranks of moves by preference: the moves up to each rank are tried in every lost position before the next."""
SEARCHED = 1_000_000
"""Positions that the solver visits for one answer, some tenths of a second."""

Preferences: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
"""What a player chooses by in positions [n]: a number for each cell, [n, A], the least for one that it may not mark."""
Position: TypeAlias = tuple[int, int]
"""Bitboards: its own marks and the other seat's."""
Moves: TypeAlias = dict[Position, int]
"""A cell for each of some positions."""


class Corrected(NamedTuple):
    """Hold what beats a player, and which moves would do better."""

    verdict: Verdict
    """Verdict of the player as it was."""
    beaten: int
    """Positions of its own play from which it is beaten, or does not win where the first seat's wins are kept."""
    positions: int
    """Number of positions of its own play; all were followed."""
    cells: Moves
    """The better moves by position."""


class SeatPlay(NamedTuple):
    """Hold a player's own play in one seat."""

    policy: AgentPolicy
    seat: int
    plies: Sequence[Ply]
    distances: Sequence[Values]
    """Plies to the loss, or to the end without a win, of the positions of each ply."""
    preferences: Preferences


class Corrections:
    """Find better moves for a player, round after round, and remember the moves that were no better.

    At most `positions` positions are followed at each ply of a seat; each ply is reported. With a `solver` moves that
    lose with best play, by far most of them, are not tried. If it knows that the first seat wins the game, the moves as
    X that give the win away are corrected, and none as O, where every player loses against best play.
    """

    def __init__(self, positions: int, report: Report | None = None, solver: bool = False) -> None:
        self._limit, self._report, self._solver = positions, report, solver
        self._given_up: set[Position] = set()
        """Positions behind moves that were no better."""
        self._ranks_tried: dict[Position, int] = {}
        """Ranks of the moves of a position that have not helped: all below this one."""

    def find(self, policy: AgentPolicy, preferences: Preferences) -> Corrected:
        """Return what beats a player, and its corrections; none are left where there is nothing more to try.

        Raises:
            UserError: it leads to too many positions.
        """
        verdicts, beaten, positions = [], 0, 0
        cells: Moves = {}
        won = self._solver and search_value(policy.rules, 0, 0, SEARCHED) == 1
        for seat in range(1 if won else 2):
            verdict, plies = search_seat(policy, seat, self._limit, None, self._report, keep_plies=True, settle=not won)
            if not verdict.complete:
                raise UserError(
                    f"the player leads to more than {self._limit:,} positions at one ply, and must be followed to the "
                    "end to be corrected; raise --positions, or train it longer"
                )
            play = SeatPlay(policy, seat, plies, play_values(policy, plies, NO_WIN if won else DISTANCE), preferences)
            verdicts.append(verdict)
            beaten += sum(int((distances.value < NEVER).sum()) for distances in play.distances)
            positions += sum(len(ply.mine) for ply in plies)
            cells |= keep_the_win(play) if won else self._correct(play)
        if won:  # only the last round needs to know how it plays as O
            verdicts.append(search_seat(policy, 1, 0 if cells else self._limit, report=self._report)[0])
        return Corrected(Verdict(verdicts[0], verdicts[1]), beaten, positions, cells)

    def _correct(self, play: SeatPlay) -> Moves:
        """Return the corrections of one seat."""
        for first, last in pairwise((0, *RANKS)):
            better, _ = self._go_back(play, range(first, last))
            if better:
                return better
        # Behind each other move there are mistakes, too. In the last ply where one is left to try, the next round goes
        # on behind the move by which a position is lost last, and corrects what it finds there.
        self._ranks_tried.clear()
        better, longest = self._go_back(play, range(play.policy.rules.cells))
        self._ranks_tried.clear()
        if better:
            return better
        for ply in play.plies:
            after = moved(play.policy.rules, ply)
            behind = zip(_positions(ply), _images(play.policy, after.mine, after.theirs), strict=True)
            self._given_up.update(image for position, image in behind if position in longest)
        return longest

    def _go_back(self, play: SeatPlay, ranks: range) -> tuple[Moves, Moves]:
        """Go back from the last ply, and try the moves of some ranks in each lost position.

        Return the corrections, and the moves of one ply that are new and lose last.
        """
        better: Moves = {}
        longest: Moves = {}
        followed, own = 0, sum(len(ply.mine) for ply in play.plies)
        later: Values | None = None
        for number in reversed(range(len(play.plies))):
            if better and followed > own:  # in the next round there will be less to try
                break
            ply, (keys, distance) = play.plies[number], play.distances[number]
            lost = np.flatnonzero(distance < NEVER)
            distance = distance.copy()
            if len(lost):
                distance[lost] = ply_values(play.policy, some_of(ply, lost), later).value
                lost = lost[distance[lost] < NEVER]  # corrections may have cured some
            lost = lost[[self._ranks_tried.get(each, 0) < ranks.stop for each in _positions(some_of(ply, lost))]]
            later = Values(keys, distance)
            if not len(lost):
                continue
            tried = some_of(ply, lost)
            wanted = play.preferences(tried.mine, tried.theirs)
            others = self._others(play.policy.rules, tried, wanted, ranks)
            distances, new, positions = self._try(play, number, tried, others)
            followed += positions
            safe = distances == NEVER
            better |= _most_wanted(tried, safe, wanted)
            cured = safe.any(axis=1)
            distance[lost[cured]] = NEVER
            self._ranks_tried.update(dict.fromkeys(_positions(some_of(tried, ~cured)), ranks.stop))
            if not longest:
                plies = np.where(new & ~cured[:, None], distances, 0)
                longest = _most_wanted(tried, (plies > 0) & (plies == plies.max(axis=1, keepdims=True)), wanted)
        return better, longest

    def _others(self, rules: Rules, lost: Ply, wanted: FloatArray, ranks: range) -> IntArray:
        """Return the moves [n] of some ranks, bitboards, among the cells that the player does not mark there."""
        others = rules.empty_cells(lost.mine, lost.theirs) & ~lost.moves
        if self._solver:
            others &= np.array([keeping(rules, position) for position in _positions(lost)], np.int64)
        allowed = planes.bits(rules.cells, others)
        rank = np.argsort(np.argsort(-np.where(allowed, wanted, -np.inf), axis=1, kind="stable"), axis=1)
        return bitboards(allowed & (rank >= ranks.start) & (rank < ranks.stop))

    def _try(self, play: SeatPlay, number: int, lost: Ply, moves: IntArray) -> tuple[FloatArray, BoolArray, int]:
        """Follow the player's own play behind other moves [n], bitboards, in lost positions of one of its plies.

        Return the plies to the loss by each move, [n, A], 0 for moves that were not tried; whether it leads to a
        position that its own moves do not lead to and that was not given up, [n, A]; and the positions followed.

        Raises:
            UserError: it leads to too many positions.
        """
        policy = play.policy
        own, after = moved(policy.rules, lost), moved(policy.rules, lost._replace(moves=moves))
        going_on = ~(after.won | answered_by_a_line(policy.rules, after))
        search = ForwardSearch(policy, play.seat, self._limit, settle=settles(policy), report=self._report)
        plies = list(search.plies(after.mine[going_on], after.theirs[going_on], play.seat + 2 * number + 1))
        if not search.complete:
            raise UserError(f"a better move leads to more than {self._limit:,} positions at one ply; raise --positions")
        later = play_values(policy, plies)
        shape = len(lost.mine), policy.rules.cells
        distance, new = np.zeros(shape), np.zeros(shape, np.bool_)
        distance[after.position, after.cell] = move_values(policy, after, later[0] if later else None)
        reached = {*_images(policy, own.mine, own.theirs), *self._given_up}
        new[after.position, after.cell] = [each not in reached for each in _images(policy, after.mine, after.theirs)]
        return distance, new, search.positions


def keep_the_win(play: SeatPlay) -> Moves:
    """Return winning moves for the first ply at which the first seat gives a win away.

    Before that ply all its moves keep the win, so it can win from every position of the ply.
    """
    rules = play.policy.rules
    for ply, distances in zip(play.plies, play.distances, strict=True):
        some = some_of(ply, distances.value < NEVER)
        winning = np.array([keeping(rules, each, win=True) for each in _positions(some)], np.int64)
        if (wrong := some.moves & winning == 0).any():
            some, among = some_of(some, wrong), planes.bits(rules.cells, winning[wrong])
            return _most_wanted(some, among, play.preferences(some.mine, some.theirs))
    return {}


@cache  # a position is met again in later rounds
def keeping(rules: Rules, position: Position, win: bool = False) -> int:
    """Return the cells, a bitboard, that the solver does not know to lose, or with `win` those that it knows to win."""
    results = exact_moves(rules, *position, SEARCHED)
    return sum(1 << cell for cell, bounds in results.items() if (bounds.least if win else bounds.most) >= win)


def _most_wanted(ply: Ply, among: BoolArray, wanted: FloatArray) -> Moves:
    """Return the most wanted cell among some [n, A] for each position [n] that has any."""
    cells = np.where(among, wanted, -np.inf).argmax(axis=1)
    chosen = np.flatnonzero(among.any(axis=1))
    return dict(zip(_positions(some_of(ply, chosen)), cells[chosen].tolist(), strict=True))


def _positions(ply: Ply) -> list[Position]:
    return list(zip(ply.mine.tolist(), ply.theirs.tolist(), strict=True))


def _images(policy: AgentPolicy, mine: IntArray, theirs: IntArray) -> list[Position]:
    """Return positions [n], for a symmetric player one image for all images of each."""
    if policy.symmetric:
        mine, theirs = representatives(policy.rules, mine, theirs)
    return list(zip(mine.tolist(), theirs.tolist(), strict=True))
