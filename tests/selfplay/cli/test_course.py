"""`selfplay course` writes the units as notebooks, replaces none unasked, and checks those of students."""

import csv
import re
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
        for cell in notebook.cells:
            folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
            assert folded == ("folded" in cell.metadata.get("tags", []))


def test_what_was_filled_in_is_replaced_only_if_asked(here: Path) -> None:
    course.main([])
    first, third = (here / "course" / f"unit_{number}.ipynb" for number in (1, 3))
    third.write_text("my work")
    first.unlink()
    assert "unit_2.ipynb" in refused(course.main, [])
    assert (third.read_text(), first.exists()) == ("my work", False)  # all of them or none
    course.main(["--overwrite"])
    assert (third.read_text() == "my work", first.exists()) == (False, True)


def test_the_units_are_in_the_wheel() -> None:
    listed = (ROOT / "pyproject.toml").read_text()
    for file in (*course.units(), *(ROOT / "docs" / "course").glob("*.csv")):
        assert f'"docs/course/{file.name}" = "selfplay/course/{file.name}"' in listed


UNIT = """\
# %% [markdown]
# # Unit 1: a unit of two functions

# %%
from selfplay.lessons import require

# %% tags=["blank"]
def six(): raise NotImplementedError
def seven(): raise NotImplementedError

# %%
require(six() * seven() == 42, "six times seven is 42")
print("PASSED")

# %%
raise ValueError("below the last check")
"""
RIGHT = "def six(): return 6\ndef seven(): return 7\n"


def written(blank: str) -> str:
    """Return the unit as a script with a blank filled in."""
    before, rest = UNIT.split("def six")
    return before + blank + rest[rest.index("\n# %%") :]


def in_jupyter(script: str) -> str:
    """Return a script as a notebook."""
    return str(nbformat.writes(jupytext.reads(script, "py:percent"), version=4))


HAND_INS = {
    "right": ("week 1/my work.py", written(RIGHT), "passed", ""),
    "changed below the blank": ("unit_1.ipynb", in_jupyter(written(RIGHT).replace("42", "43")), "passed", ""),
    "two blanks": ("unit_1.py", written(RIGHT.replace("def seven", '# %% tags=["blank"]\ndef seven')), "passed", ""),
    "wrong": ("unit_1.ipynb", in_jupyter(written(RIGHT.replace("7", "8"))), "not yet", "six times seven is 42"),
    "crashes": ("unit_1.py", written("import no_such_module"), "not yet", "no_such_module"),
    "ends too soon": ("unit_1.py", written(f"{RIGHT}exit()"), "not yet", "status 0"),
    "lost its tag": ("unit_1.py", written(RIGHT).replace(' tags=["blank"]', ""), "not yet", "six, seven"),
    "uses another cell": ("unit_1.py", written(f"helper()\n{RIGHT}"), "not yet", "'helper'"),
    "another file": ("notes.txt", "", "", "another file"),
    "a hidden copy": (".ipynb_checkpoints/unit_1.ipynb", in_jupyter(written(RIGHT)), "", "a hidden copy"),
    "no unit": ("notes.py", "print(1)", "", "notes.py"),
    "no notebook": ("unit_1.ipynb", "{}", "", "unit_1.ipynb"),
}
"""By student what is handed in: a file, its content, the word in the table, and a part of what is said to be wrong."""


@pytest.fixture
def handed_in(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the hand-ins for a course of one unit."""
    (here / "units").mkdir()
    (here / "units" / "unit_1.py").write_text(UNIT)
    monkeypatch.setattr(course, "UNITS", here / "units")
    return here / "handed in"


def test_each_student_has_a_row_whatever_is_handed_in(handed_in: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for student, (name, content, _, _) in HAND_INS.items():
        path = handed_in / student / name
        path.parent.mkdir(parents=True)
        path.write_text(content)
    course.main(["--check", str(handed_in), "--csv"])
    rows = {row.pop("student"): row for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    assert {student: row["unit 1"] for student, row in rows.items()} == {
        student: word for student, (_, _, word, _) in sorted(HAND_INS.items())
    }
    for student, (_, _, _, part) in HAND_INS.items():
        wrong = rows[student]["what is wrong"]
        assert part in wrong if part else wrong == ""


def test_files_that_begin_with_one_name_are_of_one_student_who_passes_with_the_best(
    handed_in: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handed_in.mkdir()
    (handed_in / "ann_unit_1.py").write_text(written(RIGHT))
    (handed_in / "ann unit 1 (old).py").write_text(UNIT)
    (handed_in / "ben.txt").write_text("")
    course.main(["--check", str(handed_in)])
    shown = capsys.readouterr().out
    assert re.findall(r"^(ann|ben)\b(?: +(passed|not yet))?$", shown, re.MULTILINE) == [("ann", "passed"), ("ben", "")]
    assert "ann unit 1 (old).py" in shown


def test_what_never_ends_is_ended(handed_in: Path, capsys: pytest.CaptureFixture[str]) -> None:
    handed_in.mkdir()
    (handed_in / "ann.py").write_text(written("while True: pass"))
    course.main(["--check", str(handed_in), "--seconds", "1"])
    assert "not finished after 1 s" in capsys.readouterr().out
