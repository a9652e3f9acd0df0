"""Predictions are kept until the answer and scored, and a failed check is one line with a numbered board."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from selfplay import lessons


@pytest.fixture(autouse=True)
def begun() -> Iterator[None]:
    """Let nothing be predicted yet, and restore what a failed check changes."""
    hook, display = sys.excepthook, sys.displayhook
    sys.displayhook = sys.__displayhook__
    yield
    sys.excepthook, sys.displayhook = hook, display
    lessons._predictions.clear()
    lessons._scores.clear()


@pytest.mark.parametrize(
    ("predicted", "truth", "points"),
    [
        (3, 3, 1), (3, 4, 0.5), (2, 4, 0.5), (8, 4, 0.5), (9, 4, 0), (1, 0, 0), (0, 0.0, 1), (-1, 1, 0),
        (True, True, 1), (True, False, 0), (True, 1, 0), (1, True, 0),
        ((True, False), (True, True), 0.5), ((0, 4), (0, 6), 0.75), ((True,), (True, True), 0), (5, (5, 5), 0),
        ("both", "both", 1), ("both", "neither", 0), ("12", 12, 0), ("12", (1, 2), 0), (None, 4, 0),
    ],
)  # fmt: skip
def test_a_prediction_is_scored(predicted: Any, truth: Any, points: float) -> None:
    assert lessons.score(predicted, truth) == points


def test_a_prediction_changes_before_the_answer_and_not_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    lessons.predict("ways", 7)
    lessons.predict("ways", 12)
    lessons.reveal("ways", 345)
    capsys.readouterr()
    lessons.predict("ways", 345)
    assert "ways" in capsys.readouterr().out
    lessons.reveal("ways", 345)
    shown = capsys.readouterr().out
    assert "345" in shown
    assert "12" in shown
    assert "0 of 1" in shown


def test_an_answer_waits_for_a_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(lessons.NotYetError, match="ways"):
        lessons.predict("ways", ...)
    with pytest.raises(lessons.NotYetError, match="ways"):
        lessons.reveal("ways", 345)
    assert "345" not in capsys.readouterr().out


def test_what_is_left_out_is_not_counted(capsys: pytest.CaptureFixture[str]) -> None:
    lessons.predict("skipped", None)
    lessons.predict("right", 2)
    lessons.reveal("right", 2)
    capsys.readouterr()
    lessons.reveal("skipped", 9)
    assert "1 of 1" in capsys.readouterr().out


@pytest.mark.parametrize(("position", "seat", "board"), [
    ((0b1, 0b10000), "X", " X  1  2\n 3  O  5\n 6  7  8\n"),
    ((0b10000, 0b11), "O", " X  X  2\n 3  O  5\n 6  7  8\n"),
])  # fmt: skip
def test_a_failed_check_shows_the_numbered_board_with_the_marks_where_they_are(
    position: tuple[int, int], seat: str, board: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=f"{seat} .*value must return 1"):
        lessons.require(False, "value must return 1", *position)
    assert capsys.readouterr().out == board


def test_a_failed_check_has_no_traceback() -> None:
    program = "from selfplay.lessons import require\nrequire(False, 'look at the sign')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "look at the sign" in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.raises(lessons.NotYetError) as failed:
        lessons.require(False, "look at the sign")
    [line] = failed.value._render_traceback_()  # the protocol of IPython
    assert "look at the sign" in line


@pytest.mark.parametrize(("cells", "board", "refused"), [
    ((), " 0  1  2\n 3  4  5\n 6  7  8", ""),
    ((4,), " O  1  2\n 3  X  5\n 6  7  8", ""),
    ((4, 2, 6), " O  O [X]\n 3 [X] 5\n[X] 7  8", ""),
    ((4, 2, 6, 8), " O  O [X]\n 3 [X] 5\n[X] 7  8", ""),
    ((4, 0), " O  1  2\n 3  X  5\n 6  7  8", "0"),
    ((9,), " 0  1  2\n 3  4  5\n 6  7  8", "9"),
    ((8, 7, 3), "[O][O][O]\n X  4  5\n 6  X  X", ""),
])  # fmt: skip
def test_a_game_against_an_agent(
    cells: tuple[int, ...], board: str, refused: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lessons.play(lambda observation: observation[..., 0].argmax(), cells)
    shown = capsys.readouterr().out
    assert shown.startswith(board + "\n")
    assert re.findall(r"\d", shown.removeprefix(board)) == [*refused]


def test_data_come_with_the_course() -> None:
    assert {row["parts"] for row in lessons.prepared("unit_4.csv")} == {
        "both", "no memory", "no target network", "neither",
    }  # fmt: skip
