"""`selfplay course` writes the units as notebooks, replaces none unasked, and checks those of students."""

from pathlib import Path

import jupytext
import nbformat
import pytest

from selfplay.cli import course
from tests.runs import refused

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.usefixtures("here")


def test_each_unit_becomes_a_notebook_of_the_same_cells(here: Path) -> None:
    course.main([])
    assert len(list((here / "course").iterdir())) == 8
    for number in range(1, 9):
        notebook = nbformat.read(here / "course" / f"unit_{number}.ipynb", as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        assert notebook.metadata.kernelspec.name == "python3"
        unit = jupytext.read(ROOT / "docs" / "course" / f"unit_{number}.py")
        cells, expected = (
            [(cell.cell_type, cell.source.strip("\n"), cell.metadata.get("tags", [])) for cell in each.cells]
            for each in (notebook, unit)
        )
        assert cells == expected


def test_what_was_filled_in_is_replaced_only_if_asked(here: Path) -> None:
    course.main([])
    first, third = (here / "course" / f"unit_{number}.ipynb" for number in (1, 3))
    third.write_text("my work")
    first.unlink()
    assert "unit_2.ipynb" in refused(course.main, [])
    assert (third.read_text(), first.exists()) == ("my work", False)  # all of them or none
    course.main(["--overwrite"])
    assert (third.read_text() == "my work", first.exists()) == (False, True)


@pytest.mark.parametrize("into", ["taken", "taken/below"])
def test_a_file_in_the_place_of_the_folder_is_named(into: str, here: Path) -> None:
    (here / "taken").write_text("")
    assert into in refused(course.main, ["--into", into])


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
    (here / "handed in" / "ann" / "my best.py").write_text(course.units()[6].read_text())
    (here / "handed in" / "fay").mkdir()
    capsys.readouterr()
    course.main(["--check", "handed in"])
    ann, ben, dee, eve, fay = capsys.readouterr().out.splitlines()
    assert ann.startswith("ann: unit 7 NotImplementedError")
    assert ann.endswith("; unit 5 passed")
    assert ben.startswith("ben: unit 5 AssertionError: highest_legal")
    assert dee == "dee: unit 5 ended before its check"
    assert "no unit" in eve
    assert "no notebook" in fay


def test_a_student_whose_program_never_ends_is_not_waited_for(here: Path) -> None:
    script = course.units()[4].read_text()
    before, blank, rest = script.partition('# %% tags=["blank"]\n')
    (here / "unit_5.py").write_text(f"{before}{blank}while True:\n    pass\n\n{rest[rest.index('# %%') :]}")
    assert "not finished" in course.outcome(here / "unit_5.py", seconds=1)
