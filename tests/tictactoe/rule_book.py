"""Judge m,n,k games by walking coordinates over plain cells: slow, and sharing no code with the package."""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from tictactoe import Rewards, Rules

Board = tuple[str, ...]
"""One of "X", "O" and "." for each cell, row by row."""

EMPTY = "."
MARKS = ("X", "O")


@dataclass(frozen=True)
class PlyResult:
    """What a move did; `winner` is -1 while there is none."""

    board: Board
    reward: float
    terminated: bool
    winner: int = -1
    illegal: bool = False
    other_reward: float = 0.0
    """The reward of the seat that did not move."""


class RuleBook:
    """The lines of one board and everything that follows from them."""

    def __init__(self, rows: int, cols: int, k: int) -> None:
        self.rows, self.cols, self.k = rows, cols, k
        self.cells = rows * cols
        self.empty_board: Board = (EMPTY,) * self.cells
        self.lines = list(self._walk_lines())
        self.lines_through = [[line for line in self.lines if cell in line] for cell in range(self.cells)]

    def _walk_lines(self) -> Iterator[tuple[int, ...]]:
        for row in range(self.rows):
            for col in range(self.cols):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    walk = [(row + i * down, col + i * right) for i in range(self.k)]
                    if all(0 <= r < self.rows and 0 <= c < self.cols for r, c in walk):
                        yield tuple(r * self.cols + c for r, c in walk)

    def complete_lines(self, board: Board, mark: str) -> list[tuple[int, ...]]:
        return [line for line in self.lines if all(board[cell] == mark for cell in line)]

    def has_line(self, board: Board, mark: str) -> bool:
        return bool(self.complete_lines(board, mark))

    def completing_cells(self, board: Board, mark: str) -> set[int]:
        """Return the cells, taken or not, where this mark would complete a line."""
        return {
            cell
            for cell in range(self.cells)
            if any(all(board[other] == mark for other in line if other != cell) for line in self.lines_through[cell])
        }

    def line_winner(self, seat: int) -> int:
        """Return the seat that wins when a seat completes a line."""
        return seat

    def winning_cells(self, board: Board, mark: str) -> set[int]:
        """Return the cells, taken or not, where this mark would win at once."""
        return self.completing_cells(board, mark) if self.line_winner(0) == 0 else set()

    def finished(self, board: Board) -> bool:
        return EMPTY not in board or any(self.has_line(board, mark) for mark in MARKS)

    def play(self, board: Board, cell: int, rewards: Rewards) -> PlyResult:
        """Let the seat to move mark a cell of a board that is not finished."""
        seat = seat_to_move(board)
        if board[cell] != EMPTY:
            return PlyResult(board, rewards.illegal, terminated=True, winner=1 - seat, illegal=True)
        after = with_mark(board, cell, MARKS[seat])
        if self.has_line(after, MARKS[seat]):
            winner = self.line_winner(seat)
            return PlyResult(after, rewards.win, terminated=True, winner=winner, other_reward=rewards.loss)
        if EMPTY not in after:
            return PlyResult(after, rewards.draw, terminated=True)
        allowed = not self.winning_cells(after, MARKS[1 - seat]).isdisjoint(empty_cells(after))
        return PlyResult(after, rewards.allow if allowed else 0.0, terminated=False)

    def one_hot(self, board: Board, perspective: str, seat: int | None = None) -> list[list[list[int]]]:
        """Return what a seat, by default the one to move, observes, [R, C, 3]."""
        if perspective == "absolute":
            seat = 0
        elif seat is None:
            seat = seat_to_move(board)
        cells = [[int(held == plane) for plane in (EMPTY, MARKS[seat], MARKS[1 - seat])] for held in board]
        return [cells[row * self.cols : (row + 1) * self.cols] for row in range(self.rows)]

    def histories(self) -> list[Board]:
        """Return every reachable board."""
        found = {self.empty_board: None}
        waiting = [self.empty_board]
        while waiting:
            board = waiting.pop()
            for cell in [] if self.finished(board) else empty_cells(board):
                after = with_mark(board, cell, MARKS[seat_to_move(board)])
                if after not in found:
                    found[after] = None
                    waiting.append(after)
        return list(found)

    def minimax(self) -> dict[Board, tuple[int, tuple[int, ...]]]:
        """Return the value for the mover and the optimal cells of every reachable board."""
        solved: dict[Board, tuple[int, tuple[int, ...]]] = {}

        def value(board: Board) -> int:
            if board not in solved:
                seat = seat_to_move(board)
                mover, opponent = MARKS[seat], MARKS[1 - seat]
                if self.has_line(board, opponent):
                    solved[board] = (1 if self.line_winner(1 - seat) == seat else -1, ())
                elif EMPTY not in board:
                    solved[board] = (0, ())
                else:
                    outcomes = {cell: -value(with_mark(board, cell, mover)) for cell in empty_cells(board)}
                    best = max(outcomes.values())
                    solved[board] = (best, tuple(cell for cell, outcome in outcomes.items() if outcome == best))
            return solved[board][0]

        value(self.empty_board)
        return solved


@functools.cache
def book_of(rules: Rules) -> RuleBook:
    """Return the one rule book of a board, which remembers what it has said."""
    book = RuleBook(**asdict(rules))
    for name in ("play", "one_hot"):
        setattr(book, name, functools.lru_cache(1 << 13)(getattr(book, name)))
    return book


def seat_to_move(board: Board) -> int:
    """Return 0 or 1; X, the mark of seat 0, is never behind."""
    return board.count("X") - board.count("O")


def empty_cells(board: Board) -> list[int]:
    return [cell for cell, mark in enumerate(board) if mark == EMPTY]


def with_mark(board: Board, cell: int, mark: str) -> Board:
    return (*board[:cell], mark, *board[cell + 1 :])


def bits(cells: Iterable[int]) -> int:
    return sum(2**cell for cell in set(cells))


def cells_in(bitboard: int, cells: int) -> set[int]:
    return {cell for cell in range(cells) if bitboard >> cell & 1}


def marks_of(board: Board, mark: str) -> int:
    return bits(cell for cell, held in enumerate(board) if held == mark)


def mover_and_opponent(board: Board) -> tuple[int, int]:
    seat = seat_to_move(board)
    return marks_of(board, MARKS[seat]), marks_of(board, MARKS[1 - seat])
