"""What a person at the terminal sees and types."""

from collections.abc import Mapping

import pytest
from rich.console import Console

from selfplay.cli.play_board import Hint, board_table, read_square
from selfplay.position import Position
from tests.runs import refused
from tictactoe import Rules

LARGE = Rules(4, 5, 4)


def position(*cells: int, rules: Rules | None = None) -> Position:
    reached = Position(rules or Rules())
    for cell in cells:
        assert not reached.over
        reached = reached.after(cell)
    return reached


@pytest.mark.parametrize(("rules", "answer", "cell"), [(Rules(), " 5 ", 4), (Rules(), "5\n", 4), (LARGE, "20", 19)])
def test_squares_count_from_one_on_every_board(rules: Rules, answer: str, cell: int) -> None:
    assert read_square(Position(rules), answer) == cell


@pytest.mark.parametrize(
    ("rules", "answer", "named"),
    [
        (Rules(), "10", "10"),
        (Rules(), "", "''"),
        (Rules(), "\N{SUPERSCRIPT TWO}", "\N{SUPERSCRIPT TWO}"),
        (Rules(), "9", "9 is taken"),
        (LARGE, "0", "'0'"),
        (LARGE, "21", "21"),
        (LARGE, "1 2", "1 2"),
    ],
)
def test_what_is_no_free_square_is_named(rules: Rules, answer: str, named: str) -> None:
    assert named in refused(read_square, position(8, rules=rules), answer)


def drawn(position: Position, hints: Mapping[int, Hint] | None = None) -> list[str]:
    """Return the lines of a board without the blanks at their ends."""
    console = Console(width=80)
    with console.capture() as capture:
        console.print(board_table(position, hints))
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        ((0, 4), [" X | 2 | 3", " 4 |(O)| 6", " 7 | 8 | 9"]),
        ((0, 3, 4, 5, 8), ["[X]| 2 | 3", " O |[X]| O", " 7 | 8 |[X]"]),
    ],
)
def test_a_board_tells_free_squares_the_last_move_and_winning_lines_without_colours(
    cells: tuple[int, ...], lines: list[str]
) -> None:
    assert drawn(position(*cells))[::2] == lines


def test_hints_are_read_without_colours_and_stars_mark_the_choice() -> None:
    reached = position(0, 4, rules=Rules(2, 3, 3))
    hints = {1: Hint("+0.50", 0.5, True), 2: Hint("-1.00", -1.0, False), 3: Hint("+0.00", 0, False)}
    hints[5] = Hint("-10.25", -10.25, False)
    assert drawn(reached, hints) == [
        "    X   | *+0.50 |  -1.00",
        "--------+--------+--------",
        "  +0.00 |    O   | -10.25",
    ]
