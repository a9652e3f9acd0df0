"""`selfplay course` writes the units as notebooks, replaces none unasked, and refuses in one line."""

import shutil
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

from selfplay.cli import course
from tests.runs import refused

ROOT = Path(__file__).parents[3]


pytestmark = pytest.mark.usefixtures("here")


def test_each_unit_becomes_a_notebook_of_the_same_cells(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course.main([])
    assert len(list((here / "course").iterdir())) == 8
    for number in range(1, 9):
        notebook = nbformat.read(here / "course" / f"unit_{number}.ipynb", as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        assert notebook.metadata.kernelspec.name == "python3"
        unit = jupytext.read(ROOT / "docs" / "course" / f"unit_{number}.py")
        cells, expected = ([(cell.cell_type, cell.source) for cell in each.cells] for each in (notebook, unit))
        assert cells == expected
    assert capsys.readouterr().out.splitlines()[-1] == "  jupyter lab course/unit_1.ipynb"


def test_what_was_filled_in_is_replaced_only_if_asked(here: Path) -> None:
    course.main([])
    first, third = (here / "course" / f"unit_{number}.ipynb" for number in (1, 3))
    third.write_text("my work")
    first.unlink()
    gist = "course/unit_2.ipynb: exists already; choose another folder with --into, or replace it"
    assert refused(course.main, []).startswith(gist)
    assert (third.read_text(), first.exists()) == ("my work", False)  # all of them or none
    course.main(["--overwrite"])
    assert (third.read_text() == "my work", first.exists()) == (False, True)


@pytest.mark.parametrize("into", ["taken", "taken/below"])
def test_a_file_in_the_place_of_the_folder_is_one_line(into: str, here: Path) -> None:
    (here / "taken").write_text("")
    assert refused(course.main, ["--into", into]).startswith(f"--into {into}: cannot be made a folder")


def test_without_jupytext_nothing_is_left_behind(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupytext", None)
    with pytest.raises(ModuleNotFoundError, match="jupytext"):
        course.main([])
    assert list(here.iterdir()) == []


def test_the_units_are_in_the_wheel(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = (ROOT / "pyproject.toml").read_text()
    for unit in course.units():
        assert f'"docs/course/{unit.name}" = "selfplay/course/{unit.name}"' in listed
    (here / "unit_1.py").touch()
    monkeypatch.setattr(course, "UNITS", here)  # which a wheel has
    assert course.units() == [here / "unit_1.py"]


def test_each_student_gets_one_line_with_what_failed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course.main([])
    unit = (here / "course" / "unit_5.ipynb").read_text()
    right = (ROOT / "docs" / "course" / "solutions" / "unit_5.py").read_text()
    blanks = {
        "ann": right,
        "ben": right.replace("np.where(legal, values, -np.inf).max", "values.max"),
        "cy": "while True:\n    pass",
        "dee": "print('PASSED')\nraise SystemExit",
    }
    for name, blank in blanks.items():
        notebook = nbformat.reads(unit, as_version=4)
        for cell in notebook.cells:
            if cell.metadata.get("tags") == ["blank"]:
                cell.source = blank
            elif "PASSED" in cell.source:
                cell.source = "print('PASSED')"  # instead of the check, which is not theirs to change
        (here / "handed in" / name).mkdir(parents=True)
        (here / "handed in" / name / "unit_5.ipynb").write_text(nbformat.writes(notebook))
    (here / "handed in" / "eve.ipynb").write_text("{}")
    (here / "handed in" / "ann" / "week 1").mkdir()
    (here / "handed in" / "ann" / "week 1" / "my best.py").write_text(course.units()[6].read_text())
    (here / "handed in" / "fay").mkdir()
    course.main(["--check", "handed in/cy", "--seconds", "1"])
    assert capsys.readouterr().out.splitlines()[-1] == "unit_5.ipynb: unit 5 not finished after 1 s"
    shutil.rmtree(here / "handed in" / "cy")
    course.main(["--check", "handed in"])
    wrong = "highest_legal must return the array [-0.25, 1.0, -1.0], but it returned array([0., 2., 0.])"
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "ann: unit 5 passed; unit 7 NotImplementedError: unit 7: write mend(mover, opponent)",
        f"ben: unit 5 AssertionError: {wrong}",
        "dee: unit 5 ended before its check",
        "eve.ipynb: eve.ipynb is no unit of the course",
        "fay: no notebook (.ipynb) and no script (.py)",
    ]
    assert refused(course.main, ["--check", "none"]) == "--check none: holds nothing to check"
