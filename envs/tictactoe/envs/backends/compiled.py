"""The backend for big boards if Numba is installed: one compiled loop over the boards.

Bitboards are int64, so the last of 64 cells is the sign bit: a shift to the right fills up with it, but only beyond the
cells where a line can start.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tictactoe import batch
from tictactoe.arrays import compiled
from tictactoe.envs.backends.bitboards import BitboardGames
from tictactoe.envs.backends.games import Cells, Flags, Planes, Results
from tictactoe.rules import Rules

Words = NDArray[np.int64]
Board = tuple[int, int, int, Words, Words, NDArray[np.int32]]


class CompiledGames(BitboardGames):
    """Play and look as `BitboardGames` does, in compiled loops."""

    def _move(self, state: batch.State, cells: Cells, idle: Flags, restart: bool) -> Results:
        after = batch.State(*(np.empty_like(field) for field in state))
        reward, winner = np.empty(len(cells)), np.empty(len(cells), np.int64)
        terminated, illegal = np.empty(len(cells), np.bool_), np.empty(len(cells), np.bool_)
        values = (self.rewards.illegal, self.rewards.win, self.rewards.draw, self.rewards.allow)
        cells = np.array(cells)  # the loop is compiled for this layout, and the caller's array may have another
        _play(*state, cells, idle, restart, _board(self.rules), values, *after, reward, terminated, winner, illegal)
        return Results(after, reward, terminated, winner, illegal)

    def _spread_out(self, state: batch.State, first_seat: Cells, over: Flags) -> tuple[Planes, Planes]:
        number, cells = len(over), self.rules.cells
        seen, mask = np.empty((number, 3 * cells), np.int8), np.empty((number, cells), np.int8)
        _look(*state, first_seat, over, cells, seen, mask)
        return seen.reshape(number, self.rules.rows, self.rules.cols, 3), mask


@lru_cache(maxsize=64)
def _board(rules: Rules) -> Board:
    """Return the number of cells, k, the full board, the directions, and the lines of every bitboard of a small board.

    A direction is a cell step and the cells where its lines can start. The lines [2^A] of a side's marks are the cells
    that would complete one, and above them a bit that says whether one is complete; there are none of a big board.
    """
    steps, starts = zip(*rules.directions, strict=True)
    words = np.arange(1 << rules.cells if rules.cells <= batch.TABLE_CELLS else 0)
    lines = rules.winning_cells(words) | rules.has_line(words).astype(np.int64) << rules.cells
    return rules.cells, rules.k, rules.full_word, np.array(steps), np.array(starts), lines.astype(np.int32)


@compiled
def _computed_lines(mine: int, theirs: int, k: int, steps: Words, starts: Words) -> tuple[int, int]:
    """Return where lines of mine start, and lines that the opponent can complete: two bitboards."""
    # Each bit is about the line that starts in its cell: whether all of it is mine; whether the opponent lacks
    # one or more of it, two or more of it; whether a mark of mine blocks it.
    won = threatened = 0
    for direction in range(len(steps)):
        complete = starts[direction]
        lacks_one = lacks_two = blocked = shift = 0
        for _ in range(k):
            mine_here = mine >> shift
            lacking = ~(theirs >> shift)
            complete &= mine_here
            blocked |= mine_here
            lacks_two |= lacks_one & lacking
            lacks_one |= lacking
            shift += steps[direction]
        won |= complete
        threatened |= starts[direction] & lacks_one & ~lacks_two & ~blocked
    return won, threatened


@compiled
def _play(
    mover: Words,
    opponent: Words,
    ply: Words,
    cells: Words,
    idle: Flags,
    restart: bool,
    rules: Board,
    values: tuple[float, float, float, float],
    mover_after: Words,
    opponent_after: Words,
    ply_after: Words,
    reward: NDArray[np.float64],
    terminated: Flags,
    winner: Words,
    illegal: Flags,
) -> None:
    cells_of_board, k, full, steps, starts, lines = rules
    on_illegal, on_win, on_draw, on_allow = values
    for board in range(len(cells)):
        mine, theirs = mover[board], opponent[board]
        if idle[board]:
            goes_on = 0 if restart else 1
            mover_after[board], opponent_after[board] = mine * goes_on, theirs * goes_on
            ply_after[board] = ply[board] * goes_on
            reward[board], terminated[board], winner[board], illegal[board] = 0.0, False, -1, False
            continue
        seat = ply[board] & 1
        bit = np.int64(1) << cells[board]
        if (mine | theirs) & bit != 0:
            mover_after[board], opponent_after[board], ply_after[board] = mine, theirs, ply[board]
            reward[board], terminated[board], winner[board], illegal[board] = on_illegal, True, 1 - seat, True
            continue
        mine |= bit
        mover_after[board], opponent_after[board], ply_after[board] = theirs, mine, ply[board] + 1

        if len(lines):
            won, threatened = lines[mine] >> cells_of_board, lines[theirs] & full & ~(mine | theirs)
        else:
            won, threatened = _computed_lines(mine, theirs, k, steps, starts)
        illegal[board] = False
        if won != 0:
            reward[board], terminated[board], winner[board] = on_win, True, seat
        elif mine | theirs == full:
            reward[board], terminated[board], winner[board] = on_draw, True, -1
        else:
            reward[board], terminated[board], winner[board] = on_allow if threatened != 0 else 0.0, False, -1


@compiled
def _look(
    mover: Words, opponent: Words, ply: Words, first_seat: Words, over: Flags, cells: int, seen: Planes, mask: Planes
) -> None:
    for board in range(len(over)):
        first, second = mover[board], opponent[board]
        if ply[board] & 1 != first_seat[board]:
            first, second = second, first
        # Bytes from the start, and the game's end looked at once: so the compiler takes many cells at a time.
        for cell in range(cells):
            is_first, is_second = np.int8(first >> cell & 1), np.int8(second >> cell & 1)
            is_empty = np.int8(1 - (is_first | is_second))
            seen[board, 3 * cell] = is_empty
            seen[board, 3 * cell + 1] = is_first
            seen[board, 3 * cell + 2] = is_second
            mask[board, cell] = is_empty
        if over[board]:
            for cell in range(cells):
                mask[board, cell] = 1
