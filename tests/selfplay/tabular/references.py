"""The four tabular learners once more, from their descriptions: dicts keyed by boards, plain loops, no numba.

Each plays a whole number of games on its own NumPy generator and returns how they ended and what it learned.
"""

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from tests.tictactoe.rule_book import EMPTY, MARKS, Board, RuleBook, empty_cells, seat_to_move, with_mark

Values = dict[Board, float]
Choose = Callable[[Board], int]


def row_of(board: Board) -> int:
    """Return the base-3 number of a board, the first cell as the lowest digit."""
    return int("".join(str((EMPTY, *MARKS).index(held)) for held in reversed(board)), 3)


def any_of(options: list[int], rng: np.random.Generator) -> int:
    return options[int(rng.random() * len(options))]


def afterstate(board: Board, cell: int) -> Board:
    return with_mark(board, cell, MARKS[seat_to_move(board)])


def best_of(board: Board, values: Values) -> list[int]:
    worth = {cell: values[afterstate(board, cell)] for cell in empty_cells(board)}
    return [cell for cell, value in worth.items() if value == max(worth.values())]


def play_game(book: RuleBook, choose: Choose) -> tuple[int, list[Board]]:
    """Return the winner, -1 for a draw, and the boards after each ply."""
    history = [book.empty_board]
    while not book.finished(history[-1]):
        history.append(afterstate(history[-1], choose(history[-1])))
    winner = next((seat for seat in (0, 1) if book.has_line(history[-1], MARKS[seat])), -1)
    return winner, history[1:]


def back_up(values: Values, boards: list[Board], alpha: float, gamma: float, result: float) -> None:
    for board in reversed(boards):
        values[board] = result = values[board] + alpha * (gamma * result - values[board])


def afterstate_q(config: AfterstateQConfig, games: int) -> tuple[list[int], Values]:
    book, rng = RuleBook(3, 3, 3), np.random.Generator(np.random.PCG64(config.seed))
    values: Values = defaultdict(float)

    def choose(board: Board) -> int:
        if seat_to_move(board) == config.seat and not rng.random() < config.exploration:
            return best_of(board, values)[0]
        return any_of(empty_cells(board), rng)

    outcomes = []
    for _ in range(games):
        winner, boards = play_game(book, choose)
        if config.seat != "none":
            result = {-1: config.draw_reward, config.seat: 1.0, 1 - config.seat: -1.0}[winner]
            back_up(values, boards[config.seat :: 2], config.alpha, config.gamma, result)
        outcomes.append(winner)
    return outcomes, values


def td_backup(config: TDBackupConfig, games: int, greedy_games: int) -> tuple[list[int], Values]:
    book, rng = RuleBook(config.rows, config.cols, config.k), np.random.Generator(np.random.PCG64(config.seed))
    values: Values = defaultdict(float)
    outcomes = []
    for game in range(games + greedy_games):
        exploit = config.exploit if game < games else 1.0

        def choose(board: Board, exploit: float = exploit) -> int:
            return any_of(best_of(board, values) if rng.random() < exploit else empty_cells(board), rng)

        winner, boards = play_game(book, choose)
        for seat in (0, 1):
            draw = (config.draw_first, config.draw_second)[seat]
            result = {-1: draw, seat: 1.0, 1 - seat: 0.0}[winner]
            back_up(values, boards[seat::2], config.alpha, config.gamma, result)
        outcomes.append(winner)
    return outcomes, values


def td_value(config: TDValueConfig, games: int) -> tuple[list[int], list[Values]]:
    book, rng = RuleBook(3, 3, 3), np.random.Generator(np.random.PCG64(config.seed))
    solved = book.minimax() if config.opponent == "optimal" else {}

    class FromSeat(Values):
        def __init__(self, seat: int) -> None:
            self.seat = seat

        def __missing__(self, board: Board) -> float:
            won, lost = book.has_line(board, MARKS[self.seat]), book.has_line(board, MARKS[1 - self.seat])
            self[board] = 1.0 if won else 0.0 if lost or EMPTY not in board else 0.5
            return self[board]

    tables: list[Values] = [FromSeat(0), FromSeat(1)]

    def opponent(board: Board) -> int:
        empty = empty_cells(board)
        if config.opponent == "optimal":
            return any_of(list(solved[board][1]), rng)
        if config.opponent == "heuristic":
            for mark in (MARKS[seat_to_move(board)], MARKS[1 - seat_to_move(board)]):
                completing = [cell for cell in empty if book.has_line(with_mark(board, cell, mark), mark)]
                if completing:
                    return any_of(completing, rng)
        return any_of(empty, rng)

    outcomes = []
    for game in range(games):
        learners = (0, 1) if config.opponent == "self" else (game % 2,)
        latest: dict[int, Board] = {}

        def choose(board: Board, learners: tuple[int, ...] = learners, latest: dict[int, Board] = latest) -> int:
            seat = seat_to_move(board)
            if seat not in learners:
                return opponent(board)
            explores = rng.random() < config.exploration
            cell = any_of(empty_cells(board), rng) if explores else best_of(board, tables[seat])[0]
            if seat in latest and not explores:
                move_towards(tables[seat], latest[seat], afterstate(board, cell))
            latest[seat] = afterstate(board, cell)
            return cell

        def move_towards(values: Values, board: Board, following: Board) -> None:
            values[board] += config.alpha * (values[following] - values[board])

        winner, boards = play_game(book, choose)
        if config.back_up_losses and winner >= 0 and 1 - winner in learners:
            move_towards(tables[1 - winner], latest[1 - winner], boards[-1])
        outcomes.append(winner)
    return outcomes, tables


def minimax_q(config: MinimaxQConfig, games: int, tables: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Change the tables, one or one per seat, as these games do and return how the games ended."""
    book = RuleBook(3, 3, 3)
    best = (max, min)
    outcomes = []
    for _ in range(games):
        board = book.empty_board
        outcome = None
        while outcome is None:
            seat = seat_to_move(board)
            values = tables[seat % len(tables)][row_of(board)]
            if rng.random() < config.epsilon:
                action = int(rng.random() * 9)
            else:
                action = values.tolist().index(best[seat](values.tolist()))
            following = board
            if board[action] != EMPTY:
                outcome, target = 2 + seat, (-1.0, 1.0)[seat]
            else:
                following = afterstate(board, action)
                if book.has_line(following, MARKS[seat]):
                    outcome, target = seat, (1.0, -1.0)[seat]
                elif EMPTY not in following:
                    outcome, target = -1, 0.0
                else:
                    other = 1 - seat
                    target = config.gamma * best[other](tables[other % len(tables)][row_of(following)].tolist())
            values[action] += config.alpha * (target - values[action])
            board = following
        outcomes.append(outcome)
    return outcomes
