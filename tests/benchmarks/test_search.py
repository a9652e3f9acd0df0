"""The benchmark of the search says who wins, and ends where something else is published."""

from types import MappingProxyType

import pytest

from benchmarks.environment import search
from selfplay.errors import UserError


def test_each_board_has_its_value_positions_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    search.main(["--boards", "3x3x3", "3x4x3", "7x7x5", "--times", "2", "--max-positions", "5000"])
    shown = capsys.readouterr().out.splitlines()
    table = [line.replace("│", "|").split("|")[1:] for line in shown if line.startswith("│")]
    cells = {row[0].strip(): [cell.strip() for cell in row[1:4]] for row in table}
    assert cells["3,3,3"][:2] == ["9", "draw"]
    assert cells["3,4,3"][:2] == ["12", "first seat wins"]
    assert cells["7,7,5"] == ["49", "not known", "5,000"]
    assert sum("3x3x3: draw, " in line for line in shown) == 2


def test_another_value_than_the_published_one_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PUBLISHED", MappingProxyType({"3x3x3": search.FIRST}))
    with pytest.raises(
        RuntimeError, match="3x3x3: draw is what the search says, and first seat wins what is published"
    ):
        search.measure("3x3x3", 10_000)


@pytest.mark.parametrize("board", ["5x5", "5x5x4x3", "fivexfivexfour", "0x3x3", "3x3x4", ""])
def test_what_names_no_board_is_refused(board: str) -> None:
    with pytest.raises(UserError, match=f"--boards must be named as in 5x5x4, got '{board}'"):
        search.main(["--boards", board])
