"""The games of the tabular learners, compiled: one loop per algorithm, every update in its turn.

Everything compiled is in this file, because Numba's cache on disk looks for changes in the file of the
function that is called and in no other: a helper or constant of another file would stay what it was.

Random numbers are `rng.random()` alone, and one of n things is `int(rng.random() * n)`, so that NumPy draws
the same stream without Numba. Bit i of a bitboard, and of a set of cells, is cell i. `has_line` and `powers`
are those of a `TabularLearner`; `outcomes` [G] int8 is filled with how each of G games ends: the
winner's seat, DRAW, or ILLEGAL + the seat that lost by playing a taken cell.
"""

import numpy as np
from numpy.typing import NDArray

from tictactoe.arrays import compiled

DRAW = -1
ILLEGAL = 2
"""Plus the seat that played the taken cell."""
GOES_ON = -2
NOTHING = -1
"""In place of the row of a position that does not exist."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Outcomes = NDArray[np.int8]


@compiled
def outcome_after(mover: int, ply: int, has_line: Bools, cells: int) -> int:
    """Return the outcome after the mover's mark of this ply, or GOES_ON."""
    if has_line[mover]:
        return ply & 1
    return DRAW if ply + 1 == cells else GOES_ON


@compiled
def first_cell(candidates: int) -> int:
    """Return the lowest cell of a set that is not empty."""
    cell = 0
    while not candidates >> cell & 1:
        cell += 1
    return cell


@compiled
def random_cell(candidates: int, rng: np.random.Generator) -> int:
    """Return one cell of a set that is not empty, each with the same probability."""
    count, rest = 0, candidates
    while rest:
        count += 1
        rest &= rest - 1
    for _ in range(int(rng.random() * count)):
        candidates &= candidates - 1
    return first_cell(candidates)


@compiled
def best_cells(values: Floats, row: int, mark: int, empty: int, powers: Ints) -> int:
    """Return the set of empty cells whose afterstate has the highest value; mark is 1 or 2."""
    best, cells = -np.inf, 0
    for cell in range(len(powers)):
        if empty >> cell & 1:
            value = values[row + mark * powers[cell]]
            if value > best:
                best, cells = value, 1 << cell
            elif value == best:
                cells |= 1 << cell
    return cells


@compiled
def back_up(values: Floats, path: Ints, plies: int, seat: int, alpha: float, gamma: float, result: float) -> None:
    """Walk a seat's own afterstates of a finished game backwards, from the result to its first move.

    `path` holds the row after each of the game's plies. Each value moves by alpha towards gamma times the
    value behind it as just updated, the last one towards gamma times the result.
    """
    last = plies - 1 if (plies - 1) & 1 == seat else plies - 2
    for ply in range(last, -1, -2):
        row = path[ply]
        values[row] += alpha * (gamma * result - values[row])
        result = values[row]


@compiled
def best_action(values: Floats, seat: int) -> int:
    """Return the first of the actions that the seat likes best: highest for the first seat, lowest for the second."""
    best = 0
    for action in range(1, len(values)):
        if (values[action] > values[best]) if seat == 0 else (values[action] < values[best]):
            best = action
    return best


@compiled
def play_minimax_q(
    table: Floats,
    has_line: Bools,
    powers: Ints,
    rng: np.random.Generator,
    outcomes: Outcomes,
    alpha: float,
    gamma: float,
    epsilon: float,
) -> None:
    """Play and learn minimax Q on `table` [3^A, A]."""
    cells = len(powers)
    for game in range(len(outcomes)):
        mover, opponent, row, ply = 0, 0, 0, 0
        outcome = GOES_ON
        while outcome == GOES_ON:
            seat = ply & 1
            explores = rng.random() < epsilon
            action = int(rng.random() * cells) if explores else best_action(table[row], seat)
            after = row
            if (mover | opponent) >> action & 1:
                outcome = ILLEGAL + seat
            else:
                mover |= 1 << action
                after += (seat + 1) * powers[action]
                outcome = outcome_after(mover, ply, has_line, cells)

            if outcome == GOES_ON:
                target = gamma * table[after, best_action(table[after], 1 - seat)]
            elif outcome == DRAW:
                target = 0.0
            else:
                target = 1.0 if outcome in (0, ILLEGAL + 1) else -1.0
            table[row, action] += alpha * (target - table[row, action])
            mover, opponent, row, ply = opponent, mover, after, ply + 1
        outcomes[game] = outcome


