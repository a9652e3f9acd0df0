"""Flags out of a dataclass, and mistakes on the command line as one line each."""

import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from selfplay.cli.flags import parse, parse_together, peek, run_command
from selfplay.errors import UserError, setting_name
from selfplay.settings import Count, Fraction
from tests.runs import refused


@dataclass(frozen=True)
class Flags:
    """Show some flags.

    And
    more.
    """

    run: str = field(metadata={"positional": "RUN"})
    """Folder of a run."""
    others: tuple[str, ...] = field(default=(), metadata={"positional": "OTHER ..."})
    """More folders."""
    number: Count | None = None
    """A number; 100 % of them."""
    rate: Fraction = field(default=0.5, metadata={"aliases": ("--lr",)})
    """A rate."""
    kind: Literal[0, 1, "none"] = 0
    """A kind."""
    flag: bool = False
    """A flag."""
    place: Path = Path("runs")
    """A place."""
    sizes: tuple[int, ...] = (1, 2)
    """Some sizes."""


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("a", Flags("a")),
        ("a b --number 3 c", Flags("a", ("b", "c"), number=3)),
        ("a --number None --lr 1 --kind none --flag", Flags("a", rate=1.0, kind="none", flag=True)),
        ("--rate=1e-3 --kind 1 --no-flag --place x/y a", Flags("a", rate=1e-3, kind=1, place=Path("x/y"))),
        ("a --sizes 3 4 --sizes 5", Flags("a", sizes=(3, 4, 5))),
        ("a --sizes", Flags("a", sizes=())),
    ],
)
def test_every_field_is_a_flag(args: str, expected: Flags) -> None:
    assert parse(Flags, args.split(), "prog") == expected


@dataclass(frozen=True)
class Others:
    """More flags."""

    name: str = "x"
    """A name."""


