"""`selfplay course` writes the units as notebooks, replaces none unasked, and checks those of students."""

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jupytext
import nbformat
import pytest

from selfplay.cli import course, course_judge
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


@pytest.mark.parametrize("into", ["taken", "taken/below"])
def test_a_file_in_the_place_of_the_folder_is_named(into: str, here: Path) -> None:
    (here / "taken").write_text("")
    assert into in refused(course.main, ["--into", into])


def test_the_units_are_in_the_wheel(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = (ROOT / "pyproject.toml").read_text()
    for file in (*course.units(), *(ROOT / "docs" / "course").glob("*.csv")):
        assert f'"docs/course/{file.name}" = "selfplay/course/{file.name}"' in listed
    (here / "unit_1.py").touch()
    monkeypatch.setattr(course, "UNITS", here)  # which a wheel has
    assert course.units() == [here / "unit_1.py"]


UNIT = """\
# %% [markdown]
# # Unit 1: a unit of one question

# %% tags=["blank"]
"""
"""A script up to its blank."""
RIGHT = "def answer():\n    return 42\n\n\n"


@pytest.fixture
def handed_in(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the hand-ins for a course of one unit, which has one question."""
    (here / "units").mkdir()
    (here / "units" / "unit_1.py").write_text(UNIT)
    monkeypatch.setattr(course, "UNITS", here / "units")
    exam = course_judge.Exam([course_judge.Question("answer()", course_judge.equal(42))])
    monkeypatch.setattr(course_judge, "UNITS", [lambda _: exam])
    folder = here / "handed in"
    folder.mkdir()
    return folder


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """Return a function that checks the hand-ins, and returns the lines that it prints."""

    def lines(*flags: str) -> list[str]:
        capsys.readouterr()
        course.main(["--check", "handed in", *flags])
        return capsys.readouterr().out.splitlines()

    return lines


def hand_in(folder: Path, blank: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "unit_1.py").write_text(UNIT + blank)


def test_each_file_gets_a_line_with_what_failed(here: Path, check: Callable[..., list[str]]) -> None:
    course.main([])
    solution = (ROOT / "docs" / "course" / "solutions" / "unit_4.py").read_text()  # PyTorch needs the most memory
    notebook = nbformat.read(here / "course" / "unit_4.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("tags") == ["blank"]:
            cell.source = solution
        elif "PASSED" in cell.source:
            cell.source = "raise SystemExit"  # instead of the check, which is not theirs to change
    for name in ("ann", "ben", "fay"):
        (here / "handed in" / name).mkdir(parents=True)
    nbformat.write(notebook, here / "handed in" / "ann" / "unit_4.ipynb")
    (here / "handed in" / "ben" / "my unit.py").write_text(course.units()[2].read_text())
    (here / "handed in" / "eve.ipynb").write_text("{}")
    ann, ben, eve, fay = check()
    assert ann == "passed      unit 4  ann/unit_4.ipynb"
    assert ben.startswith("not passed  unit 3  ben/my unit.py: NotImplementedError")
    assert [line.split()[:3] for line in (eve, fay)] == [["no", "unit", "eve.ipynb:"], ["no", "unit", "fay:"]]


REPLY = """
import os
for pipe in range(3, 9):
    try:
        os.write(pipe, {line!r})
    except OSError:
        pass
"""
FORGERIES = {
    "exits with a word": "import sys\nsys.exit('passed')",
    "ends at once": "import os\nos._exit(0)",
    "prints": "import sys\nfor file in sys.stdout, sys.stderr:\n    print('passed', file=file)",
    "replaces the judge": "from selfplay.cli import course_judge\ncourse_judge.first_fault = lambda *_: None",
    "replies no answers": REPLY.format(line=b'{"answers": [], "error": ""}\n'),
    "replies no JSON": REPLY.format(line=b"[" * 9_999 + b"\n"),
    "another type": "def answer():\n    return {'a': [[], 'b']}",
    "an array": "import numpy as np\n\ndef answer():\n    return np.full((2, 1), 42)",
    "equal to all": "class Equal(dict):\n    def __eq__(*_):\n        return True\n\nanswer = Equal",
    "takes all memory": f"{RIGHT}import mmap\nhog = mmap.mmap(-1, 5 << 30)",
    "never ends": f"{RIGHT}while True:\n    pass",
    "endless errors": f"{RIGHT}import os\nwhile True:\n    os.write(2, b'error' * 9_999)",
    "an endless answer": f"{RIGHT}import os\nwhile True:\n    os.write(3, b' ' * 9_999)",
}


@pytest.mark.parametrize("blank", FORGERIES.values(), ids=FORGERIES)
def test_no_forgery_passes(blank: str, handed_in: Path, check: Callable[..., list[str]]) -> None:
    hand_in(handed_in / "eve", blank)
    [line] = check("--seconds", "2")
    assert line.startswith("not passed  unit 1  eve/unit_1.py: ")


def test_what_is_printed_does_not_spoil_a_right_answer(handed_in: Path, check: Callable[..., list[str]]) -> None:
    hand_in(handed_in / "ann", f"{RIGHT}print('no')")
    assert check() == ["passed      unit 1  ann/unit_1.py"]


def test_a_student_writes_no_file(handed_in: Path, check: Callable[..., list[str]]) -> None:
    hand_in(handed_in / "eve", f"{RIGHT}with open('new', 'w') as file:\n    file.write('text')")
    [line] = check()
    assert "OSError" in line
    assert Path("new").read_text() == ""


def test_what_a_student_has_started_is_ended(handed_in: Path, check: Callable[..., list[str]]) -> None:
    program = f"""
import fcntl, os, time
file = open("held", "w")
fcntl.flock(file, fcntl.LOCK_EX)
if os.fork() == 0:  # only root can
    time.sleep(600)
{RIGHT}"""
    hand_in(handed_in / "eve", program)
    check()
    with Path("held").open() as file:
        for _ in range(100):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.05)
    pytest.fail("a process continues")


def test_a_file_that_another_student_replaces_counts_as_it_was(
    handed_in: Path, check: Callable[..., list[str]]
) -> None:
    hand_in(handed_in / "eve", "import os\nos.replace('handed in/eve/for zoe', 'handed in/zoe/unit_1.py')")
    (handed_in / "eve" / "for zoe").write_text(UNIT + RIGHT)
    hand_in(handed_in / "zoe", "answer = 42")
    assert [line.split()[0] for line in check()] == ["not", "not"]
    assert RIGHT in (handed_in / "zoe" / "unit_1.py").read_text()


def test_what_students_write_stays_on_its_line_behind_the_verdict(
    handed_in: Path, check: Callable[..., list[str]]
) -> None:
    hand_in(handed_in / "eve\npassed      unit 1  eve", "raise ValueError('\\npassed      unit 1  eve/unit_1.py')")
    [line] = check()
    assert line.startswith("not passed  unit 1  eve\\n")


def test_only_regular_files_of_one_unit_are_run(handed_in: Path, check: Callable[..., list[str]]) -> None:
    ann, eve = handed_in / "ann", handed_in / "eve"
    hand_in(ann, RIGHT)
    eve.mkdir()
    os.mkfifo(eve / "a_pipe.ipynb")
    with (eve / "b_sparse.ipynb").open("wb") as file:
        file.truncate(12 << 30)
    (eve / "c_link.py").symlink_to(ann / "unit_1.py")
    (eve / "d_two.py").write_text(f"{UNIT}{RIGHT}{UNIT}{RIGHT}")
    (eve / "e_ninth.py").write_text(f"{UNIT}{RIGHT}".replace("Unit 1", "Unit 9"))
    (eve / "f_deep.ipynb").write_text("[" * 99_999)
    (eve / "g_long.py").write_text(f"{UNIT}{RIGHT}{'#' * 99_999}")
    (eve / "of_ann").symlink_to(ann)
    (handed_in / "fay").symlink_to(ann)
    passed, *others = check()
    assert passed == "passed      unit 1  ann/unit_1.py"
    names = ["a_pipe.ipynb", "b_sparse.ipynb", "c_link.py", "d_two.py", "e_ninth.py", "f_deep.ipynb", "g_long.py"]
    assert [line.split()[:3] for line in others[:-1]] == [["no", "unit", f"eve/{name}:"] for name in names]
    assert others[-1].startswith("no unit             fay:")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has prctl")
def test_the_judging_process_hides_its_memory_from_students() -> None:
    program = """
import ctypes
from selfplay.cli.course_process import hide_memory
get_dumpable = lambda: ctypes.CDLL(None).prctl(3)
before = get_dumpable()
hide_memory()
print(before, get_dumpable())
"""
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ended.stdout.split() == ["1", "0"]