@compiled
def play_afterstate_q(
    values: Floats,
    has_line: Bools,
    powers: Ints,
    rng: np.random.Generator,
    outcomes: Outcomes,
    learner: int,
    alpha: float,
    gamma: float,
    exploration: float,
    draw_reward: float,
) -> None:
    """Play against random moves and learn `values` [3^A] from the learner's seat, or nothing if that is -1."""
    cells = len(powers)
    full = (1 << cells) - 1
    path = np.empty(cells, dtype=np.int64)
    for game in range(len(outcomes)):
        mover, opponent, row, ply = 0, 0, 0, 0
        outcome = GOES_ON
        while outcome == GOES_ON:
            seat = ply & 1
            empty = full & ~(mover | opponent)
            if seat == learner and rng.random() >= exploration:
                cell = first_cell(best_cells(values, row, seat + 1, empty, powers))
            else:
                cell = random_cell(empty, rng)
            mover |= 1 << cell
            row += (seat + 1) * powers[cell]
            path[ply] = row
            outcome = outcome_after(mover, ply, has_line, cells)
            mover, opponent, ply = opponent, mover, ply + 1
        if learner >= 0:
            won_or_lost = 1.0 if outcome == learner else -1.0
            result = draw_reward if outcome == DRAW else won_or_lost
            back_up(values, path, ply, learner, alpha, gamma, result)
        outcomes[game] = outcome


@compiled
def play_td_value(
    values: Floats,
    has_line: Bools,
    powers: Ints,
    rng: np.random.Generator,
    outcomes: Outcomes,
    choices: Ints,
    games_before: int,
    self_play: bool,
    alpha: float,
    exploration: float,
    back_up_losses: bool,
) -> None:
    """Play and learn `values` [2, 3^A], a table per seat.

    In self-play both seats learn. Otherwise the learner has the first seat in even games and the second in odd
    ones, and its opponent picks among the cells that `choices` [3^A] holds for the position.
    """
    cells = len(powers)
    full = (1 << cells) - 1
    own = np.empty(2, dtype=np.int64)  # each seat's latest afterstate, while it learns
    for game in range(len(outcomes)):
        own[:] = NOTHING
        learner = (games_before + game) & 1
        mover, opponent, row, ply = 0, 0, 0, 0
        outcome = GOES_ON
        while outcome == GOES_ON:
            seat = ply & 1
            learns = self_play or seat == learner
            explores = learns and rng.random() < exploration
            empty = full & ~(mover | opponent)
            if explores:
                cell = random_cell(empty, rng)
            elif learns:
                cell = first_cell(best_cells(values[seat], row, seat + 1, empty, powers))
            else:
                cell = random_cell(choices[row], rng)
            mover |= 1 << cell
            row += (seat + 1) * powers[cell]
            outcome = outcome_after(mover, ply, has_line, cells)
            if learns:
                if not explores and own[seat] != NOTHING:
                    values[seat, own[seat]] += alpha * (values[seat, row] - values[seat, own[seat]])
                own[seat] = row
            loser = 1 - seat
            if outcome == seat and back_up_losses and own[loser] != NOTHING:
                values[loser, own[loser]] += alpha * (values[loser, row] - values[loser, own[loser]])
            mover, opponent, ply = opponent, mover, ply + 1
        outcomes[game] = outcome


@compiled
def play_td_backup(
    values: Floats,
    has_line: Bools,
    powers: Ints,
    rng: np.random.Generator,
    outcomes: Outcomes,
    alpha: float,
    gamma: float,
    exploit: float,
    draw_first: float,
    draw_second: float,
) -> None:
    """Play and learn `values` [3^A], one table for both seats."""
    cells = len(powers)
    full = (1 << cells) - 1
    path = np.empty(cells, dtype=np.int64)
    for game in range(len(outcomes)):
        mover, opponent, row, ply = 0, 0, 0, 0
        outcome = GOES_ON
        while outcome == GOES_ON:
            seat = ply & 1
            candidates = full & ~(mover | opponent)
            if rng.random() < exploit:
                candidates = best_cells(values, row, seat + 1, candidates, powers)
            cell = random_cell(candidates, rng)
            mover |= 1 << cell
            row += (seat + 1) * powers[cell]
            path[ply] = row
            outcome = outcome_after(mover, ply, has_line, cells)
            mover, opponent, ply = opponent, mover, ply + 1
        for seat in range(2):
            drawn = draw_first if seat == 0 else draw_second
            won_or_lost = 1.0 if outcome == seat else 0.0
            result = drawn if outcome == DRAW else won_or_lost
            back_up(values, path, ply, seat, alpha, gamma, result)
        outcomes[game] = outcome