def test_several_dataclasses_are_read_together_and_an_instance_holds_the_defaults() -> None:
    args = ["a", "--name", "y", "--flag"]
    expected = [Flags("a", number=5, flag=True), Others("y")]
    assert parse_together([Flags("b", number=5), Others], args, "prog", []) == expected
    assert peek(Others, args, "prog") == {"name": "y"}
    assert peek(Others, ["--help", "a"], "prog") == {}


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ("a --numbr 3", "unrecognized arguments: --numbr 3; did you mean --number? (prog --help lists every flag)"),
        ("a --flag=1", "--flag/--no-flag: takes no value, got '1' (prog --help lists every flag)"),
        ("--xyz", "unrecognized arguments: --xyz (prog --help lists every flag)"),
        ("a --number three", "--number: must be of type int, got 'three' (prog --help lists every flag)"),
        (
            "a --sizes 1 0..4",
            "--sizes: must be of type int, got '0..4'; write several as 1 2 3 (prog --help lists every flag)",
        ),
        ("a --number", "--number: expected one argument (prog --help lists every flag)"),
        ("a --number 0", "--number must be between 1 and 1,000,000,000,000, got 0"),
        ("a --kind 2", "--kind must be one of 0, 1, none, got '2'"),
        ("", "RUN is missing (prog --help lists every flag)"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(args: str, line: str) -> None:
    assert refused(parse, Flags, args.split(), "prog") == line


def test_help_fits_80_columns_and_ends_the_program_without_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        parse(Flags, ["--help"], "prog")
    assert not stop.value.code
    text = capsys.readouterr().out
    assert text.startswith("usage: prog [flags] RUN OTHER ...\n\nShow some flags.\nAnd more.\n")
    assert max(map(len, text.splitlines())) <= 80
    shown = " ".join(text.split())
    for part in (
        "RUN Folder of a run. OTHER ... More folders.",
        "--number INT A number; 100 % of them. --rate",
        "--rate FLOAT, --lr FLOAT A rate. (between 0 and 1; default: 0.5)",
        "--kind {0,1,none} A kind. (default: 0)",
        "--flag, --no-flag A flag. (default: False)",
        "--place PATH A place. (default: runs)",
        "--sizes [INT ...] Some sizes. (default: 1 2)",
    ):
        assert part in shown


def caused(error: BaseException, cause: BaseException) -> BaseException:
    """Return an error that was raised when another one was handled."""
    error.__context__ = cause
    return error


SHORT_OF_MEMORY = "prog: not enough memory for these settings"


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (None, 0, ""),
        (UserError("no such thing"), 2, "prog: no such thing\n"),
        (UserError("no\n\x1b[2Jsuch thing"), 2, "prog: no\\n\\x1b[2Jsuch thing\n"),
        (UserError("x" * 9_000), 2, f"prog: {'x' * 1_000} ... {'x' * 1_000}\n"),
        (MemoryError(), 2, f"{SHORT_OF_MEMORY} (an array was refused)\n"),
        (RuntimeError("CPU: can't allocate memory"), 2, f"{SHORT_OF_MEMORY} (CPU: can't allocate memory)\n"),
        (ImportError("failed to map segment"), 2, f"{SHORT_OF_MEMORY} (failed to map segment)\n"),
        (
            caused(OSError("it could not be found"), OSError("lib.so: cannot allocate memory")),
            2,
            f"{SHORT_OF_MEMORY} (lib.so: cannot allocate memory)\n",
        ),
        (
            RuntimeError("can't start new thread"),
            2,
            "prog: no thread can be started: end other programs, or raise the limits that `ulimit -u` and -v show\n",
        ),
        (OSError(28, "No space left on device"), 2, "prog: the output: No space left on device\n"),
        (OSError(28, "No space left on device", "runs/a/model"), 2, "prog: runs/a/model: No space left on device\n"),
        (BrokenPipeError(), 0, ""),
        (caused(SystemExit(1), BrokenPipeError()), 0, ""),  # which rich makes of it
        (caused(SystemExit(1), OSError()), 1, ""),
        (KeyboardInterrupt(), 130, "prog: interrupted\n"),
        (KeyboardInterrupt("interrupted; all is saved"), 130, "prog: interrupted; all is saved\n"),
        (caused(ValueError("no solution was found"), KeyboardInterrupt()), 130, "prog: interrupted\n"),
    ],
)
def test_exit_statuses(error: BaseException | None, status: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    def command(_: object) -> None:
        if error is not None:
            raise error

    with pytest.raises(SystemExit) as stop:
        run_command(command, "prog")
    assert stop.value.code == status
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(
    ("args", "output", "reason"),
    [
        ("train --help", "&-", "closed"),
        ("train --help", "/dev/full", "No space left on device"),
        ("", "/dev/full", "No space left on device"),
    ],
)
def test_output_that_cannot_be_written_is_one_line(args: str, output: str, reason: str, tmp_path: Path) -> None:
    program = f"{sys.executable} -m selfplay {args} >{output}"
    done = subprocess.run(["sh", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.endswith(f": the output: {reason}\n")


def test_a_bug_keeps_its_traceback() -> None:
    def command(_: object) -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        run_command(command, "prog")


@pytest.mark.parametrize("ignored", [False, True])
def test_ctrl_c_raises_in_a_command_unless_it_is_ignored(ignored: bool) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as stop:
            run_command(lambda _: signal.raise_signal(signal.SIGINT), "prog")
    finally:
        signal.signal(signal.SIGINT, before)
    assert stop.value.code == (0 if ignored else 130)


def test_a_setting_is_named_as_it_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_: object) -> None:
        raise UserError(f"{setting_name('run_dir')} {setting_name('stop', 'never')} {setting_name('force', True)}")

    with pytest.raises(SystemExit):
        run_command(refuse, "prog")
    assert capsys.readouterr().err == "prog: --run-dir --stop never --force\n"
    assert refused(refuse, ()) == "run_dir= stop='never' force=True"
