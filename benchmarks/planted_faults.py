"""Plant small faults in envs and agents, one at a time, and see which of them the tests notice.

    python -m benchmarks.planted_faults CLONE --docs docs

The clone was set up with the README's commands, and pytest-cov is installed beside them; it may be of an earlier
commit. A seed draws as many lines of its functions and classes as are asked for, and one change of each. An operator
becomes another one, a number grows by one, a condition is reversed, or a call or `raise` on a line of its own is left
out. When the program ends the clone is as it was.

First the quick tests run once, to see which tests run which line. Then the tests that run the changed line look for the
fault. A line that runs only while modules are imported, in other processes, or compiled is left to all tests in the
folder that mirrors its package. A fault is noticed if one test fails, or takes much longer than without it. Some faults
make no difference that anybody could notice. Hundreds of faults take hours, so each result is saved at once: the first
ones are a random sample too.
"""

import ast
import os
import random
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import tyro

from benchmarks import data, harness
from benchmarks.data import Result
from benchmarks.harness import cell
from selfplay.cli.flags import parse, run_command
from selfplay.errors import UserError

PROG, TITLE = "python -m benchmarks.planted_faults", "Planted faults"
TEST_SECONDS, ALL_SECONDS = 240, 1500
"""Longest that one test, and all that look for one fault, may take: over three times what they need without a fault."""
OPERATORS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "+"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
"""What each operator is replaced by."""


class Fault(NamedTuple):
    """A change of one line of a file; lines count from 1."""

    file: Path
    number: int
    line: str
    changed: str


TestsOfLines: TypeAlias = dict[Path, dict[int, set[str]]]
"""The tests that run each line of each file."""


# Drawing


def drawn(clone: Path, count: int, seed: int) -> list[Fault]:
    """Return faults on as many lines of a clone's envs and agents, drawn with a seed."""
    of_line: dict[tuple[Path, int], list[Fault]] = {}
    for file in sorted([*clone.glob("envs/**/*.py"), *clone.glob("agents/**/*.py")]):
        text = file.read_text()
        for fault in changes(file, ast.parse(text), text.splitlines()):
            of_line.setdefault((fault.file, fault.number), []).append(fault)
    generator = random.Random(seed)
    return [generator.choice(of_line[line]) for line in generator.sample(sorted(of_line), count)]


def changes(file: Path, node: ast.AST, lines: Sequence[str], inside: bool = False) -> Iterator[Fault]:
    """Yield every change of the functions and classes below a node, which may itself be inside one."""
    annotations = getattr(node, "annotation", None), getattr(node, "returns", None)
    for child in ast.iter_child_nodes(node):
        if child in annotations:
            continue
        if inside and isinstance(child, ast.stmt | ast.expr) and child.lineno == child.end_lineno:
            line = lines[child.lineno - 1]
            in_bytes = line.encode().decode("latin-1")  # a character for each byte, as `ast` counts columns
            for start, end, text in replaced(child, in_bytes):
                changed = in_bytes[:start] + text + in_bytes[end:]
                yield Fault(file, child.lineno, line, changed.encode("latin-1").decode())
        yield from changes(file, child, lines, inside or isinstance(child, ast.FunctionDef | ast.ClassDef))


def replaced(node: ast.stmt | ast.expr, line: str) -> Iterator[tuple[int, int, str]]:
    """Yield from where to where a line can be replaced because of a node on it, and by what."""
    start, end = node.col_offset, node.end_col_offset or 0
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _operator(left, operator, right, line)
        case ast.BinOp(left=left, op=operator, right=right) | ast.BoolOp(op=operator, values=[left, right, *_]):
            yield from _operator(left, operator, right, line)
        case ast.Constant(value=bool(value)):
            yield start, end, str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield start, end, str(value + 1)
        case ast.UnaryOp(op=ast.Not()):
            yield start, start + len("not "), ""
        case ast.IfExp(test=test):
            yield test.col_offset, test.end_col_offset or 0, f"(not ({line[test.col_offset : test.end_col_offset]}))"
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield start, end, "pass"


def _operator(left: ast.expr, operator: ast.AST, right: ast.expr, line: str) -> Iterator[tuple[int, int, str]]:
    start, end = left.end_col_offset or 0, right.col_offset
    if type(operator) in OPERATORS:
        old, new = OPERATORS[type(operator)]
        yield start, end, line[start:end].replace(old, new, 1)


