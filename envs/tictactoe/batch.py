"""Many games at once as pure functions, on NumPy arrays or torch tensors of any device.

A state goes in and a new state comes out. No function changes its arguments, loops over boards or waits for a device.
Our learners train on it. `B` is the number of boards, `A` the number of actions.

A finished game stays on its board until you call `restart`; until then ignore what `step` returns for this board.
Actions are not checked, because a check would have to wait for the device. Each must be in 0..A-1.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from tictactoe import planes
from tictactoe.arrays import Array, device, library, on_device, rows_at
from tictactoe.names import unknown
from tictactoe.rewards import Rewards
from tictactoe.rules import RESULTS, WINNERS, WORD_BITS, Bitboard, Event, Rules

PERSPECTIVES = ("absolute", "mover")

TABLE_CELLS = 16
"""Largest board whose lines are looked up in a table of 2^A entries instead of computed, in cells."""


class State(NamedTuple):
    """A batch of positions as seen by the mover, the seat to move on each board."""

    mover: Bitboard
    """[B] int64: the marks of the mover, as bitboards."""
    opponent: Bitboard
    """[B] int64: the marks of the other seat."""
    ply: Array
    """[B] int64: the number of marks on the board."""

    @property
    def to_play(self) -> Array:
        """Return the seat to move, [B] int64."""
        return self.ply & 1


class Outcome(NamedTuple):
    """The result of one ply on each board, without rewards."""

    state: State
    """The positions after it; an illegal move leaves its board as it was."""
    event: Array
    """[B] int64: what the ply led to, one of the numbers of `tictactoe.rules.Event`."""

    @property
    def win(self) -> Array:
        """Return whether the mover has won, [B] bool."""
        return self.event == Event.WIN

    @property
    def draw(self) -> Array:
        """Return whether the ply filled the board and nobody has won, [B] bool."""
        return self.event == Event.DRAW

    @property
    def illegal(self) -> Array:
        """Return whether the cell was taken, so the mover lost, [B] bool."""
        return self.event == Event.ILLEGAL

    @property
    def allow(self) -> Array:
        """Return whether the game continues and the opponent can win with its next ply, [B] bool."""
        return self.event == Event.ALLOW

    @property
    def terminated(self) -> Array:
        """Return whether the game is over, [B] bool."""
        return self.event > Event.ALLOW


class Step(NamedTuple):
    """The result of one ply on each board, with the rewards of both seats."""

    state: State
    """The positions after it; an illegal move leaves its board as it was."""
    reward: Array
    """[B] float32: the reward of the seat that moved."""
    other_reward: Array
    """[B] float32: the reward of the other seat, such as `loss` if the ply won."""
    terminated: Array
    """[B] bool: the game is over."""
    winner: Array
    """[B] int64: 0 or 1, or -1 for none."""
    illegal: Array
    """[B] bool: the cell was taken, so the mover lost."""


def check_fits(rules: Rules) -> None:
    """Refuse a board that does not fit a batch.

    Raises:
        ValueError: the board has more than 64 cells.
    """
    if rules.cells > WORD_BITS:
        raise ValueError(
            f"a batch holds each board in one {WORD_BITS}-bit word, but a {rules.rows}x{rules.cols} board has "
            f"{rules.cells} cells; only environments of a single board take it, or vectorization_mode='sync'"
        )


def check_perspective(perspective: str) -> None:
    """Refuse a perspective that does not exist.

    Raises:
        ValueError: there is no perspective of that name.
    """
    if perspective not in PERSPECTIVES:
        raise ValueError(unknown("perspective", perspective, PERSPECTIVES))


def reset(rules: Rules, num_boards: int, xp: Any, device: Any = None) -> State:
    """Return empty boards as arrays of `xp`, the module `numpy` or `torch`.

    Raises:
        ValueError: the board has more than 64 cells.
    """
    check_fits(rules)
    return State(*(xp.zeros(num_boards, dtype=xp.int64, **on_device(device)) for _ in State._fields))


def play(rules: Rules, state: State, actions: Array) -> Outcome:
    """Play one ply on every board, without rewards; `actions` is [B], of any integer type."""
    xp = library(state.mover)
    actions = xp.asarray(actions, dtype=xp.int64)  # a narrower type would shift its bit out
    cell = 1 << actions
    marked = rules.legal_cells(state.mover, state.opponent) & cell
    illegal = marked == 0
    moved = state.mover | marked
    occupied = moved | state.opponent

    has_line, winning_cells = _line_functions(rules, actions)
    threatened = (winning_cells(state.opponent) & ~occupied) != 0
    event = xp.where(threatened, Event.ALLOW, Event.ONGOING)
    event = xp.where(occupied == rules.full_word, Event.DRAW, event)
    event = xp.where(has_line(moved), rules.line_event, event)
    event = xp.where(illegal, Event.ILLEGAL, event)
    after = State(
        xp.where(illegal, state.mover, state.opponent),
        xp.where(illegal, state.opponent, moved),
        state.ply + ~illegal,
    )
    return Outcome(after, event)


def reward(rewards: Rewards, outcome: Outcome) -> Array:
    """Return the reward of the seat that moved, [B] of the library's default float."""
    own, _ = _reward_tables(rewards, library(outcome.event), device(outcome.event))
    return rows_at(own, outcome.event)


