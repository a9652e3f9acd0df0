"""Repair: find the moves by which a player can be beaten, correct them, and evaluate again, until nothing beats it.

The forward search of the evaluation finds the positions of the player's own play from which some reply beats it. From
the last of them backwards, a position is corrected if another move there is not known to lose: a solver says which, and
the player's own values choose among them. The earlier positions that were lost only because of it need no correction.

On a board that one seat wins with best play, the corrections go forward instead: they are the first moves of that seat
after which the solver does not know the win any more. In the other seat every player loses there against best play.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from selfplay.agent import Agent, Array
from selfplay.errors import UserError
from selfplay.judging.agents import AgentPolicy, agent_policy, observe
from selfplay.judging.backward_induction import (
    NEVER,
    PLIES_TO_LOSS,
    PLIES_WITHOUT_WIN,
    Values,
    play_distances,
    ply_distances,
)
from selfplay.judging.exact import exact_moves
from selfplay.judging.forward_search import Ply, PlyReport, follow, some_of
from selfplay.judging.ways_to_ask import as_numpy
from tictactoe import Rules, planes, search_value
from tictactoe.tree import FloatArray, IntArray

SEARCHED = 200_000
"""Positions that the solver visits for one answer, some tenths of a second."""

Position: TypeAlias = tuple[int, int]
"""Bitboards: the player's marks and the other seat's."""
Corrections: TypeAlias = dict[Position, int]
"""A better cell for each of some positions."""
Preferences: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
"""A function that returns what a player chooses by in positions [n]: a number for each cell, [n, A]."""


class RepairablePlayer(Agent, Protocol):
    """A player that says how much it prefers each cell."""

    @property
    def rules(self) -> Rules:
        """Return the rules of the board that it plays on."""

    def preferences(self, observation: Array) -> Array:
        """Return what it maximizes, [B, A], for observations [B, R, C, 3] in the mover's view."""


P = TypeVar("P", bound=RepairablePlayer)


class Mistakes(NamedTuple):
    """What is wrong with a player, and how to correct it."""

    beaten: int
    """Positions of its own play from which it is beaten, or does not win where its seat wins with best play."""
    positions: int
    """Number of positions of its own play; all were followed."""
    corrections: Corrections
    """Better moves; none are left where there is nothing more to try."""


@dataclass(frozen=True)
class RepairRound(Generic[P]):
    """A player after some rounds of corrections."""

    player: P
    corrected: int
    """Number of positions that were corrected."""
    mistakes: Mistakes
    """What is still wrong with it, and the corrections for the next round."""


def repair(
    player: P, patch: Callable[[P, Mapping[Position, int]], P], positions: int, report: PlyReport | None = None
) -> Iterator[RepairRound[P]]:
    """Correct a player in rounds until nothing beats it or nothing is left to try, and yield each round.

    `patch` returns a player that marks the given cells in the given positions and plays as before in all others. At
    most `positions` positions are followed at each ply of a seat; each ply is reported.

    Raises:
        UserError: its play leads to too many positions.
    """

    def preferences(mover: IntArray, opponent: IntArray) -> FloatArray:
        values = player.preferences(observe(player.rules, mover, opponent, "mover"))
        return np.asarray(as_numpy(values), np.float64)

    current = player
    corrections: Corrections = {}
    tried: dict[Position, int] = {}
    while True:
        mistakes = find_mistakes(agent_policy(current), preferences, positions, tried, report)
        yield RepairRound(current, len(corrections), mistakes)
        if not mistakes.corrections:
            return
        for position, cell in mistakes.corrections.items():
            tried[position] = tried.get(position, 0) | 1 << cell
        corrections |= mistakes.corrections
        current = patch(player, corrections)


