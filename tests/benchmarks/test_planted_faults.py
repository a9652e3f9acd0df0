"""Faults that are planted to see whether tests notice them."""

import ast
import sys
from pathlib import Path

import pytest

from benchmarks.planted_faults import Fault, changes, drawn, noticed

MODULE = """def add(one, other):
    return one + other


def never_called():
    return 1
"""
TEST = """from envs.package.sums import add


def test_sum():
    assert add(1, 2) == 3
"""


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("a < b", {"a <= b"}),
        ("(a) is (b)", {"(a) is not (b)"}),
        ("a and b or c", {"a or b or c", "a and b and c"}),
        ("a + 1", {"a - 1", "a + 2"}),
        ("not a", {"a"}),
        ("not (a and b)", {"(a and b)", "not (a or b)"}),
        ("b if a else c", {"b if (not (a)) else c"}),
        ("f(True)", {"f(False)", "pass"}),
        ("raise a", {"pass"}),
        ("a: int = 1", {"a: int = 2"}),
        ("a: Literal[1]", set()),
        ("'a'", set()),
        ("'é' and a", {"'é' or a"}),
    ],
)
def test_a_line_has_each_of_its_faults(line: str, changed: set[str]) -> None:
    text = f"def f():\n    {line}\n"
    found = changes(Path("sums.py"), ast.parse(text), text.splitlines())
    assert {(fault.number, fault.changed.strip()) for fault in found} == {(2, change) for change in changed}


def test_lines_outside_functions_and_classes_stay_as_they_are() -> None:
    assert not list(changes(Path("sums.py"), ast.parse("a = 1 + 2"), ["a = 1 + 2"]))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder with a package, a test of it, and pytest."""
    for name in ("envs/package", "tests", ".venv/bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "envs/package/sums.py").write_text(MODULE)
    (tmp_path / "tests/test_sums.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / ".venv/bin/pytest").symlink_to(Path(sys.executable).with_name("pytest"))
    return tmp_path


def test_a_fault_is_noticed_by_a_test_that_fails_and_taken_back(clone: Path) -> None:
    faults = drawn(clone, count=2, seed=0)
    assert [fault.number for fault in sorted(faults)] == [2, 6]
    assert {fault.number: noticed(clone, fault, [], []) for fault in faults} == {2: True, 6: False}
    assert (clone / "envs/package/sums.py").read_text() == MODULE


def test_only_the_tests_that_run_the_line_look_for_a_fault(clone: Path) -> None:
    fault = Fault(clone / "envs/package/sums.py", 2, "    return one + other", "    return one - other")
    (clone / "tests/test_others.py").write_text("def test_others():\n    pass\n")
    assert not noticed(clone, fault, ["tests/test_others.py::test_others"], [])
    assert noticed(clone, fault, ["tests/test_sums.py::test_sum"], [])
    assert not noticed(clone, fault, [], ["tests/test_sums.py"])