# Looking


def tests_of_lines(clone: Path, left_out: Sequence[str]) -> TestsOfLines:
    """Return which tests run which line, by running all quick tests of a clone once, but for some.

    Raises:
        UserError: a test fails without any fault, or pytest-cov is missing.
    """
    measured = ["--cov=envs", "--cov=agents", "--cov-context=test", "--cov-report="]
    deselected = [f"--deselect={test}" for test in left_out]
    if tests_fail(clone, ["-n", str(harness.cores()), *measured, *deselected], most_seconds=None):
        raise UserError(f"{clone}: the tests fail without any fault, or pytest-cov is not installed there")
    from coverage import CoverageData  # comes with pytest-cov

    coverage = CoverageData(basename=str(clone / ".coverage"))
    coverage.read()
    found: TestsOfLines = {}
    for file in coverage.measured_files():
        of_line = coverage.contexts_by_lineno(file).items()
        found[Path(file)] = {line: {name.rpartition("|")[0] for name in names if name} for line, names in of_line}
    return found


def tests_fail(clone: Path, arguments: Sequence[str], most_seconds: float | None) -> bool:
    """Return whether the tests of a clone fail, or need too many seconds."""
    command = [".venv/bin/pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # or a compiled fault may be taken for the next one of the same second
    unseen = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=clone, env=environment, stdout=unseen, stderr=unseen, start_new_session=True
    ) as process:
        try:
            return process.wait(most_seconds) != 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return True


def tests_of_package(clone: Path, file: Path) -> Path:
    """Return the folder of tests that mirrors the package of a file, or the nearest package around it."""
    folder = clone / "tests" / file.parent.relative_to(clone / file.relative_to(clone).parts[0])
    while not folder.exists():
        folder = folder.parent
    return folder


def noticed(clone: Path, fault: Fault, tests: Sequence[str], left_out: Sequence[str]) -> bool:
    """Plant a fault, and return whether some tests notice it, by default those of its package but for some."""
    original, times = fault.file.read_bytes(), fault.file.stat()
    lines = original.decode().splitlines()
    lines[fault.number - 1] = fault.changed
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(tests or [str(tests_of_package(clone, fault.file))]))
        listed.flush()
        deselected = [f"--deselect={test}" for test in left_out]
        try:
            fault.file.write_text("\n".join([*lines, ""]))
            return tests_fail(clone, ["-x", f"--timeout={TEST_SECONDS}", *deselected, f"@{listed.name}"], ALL_SECONDS)
        finally:
            fault.file.write_bytes(original)
            os.utime(fault.file, ns=(times.st_atime_ns, times.st_mtime_ns))  # what is compiled stays of use


@dataclass(frozen=True)
class Flags:
    """Plant faults in a clone of this repository, and count those that its tests notice."""

    clone: tyro.conf.Positional[Path]
    """Folder of the clone."""
    faults: int = 200
    """How many."""
    seed: int = 0
    """What they are drawn with."""
    left_out: tuple[str, ...] = ()
    """Tests that fail without any fault, as those of an earlier commit may."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


def main(args: Sequence[str]) -> None:
    """Plant each fault, and print and save whether it was noticed."""
    flags = parse(Flags, args, PROG)
    clone = flags.clone.resolve()
    commit = harness.commit(clone)
    measured_on = {**harness.start(TITLE), "seed": str(flags.seed)}
    faults, of_lines = drawn(clone, flags.faults, flags.seed), tests_of_lines(clone, flags.left_out)
    results: list[Result] = []
    for fault in faults:
        tests = sorted(of_lines.get(fault.file, {}).get(fault.number, ()))
        result = {
            "file": str(fault.file.relative_to(clone)),
            "line": fault.line.strip(),
            "changed": fault.changed.strip(),
            "tests": len(tests),
            "noticed": noticed(clone, fault, tests, flags.left_out),
        }
        results.append(result)
        print(*result.values(), sep=" | ", flush=True)
        if flags.docs is not None:
            data.save(flags.docs, TITLE, {commit: results}, measured_on)
    print("noticed:", cell([result["noticed"] for result in results]))


if __name__ == "__main__":
    run_command(main, PROG)