def find_mistakes(
    policy: AgentPolicy,
    preferences: Preferences,
    positions: int,
    tried: Mapping[Position, int],
    report: PlyReport | None = None,
) -> Mistakes:
    """Follow a player's own play, and return what beats it and the corrections.

    `tried` holds by position the cells, a bitboard, that were tried there in earlier rounds.

    Raises:
        UserError: its play leads to more than `positions` positions at a ply of a seat.
    """
    rules = policy.rules
    value = search_value(rules, 0, 0, SEARCHED)  # None if it is not known
    to_win = value in (1, -1)
    beaten, followed = 0, 0
    corrections: Corrections = {}
    for seat in {1: (0,), -1: (1,)}.get(value or 0, (0, 1)):
        play = follow(policy, seat, positions, settle=policy.legal and not to_win, keep_plies=True, report=report)
        if not play.complete:
            raise UserError(
                f"the player leads to more than {positions:,} positions at one ply, and must be followed to the end to "
                "be corrected; raise positions, or train it longer"
            )
        distances = play_distances(policy, play.plies, PLIES_WITHOUT_WIN if to_win else PLIES_TO_LOSS)
        beaten += sum(int((ply.value < NEVER).sum()) for ply in distances)
        followed += play.positions
        if to_win:
            corrections |= first_corrections(rules, play.plies, distances, preferences)
        else:
            corrections |= latest_corrections(policy, play.plies, distances, preferences, tried)
    return Mistakes(beaten, followed, corrections)


def latest_corrections(
    policy: AgentPolicy,
    plies: Sequence[Ply],
    distances: Sequence[Values],
    preferences: Preferences,
    tried: Mapping[Position, int],
) -> Corrections:
    """Return corrections in one seat, from the last ply backwards, of moves after which the player can be beaten.

    A position that was lost only because of later ones is not corrected, if those are.
    """
    corrections: Corrections = {}
    later: Values | None = None
    for ply, (keys, before) in zip(reversed(plies), reversed(distances), strict=True):
        distance = before.copy()
        lost = np.flatnonzero(distance < NEVER)
        if len(lost):
            distance[lost] = ply_distances(policy, some_of(ply, lost), later).value
            lost = lost[distance[lost] < NEVER]
            beaten = some_of(ply, lost)
            positions = _positions(beaten)
            others = np.array([_keeping(policy.rules, each) & ~tried.get(each, 0) for each in positions], np.int64)
            better = _preferred(policy.rules, beaten, others & ~beaten.moves, preferences)
            corrected = np.array([each in better for each in positions], np.bool_)
            distance[lost[corrected]] = NEVER
            corrections |= better
        later = Values(keys, distance)
    return corrections


def first_corrections(
    rules: Rules, plies: Sequence[Ply], distances: Sequence[Values], preferences: Preferences
) -> Corrections:
    """Return winning moves for the first ply at which the seat that wins with best play turns a win into less.

    Before that ply all its moves keep the win, so it can win from every position of the ply.
    """
    for ply, distance in zip(plies, distances, strict=True):
        not_won = some_of(ply, distance.value < NEVER)
        winning = np.array([_keeping(rules, each, win=True) for each in _positions(not_won)], np.int64)
        wrong = not_won.moves & winning == 0
        if wrong.any():
            return _preferred(rules, some_of(not_won, wrong), winning[wrong], preferences)
    return {}


@cache  # a position is met again in later rounds
def _keeping(rules: Rules, position: Position, win: bool = False) -> int:
    """Return the cells, a bitboard, that the solver does not know to lose, or with `win` those that it knows to win."""
    results = exact_moves(rules, *position, SEARCHED)
    if win:
        return sum(1 << cell for cell, bounds in results.items() if bounds.least == 1)
    return sum(1 << cell for cell, bounds in results.items() if bounds.most >= 0)


def _preferred(rules: Rules, ply: Ply, among: IntArray, preferences: Preferences) -> Corrections:
    """Return the cell that a player prefers among some, bitboards [n], in each position [n] of a ply that has any."""
    ply, among = some_of(ply, among != 0), among[among != 0]
    if not len(among):
        return {}
    wanted = np.where(planes.bits(rules.cells, among), preferences(ply.mine, ply.theirs), -np.inf)
    return dict(zip(_positions(ply), wanted.argmax(axis=1).tolist(), strict=True))


def _positions(ply: Ply) -> list[Position]:
    return list(zip(ply.mine.tolist(), ply.theirs.tolist(), strict=True))
