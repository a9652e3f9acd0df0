"""The benchmark of the page asks a server of its own, and says whether it was quick enough."""

import random
from pathlib import Path

import pytest

from benchmarks.environment import page
from selfplay.errors import UserError
from selfplay.position import read_board
from tictactoe import Rules


def test_moves_and_page_are_timed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page.main(["--moves", "3", "--loads", "2", "--markdown", str(tmp_path / "table.md")])
    assert "Median (least to most)." in capsys.readouterr().out
    rows = [line.strip("| ").split(" | ") for line in (tmp_path / "table.md").read_text().splitlines()[2:]]
    assert [row[:2] for row in rows] == [["a move", "3"], ["the page", "2"]]
    assert all(float(row[2].split(" ")[0]) > 0 for row in rows)


def test_what_takes_too_long_is_said() -> None:
    assert page.within(page.Row("a move", [1.0, 49.9])) == "a move: under 50 ms."
    assert page.within(page.Row("a move", [1.0, 50.0])) == "a move: NOT under 50 ms."


def test_positions_are_such_as_a_game_goes_through() -> None:
    draw = random.Random(0)
    for rules in (Rules(), Rules(4, 5, 4)):
        boards = [page.position(rules, draw) for _ in range(200)]
        assert not any(read_board(rules, board).over for board in boards)
        assert len(set(boards)) > 100


def test_a_player_that_is_none_is_one_line() -> None:
    with pytest.raises(UserError, match="nobody: is neither a run folder") as caught, page.serving("nobody"):
        pass
    assert "\n" not in str(caught.value)
