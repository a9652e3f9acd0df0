"""The games of the tabular learners, compiled: one loop per algorithm, every update in its turn.

Everything compiled is in this file, because Numba's cache on disk looks for changes in the file of the
function that is called and in no other: a helper or constant of another file would stay what it was.

Random numbers are `rng.random()` alone, and one of n things is `int(rng.random() * n)`, so that NumPy samples
the same stream without Numba.

What the loops share:
    has_line: [2^A] bool, whether these marks of one seat hold a line; bit i of a set of marks or cells is cell i.
    powers: [A] int64, 3^i, what the first seat's mark in cell i adds to the row of the table; the second's adds twice.
    outcomes: [G] int8, filled with how each of G games ends: the winner's seat, DRAW, or ILLEGAL + the seat that
        lost by playing a taken cell.
"""

import numpy as np
from numpy.typing import NDArray

from tictactoe.arrays import compiled

DRAW = -1
ILLEGAL = 2
"""Plus the seat that played the taken cell."""
NO_ROW = -1
"""In place of the row of a position that does not exist."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Outcomes = NDArray[np.int8]


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
    count = 0
    rest = candidates
    while rest:
        count += 1
        rest &= rest - 1  # takes the lowest cell away
    for _ in range(int(rng.random() * count)):
        candidates &= candidates - 1
    return first_cell(candidates)


@compiled
def best_cells(values: Floats, row: int, mark: int, empty: int, powers: Ints) -> int:
    """Return the set of empty cells whose afterstate has the highest value; mark is 1 or 2.

    It holds a cell if any is empty, also where values are NaN: in an empty set `first_cell` would search for ever.
    """
    best = -np.inf
    cells = 0
    for cell in range(len(powers)):
        if empty >> cell & 1:
            value = values[row + mark * powers[cell]]
            if cells == 0 or value > best:
                best = value
                cells = 1 << cell
            elif value == best:
                cells |= 1 << cell
    return cells


@compiled
def back_up(values: Floats, path: Ints, seat: int, alpha: float, gamma: float, result: float) -> None:
    """Walk a seat's own afterstates of a finished game backwards, from the result to its first move.

    `path` holds the row after each ply of the game. Each value moves by alpha towards gamma times the value
    behind it as just updated, the last one towards gamma times the result.
    """
    for ply in range(len(path) - 1, -1, -1):
        if ply & 1 == seat:
            row = path[ply]
            values[row] += alpha * (gamma * result - values[row])
            result = values[row]


@compiled
def best_action(values: Floats, seat: int) -> int:
    """Return the first of the actions that the seat likes best: highest for the first seat, lowest for the second."""
    best = 0
    for action in range(1, len(values)):
        better = values[action] > values[best] if seat == 0 else values[action] < values[best]
        if better:
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
) -> int:
    """Play and learn minimax Q on `table` [3^A, A]."""
    cells = len(powers)
    marks = np.empty(2, dtype=np.int64)  # each seat's
    plies = 0
    for game in range(len(outcomes)):
        marks[:] = 0
        row = 0
        for ply in range(cells):
            plies += 1
            seat = ply & 1
            reward_of_win = 1.0 if seat == 0 else -1.0  # to the first seat, whose rewards these are
            explores = rng.random() < epsilon
            action = int(rng.random() * cells) if explores else best_action(table[row], seat)
            finished = True
            after = row
            if (marks[0] | marks[1]) >> action & 1:
                outcomes[game] = ILLEGAL + seat
                target = -reward_of_win
            else:
                marks[seat] |= 1 << action
                after += (seat + 1) * powers[action]
                if has_line[marks[seat]]:
                    outcomes[game] = seat
                    target = reward_of_win
                elif ply + 1 == cells:
                    outcomes[game] = DRAW
                    target = 0.0
                else:
                    finished = False
                    target = gamma * table[after, best_action(table[after], 1 - seat)]
            table[row, action] += alpha * (target - table[row, action])
            if finished:
                break
            row = after
    return plies


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
) -> int:
    """Play against random moves and learn `values` [3^A] from the learner's seat, or nothing if that is -1."""
    cells = len(powers)
    full = (1 << cells) - 1
    marks = np.empty(2, dtype=np.int64)  # each seat's
    path = np.empty(cells, dtype=np.int64)
    plies = 0
    for game in range(len(outcomes)):
        marks[:] = 0
        row = 0
        outcome = DRAW
        for ply in range(cells):
            plies += 1
            seat = ply & 1
            empty = full & ~(marks[0] | marks[1])
            if seat == learner and rng.random() >= exploration:
                cell = first_cell(best_cells(values, row, seat + 1, empty, powers))
            else:
                cell = random_cell(empty, rng)
            marks[seat] |= 1 << cell
            row += (seat + 1) * powers[cell]
            path[ply] = row
            if has_line[marks[seat]]:
                outcome = seat
                break

        if outcome == DRAW:
            result = draw_reward
        elif outcome == learner:
            result = 1.0
        else:
            result = -1.0
        if learner >= 0:
            back_up(values, path[: ply + 1], learner, alpha, gamma, result)
        outcomes[game] = outcome
    return plies


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
) -> int:
    """Play and learn `values` [2, 3^A], a table per seat.

    In self-play both seats learn. Otherwise the learner has the first seat in even games and the second in odd
    ones, and its opponent picks among the cells that `choices` [3^A] holds for the position.
    """
    cells = len(powers)
    full = (1 << cells) - 1
    marks = np.empty(2, dtype=np.int64)  # each seat's
    latest = np.empty(2, dtype=np.int64)  # each learner's latest afterstate in this game
    plies = 0
    for game in range(len(outcomes)):
        learner = (games_before + game) & 1
        marks[:] = 0
        latest[:] = NO_ROW
        row = 0
        outcome = DRAW
        for ply in range(cells):
            plies += 1
            seat = ply & 1
            learns = self_play or seat == learner
            explores = learns and rng.random() < exploration
            empty = full & ~(marks[0] | marks[1])
            if explores:
                cell = random_cell(empty, rng)
            elif learns:
                cell = first_cell(best_cells(values[seat], row, seat + 1, empty, powers))
            else:
                cell = random_cell(choices[row], rng)
            marks[seat] |= 1 << cell
            row += (seat + 1) * powers[cell]

            if learns:
                if not explores and latest[seat] != NO_ROW:
                    values[seat, latest[seat]] += alpha * (values[seat, row] - values[seat, latest[seat]])
                latest[seat] = row
            if has_line[marks[seat]]:
                outcome = seat
                break

        loser = 1 - outcome
        if outcome != DRAW and back_up_losses and latest[loser] != NO_ROW:
            values[loser, latest[loser]] += alpha * (values[loser, row] - values[loser, latest[loser]])
        outcomes[game] = outcome
    return plies


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
    draw_results: tuple[float, float],
) -> int:
    """Play and learn `values` [3^A], one table for both seats; `draw_results` says what a draw is worth to each."""
    cells = len(powers)
    full = (1 << cells) - 1
    marks = np.empty(2, dtype=np.int64)  # each seat's
    path = np.empty(cells, dtype=np.int64)
    plies = 0
    for game in range(len(outcomes)):
        marks[:] = 0
        row = 0
        outcome = DRAW
        for ply in range(cells):
            plies += 1
            seat = ply & 1
            candidates = full & ~(marks[0] | marks[1])
            if rng.random() < exploit:
                candidates = best_cells(values, row, seat + 1, candidates, powers)
            cell = random_cell(candidates, rng)
            marks[seat] |= 1 << cell
            row += (seat + 1) * powers[cell]
            path[ply] = row
            if has_line[marks[seat]]:
                outcome = seat
                break

        for seat in range(2):
            if outcome == DRAW:
                result = draw_results[seat]
            elif outcome == seat:
                result = 1.0
            else:
                result = 0.0
            back_up(values, path[: ply + 1], seat, alpha, gamma, result)
        outcomes[game] = outcome
    return plies
