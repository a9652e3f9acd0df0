"""Each unit of the course passes its own check with the blank filled in, and fails it with one empty or wrong."""

import json
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from docs import draw
from selfplay.cli import course
from selfplay.errors import UserError

COURSE = Path(__file__).parents[2] / "docs" / "course"
UNITS = range(1, 9)

WRONG = {
    "no minus": (1, "max(-value(", "max(value("),
    "only the first best cell": (1, "== value(mover, opponent)]", "== value(mover, opponent)][:1]"),
    "the best for X at both turns": (2, "max(numbers) if x_moves(x, o) else min(numbers)", "max(numbers)"),
    "a line does not end the game": (2, "if result(x, o) is not None:", "if result(x, o) == 0:"),
    "the best for X in choosing": (2, " if x_moves(x, o) else min(values, key=values.get)", ""),
    "plus": (3, "moved.reward - moved.opponents_best", "moved.reward + moved.opponents_best"),
    "the loser's last move dropped": (3, " - moved.opponents_reward", ""),
    "does not wrap": (4, " % len(self.rows)", ".clamp(max=len(self.rows) - 1)"),
    "the newest alone": (4, "torch.randint(filled,", "filled - 1 - 0 * torch.randint(filled,"),
    "a copy": (4, "slow.lerp_(quick, rate)", "slow.copy_(quick)"),
    "mask multiplied": (5, "np.where(legal, values, -np.inf).max(axis=1)", "(values * legal).max(axis=1)"),
    "mask forgotten in acting": (5, "np.where(legal, values, -np.inf).argmax(axis=1)", "values.argmax(axis=1)"),
    "a draw is a win": (6, "draw * move.draw", "move.draw"),
    "seats of the draw exchanged": (6, "return draw > -1, draw < 1", "return draw < 1, draw > -1"),
    "the first fork alone": (7, "if len(theirs) < 2:", "if True:"),
    "own forks alone": (7, "mine, theirs = forks(mover, opponent), forks(opponent, mover)",
                        "mine, theirs = forks(mover, opponent), []"),
    "positions counted once for each game": (8, "following = set()", "following = Games()"),
    "the reply's line not seen": (8, "if rules.has_line(replied):", "if False:"),
}  # fmt: skip
"""A common mistake in each function: the unit, a part of its solution, and what is written instead."""
GAMES = "class Games(list):\n    add = list.append\n\n\n"


def solution(unit: int) -> str:
    """Return what fills the blank of a unit."""
    [cell] = course.script_cells((COURSE / "solutions" / f"unit_{unit}.py").read_text())
    return cell.source


def work(unit: int, blank: str | None = None) -> None:
    """Run a unit as a script with nothing predicted, and its blank as it is or filled in."""
    cells = course.filled(COURSE / f"unit_{unit}.py", blank)
    exec("\n\n".join(cell.source for cell in cells), {"__name__": "__main__"})


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)  # for the plots
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_passes_its_check_with_the_blank_filled_in(unit: int, capsys: pytest.CaptureFixture[str]) -> None:
    work(unit, solution(unit))
    shown = capsys.readouterr().out
    assert "PASSED" in shown
    assert "None" not in shown  # as nothing that a student has predicted or returned


@pytest.mark.parametrize("unit", UNITS)
def test_the_site_shows_the_outputs_of_the_code_as_it_is(unit: int) -> None:
    stored = json.loads((draw.OUTPUTS / f"unit_{unit}.json").read_text())
    assert stored["code"] == draw.digest(COURSE / f"unit_{unit}.py"), f"python -m docs.draw unit_{unit}"


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_fails_while_its_blank_is_empty(unit: int) -> None:
    with pytest.raises((NotImplementedError, UserError), match=f"unit {unit}: write "):
        work(unit)


@pytest.mark.parametrize(("unit", "right", "wrong"), WRONG.values(), ids=WRONG)
def test_a_unit_fails_with_a_wrong_answer(unit: int, right: str, wrong: str) -> None:
    assert right in solution(unit)
    with pytest.raises(AssertionError):
        work(unit, GAMES + solution(unit).replace(right, wrong, 1))
