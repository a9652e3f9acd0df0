"""Boards as text that a terminal, a log or a document can show."""

from tictactoe.rules import Rules

MARKS = ("X", "O")


def board_text(rules: Rules, x_marks: int, o_marks: int, last_cell: int | None = None) -> str:
    """Draw a position; the last move stands in parentheses, the cells of winning lines in brackets.

    `x_marks` and `o_marks` are bitboards. Each row is a line of text without a line break at the end.
    """
    winning = line_cells(rules, x_marks) | line_cells(rules, o_marks)
    rows = []
    for row in range(rules.rows):
        cells = []
        for cell in range(row * rules.cols, (row + 1) * rules.cols):
            mark = "X" if x_marks >> cell & 1 else "O" if o_marks >> cell & 1 else "."
            brackets = "[]" if winning >> cell & 1 else "()" if cell == last_cell else "  "
            cells.append(brackets[0] + mark + brackets[1])
        rows.append("".join(cells).rstrip())
    return "\n".join(rows)


def line_cells(rules: Rules, board: int) -> int:
    """Return the bitboard of all cells that lie on a complete line of one side."""
    return sum(1 << cell for cell in range(rules.cells) if board >> cell & 1 and _on_line(rules, board, cell))


def _on_line(rules: Rules, board: int, cell: int) -> bool:
    # A mark lies on a complete line if taking it away leaves a line that only its cell can complete.
    without = board & ~(1 << cell)
    return bool(rules.winning_cells(without) >> cell & 1)
