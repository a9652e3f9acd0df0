"""Each unit of the course passes its own check with the blanks filled in, and fails it with one empty or wrong."""

from collections.abc import Iterator
from pathlib import Path

import jupytext
import matplotlib.pyplot as plt
import pytest

from selfplay.cli import course
from selfplay.errors import UserError

COURSE = Path(__file__).parents[2] / "docs" / "course"
UNITS = range(1, 9)

WRONG = {
    "no minus": (1, "max(-value(", "max(value("),
    "seats not changed": (1, "value(opponent, mover | 1 << cell) for", "value(mover | 1 << cell, opponent) for"),
    "a full board before a line": (1, "if RULES.has_line(opponent):",
                                   "if RULES.has_line(opponent) and RULES.empty_cells(mover, opponent):"),
    "only the first best cell": (1, "== value(mover, opponent)]", "== value(mover, opponent)][:1]"),
    "the best for X at both turns": (2, "max(numbers) if x_moves(x, o) else min(numbers)", "max(numbers)"),
    "seats exchanged": (2, "if x_moves(x, o) else min(numbers)", "if not x_moves(x, o) else min(numbers)"),
    "a line does not end the game": (2, "if result(x, o) is not None:", "if result(x, o) == 0:"),
    "the best for X in choosing": (2, " if x_moves(x, o) else min(values, key=values.get)", ""),
    "the opponent's turn never my own": (3, "moved.reward + moved.opponents_best", "moved.reward"),
    "plus": (3, "moved.reward - moved.opponents_best", "moved.reward + moved.opponents_best"),
    "the loser's last move dropped": (3, " - moved.opponents_reward", ""),
    "the loser rewarded": (3, "- moved.opponents_reward", "+ moved.opponents_reward"),
    "does not wrap": (4, " % len(self.rows)", ".clamp(max=len(self.rows) - 1)"),
    "places that are not filled": (4, "min(self.added, len(self.rows))", "len(self.rows)"),
    "the last place never drawn": (4, "torch.randint(filled,", "torch.randint(max(filled - 1, 1),"),
    "the newest alone": (4, "torch.randint(filled,", "filled - 1 - 0 * torch.randint(filled,"),
    "follows the wrong way": (4, "slow.lerp_(quick, rate)", "quick.lerp_(slow, rate)"),
    "a copy": (4, "slow.lerp_(quick, rate)", "slow.copy_(quick)"),
    "mask forgotten": (5, "np.where(legal, values, -np.inf).max(axis=1)", "values.max(axis=1)"),
    "mask multiplied": (5, "np.where(legal, values, -np.inf).max(axis=1)", "(values * legal).max(axis=1)"),
    "a lost position's value for taken cells": (5, "-np.inf).argmax", "-1).argmax"),
    "mask forgotten in acting": (5, "np.where(legal, values, -np.inf).argmax(axis=1)", "values.argmax(axis=1)"),
    "a draw is a win": (6, "draw * move.draw", "move.draw"),
    "fined for drawing": (6, "allow * move.allow", "allow * move.draw"),
    "always safe": (6, "return draw > -1, draw < 1", "return True, True"),
    "safe at the edge": (6, "return draw > -1, draw < 1", "return draw >= -1, draw <= 1"),
    "seats of the draw exchanged": (6, "return draw > -1, draw < 1", "return draw < 1, draw > -1"),
    "the first fork alone": (7, "if len(theirs) < 2:", "if True:"),
    "a taken cell": (7, "return mine[0]", "return 4"),
    "own forks alone": (7, "mine, theirs = forks(mover, opponent), forks(opponent, mover)",
                        "mine, theirs = forks(mover, opponent), []"),
    "positions counted once for each game": (8, "following = set()", "following = Games()"),
    "a taken cell passed over": (8, "beaten += 1\n                continue", "continue"),
    "the reply's line not seen": (8, "if rules.has_line(replied):", "if False:"),
    "goes on behind an own line": (8, "if rules.has_line(moved):", "if False:"),
}  # fmt: skip
"""Common mistakes, at least one in each function: the unit, a part of its solution, and what is written instead."""
GAMES = "class Games(list):\n    add = list.append\n\n\n"


def solution(unit: int) -> str:
    """Return what fills the blank of a unit."""
    [cell] = jupytext.read(COURSE / "solutions" / f"unit_{unit}.py").cells
    return str(cell.source)


def work(unit: int, blank: str | None = None) -> None:
    """Run a unit as a script, as it is or with its blank filled in."""
    path = COURSE / f"unit_{unit}.py"
    exec(path.read_text() if blank is None else course.filled(path, blank), {"__name__": "__main__"})


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)  # for the plots
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_passes_its_check_with_the_blank_filled_in(unit: int, capsys: pytest.CaptureFixture[str]) -> None:
    work(unit, solution(unit))
    shown = capsys.readouterr().out
    assert "PASSED" in shown
    assert "None" not in shown  # as nothing that a student has predicted or returned


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_fails_while_its_blank_is_empty(unit: int) -> None:
    with pytest.raises((NotImplementedError, UserError), match=f"unit {unit}: write "):
        work(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_asks_before_it_runs_and_is_listed(unit: int) -> None:
    text = "\n".join(cell.source for cell in jupytext.read(COURSE / f"unit_{unit}.py").cells)
    parts = ["**What it is for.**", "**Afterwards you can**", "## Before you run anything", "my_prediction = ",
             "## Your turn", "<summary>Hint 1<", "<summary>Hint 2, nearly", "## The check", "## What you should see",
             "## What to try next", "## Look inside ", "selfplay web "]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert f"[{unit} " in (COURSE / "README.md").read_text()
    assert f"](unit_{unit}.py)" in (COURSE / "README.md").read_text()
    assert (COURSE / "teachers.md").read_text().count(f"\n| {unit} |") >= 1  # what is often wrong


@pytest.mark.parametrize(("unit", "right", "wrong"), WRONG.values(), ids=WRONG)
def test_a_unit_fails_with_a_wrong_answer(unit: int, right: str, wrong: str) -> None:
    assert right in solution(unit)
    with pytest.raises(AssertionError):
        work(unit, GAMES + solution(unit).replace(right, wrong, 1))


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ("opponent)]", "opponent)][0]", r"best_cells must return a list, such as \[\d\], but it returned \d$"),
        ("return [cell for", "[cell for", r"best_cells must return a list, such as \[\d\], but it returned None$"),
        (" -value(", " value(", r"best_cells must return \[\d\] .*, but it returned \[\] \(is the sign right"),
        (
            "[cell for",
            "[[cell] for",
            r"best_cells must return \[(\d)\] .* returned \[\[\1\]\]$",
        ),
        ("return max(", "max(", r"value must return -?1 .*, but it returned None \(is a `return` missing\?\)$"),
    ],
)
def test_unit_1_says_in_one_sentence_what_was_wrong(right: str, wrong: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=f"^{sentence}"):
        work(1, solution(1).replace(right, wrong, 1))