def other_reward(rewards: Rewards, outcome: Outcome) -> Array:
    """Return the reward of the other seat, [B] of the library's default float."""
    _, other = _reward_tables(rewards, library(outcome.event), device(outcome.event))
    return rows_at(other, outcome.event)


def winner(seat: Array, outcome: Outcome) -> Array:
    """Return the winner after a ply of `seat` [B] int64, -1 if there is none."""
    winners = _winner_table(library(outcome.event), device(outcome.event))
    return rows_at(winners, 2 * outcome.event + seat)


def step(rules: Rules, rewards: Rewards, state: State, actions: Array) -> Step:
    """Play one ply on every board and return its rewards; `actions` is [B], of any integer type."""
    xp = library(state.mover)
    outcome = play(rules, state, actions)
    return Step(
        outcome.state,
        xp.asarray(reward(rewards, outcome), dtype=xp.float32),
        xp.asarray(other_reward(rewards, outcome), dtype=xp.float32),
        outcome.terminated,
        winner(state.to_play, outcome),
        outcome.illegal,
    )


def restart(state: State, ended: Array) -> State:
    """Return the state with empty boards where `ended`, [B] bool."""
    playing = ~ended
    return State(*(field * playing for field in state))


def where(chosen: Array, these: State, others: State) -> State:
    """Return `these` on the chosen boards, [B] bool, and `others` elsewhere."""
    xp = library(chosen)
    return State(*(xp.where(chosen, this, other) for this, other in zip(these, others, strict=True)))


def action_mask(rules: Rules, state: State) -> Array:
    """Return the legal cells, [B, A] bool; on a full board all are False."""
    return planes.bits(rules.cells, rules.legal_cells(state.mover, state.opponent))


def observe(rules: Rules, state: State, perspective: str = "absolute") -> Array:
    """Return the one-hot observation, [B, R, C, 3] int8.

    Plane 0 shows empty cells. With perspective `"absolute"` planes 1 and 2 show X and O; with `"mover"` they show the
    marks of the mover and of the other seat.

    Raises:
        ValueError: there is no perspective of that name.
    """
    check_perspective(perspective)
    xp = library(state.mover)
    first, second = state.mover, state.opponent
    if perspective == "absolute":
        swap = state.to_play == 1
        first, second = xp.where(swap, second, first), xp.where(swap, first, second)
    return planes.one_hot(rules.cells, first, second).reshape(-1, rules.rows, rules.cols, 3)


def _line_functions(rules: Rules, like: Array) -> tuple[Callable[[Bitboard], Array], Callable[[Bitboard], Bitboard]]:
    """Return `has_line` and `winning_cells` of `rules`, as table look-ups if the board is small."""
    if rules.cells > TABLE_CELLS:
        return rules.has_line, rules.winning_cells
    has_line, winning_cells = _line_tables(rules, library(like), device(like))
    return partial(rows_at, has_line), partial(rows_at, winning_cells)


@lru_cache(maxsize=64)
def _line_tables(rules: Rules, xp: Any, place: Any) -> tuple[Array, Array]:
    boards = xp.arange(1 << rules.cells, **on_device(place))
    return rules.has_line(boards), rules.winning_cells(boards)


@lru_cache(maxsize=64)
def _reward_tables(rewards: Rewards, xp: Any, place: Any) -> tuple[Array, Array]:
    """Return the rewards of the seat that moved and of the other seat by event, two arrays."""
    own, other = zip(*(rewards.of_event[event] for event in RESULTS), strict=True)
    return xp.asarray(own, **on_device(place)), xp.asarray(other, **on_device(place))


@lru_cache(maxsize=64)
def _winner_table(xp: Any, place: Any) -> Array:
    """Return the winner by twice the event plus the seat that moved."""
    return xp.asarray(WINNERS, **on_device(place)).reshape(-1)
