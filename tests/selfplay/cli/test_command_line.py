"""Mistakes on the command line become one line each."""

import io
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import tyro

from selfplay.command_line import parse, run_command
from selfplay.errors import UserError
from tests.runs import refused


@dataclass(frozen=True)
class Flags:
    """Some flags."""

    number: int = 1
    """A number."""
    name: str = "x"
    """A name."""

    def __post_init__(self) -> None:
        if self.number < 0:
            raise UserError(f"--number must not be negative, got {self.number}")


def test_flags_override_defaults_and_defaults_can_be_given() -> None:
    assert parse(Flags, ["--number", "3"], "prog") == Flags(3)
    assert parse(Flags, ["--number", "3"], "prog", default=Flags(5, "y")) == Flags(3, "y")


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        (["--numbr", "3"], "Unrecognized options: --numbr, 3 (perhaps you meant --number; prog --help lists"),
        (["--number", "three"], "--number: invalid literal for int() with base 10: 'three' (prog --help lists"),
        (["--number", "-3"], "--number must not be negative, got -3 (prog --help lists"),
        (["extra"], "Unrecognized options: extra (prog --help lists"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(args: list[str], gist: str) -> None:
    line = refused(parse, Flags, args, "prog")
    assert gist in line
    assert "│" not in line


@dataclass(frozen=True)
class Command:
    """Something is done to a run."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder of a run."""


def test_what_is_missing_is_named() -> None:
    with pytest.raises(UserError, match=r"^RUN is missing: Folder of a run \(prog --help lists"):
        parse(Command, [], "prog")


@pytest.mark.parametrize("columns", [None, "40", "83"])
def test_a_long_value_is_named_as_it_was_given(columns: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    value = "1,000,000," * 12
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    with pytest.raises(UserError, match=value):
        parse(Flags, ["--number", value], "prog")
    assert os.environ.get("COLUMNS") == columns


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_mistake_is_named_on_every_terminal(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding))
    with pytest.raises(UserError, match=r"^--number must not be negative, got -3 \(prog"):
        parse(Flags, ["--number", "-3"], "prog")
    with pytest.raises(UserError, match=r"^Unrecognized options: --numbr, 3 \(perhaps you meant --number; prog"):
        parse(Flags, ["--numbr", "3"], "prog")


def test_help_ends_the_program_without_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parse(Flags, ["--help"], "prog")
    assert not stop.value.code
    assert "A number." in capsys.readouterr().out


def caused(error: Exception, cause: Exception) -> Exception:
    """Return an error that was raised when another one was handled."""
    error.__context__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (None, 0, ""),
        (UserError("no such thing"), 2, "prog: no such thing\n"),
        (UserError("no\n\x1b[2Jsuch thing"), 2, "prog: no\\n\\x1b[2Jsuch thing\n"),
        (UserError("x" * 9_000), 2, f"prog: {'x' * 1_000} ... {'x' * 1_000}\n"),
        (MemoryError(), 2, "prog: there is not the memory for these settings (an array was refused)\n"),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory"),
            2,
            "prog: there is not the memory for these settings (DefaultCPUAllocator: can't allocate memory)\n",
        ),
        (
            ImportError("libtorch_cpu.so: failed to map segment from shared"),
            2,
            "prog: there is not the memory for these settings (libtorch_cpu.so: failed to map segment from shared)\n",
        ),
        (
            caused(OSError("it could not be found"), OSError("libllvmlite.so: cannot allocate memory")),
            2,
            "prog: there is not the memory for these settings (libllvmlite.so: cannot allocate memory)\n",
        ),
        (
            RuntimeError("can't start new thread"),
            2,
            "prog: no thread can be started: end other programs, or raise the limits that `ulimit -u` and -v show\n",
        ),
        (OSError(28, "No space left on device"), 2, "prog: the output: No space left on device\n"),
        (OSError(28, "No space left on device", "runs/a/model"), 2, "prog: runs/a/model: No space left on device\n"),
        (BrokenPipeError(), 0, ""),
        (KeyboardInterrupt(), 130, "prog: interrupted\n"),
        (KeyboardInterrupt("interrupted; all is saved"), 130, "prog: interrupted; all is saved\n"),
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


def test_output_that_is_refused_in_the_end_is_a_mistake_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

        def fileno(self) -> int:
            return os.open(os.devnull, os.O_WRONLY)

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit) as stop:
        run_command(lambda _: None, "prog")
    assert stop.value.code == 2
    assert capsys.readouterr().err == "prog: the output: No space left on device\n"


def test_ctrl_c_that_a_library_takes_for_a_failure_is_an_interrupt_still(capsys: pytest.CaptureFixture[str]) -> None:
    def command(_: object) -> None:
        try:
            raise KeyboardInterrupt
        except:  # noqa: E722
            raise ValueError("no solution was found") from None

    with pytest.raises(SystemExit) as stop:
        run_command(command, "prog")
    assert stop.value.code == 130
    assert capsys.readouterr().err == "prog: interrupted\n"


@pytest.mark.parametrize(("broken", "status"), [(True, 0), (False, 1)])
def test_an_exit_because_nobody_reads_on_is_no_failure(broken: bool, status: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    def command(_: object) -> None:
        try:
            os.write(writer if broken else -1, b"a table")
        except OSError:
            sys.exit(1)  # as rich does

    with pytest.raises(SystemExit) as stop:
        run_command(command, "prog")
    os.close(writer)
    assert stop.value.code == status


def test_a_bug_keeps_its_traceback() -> None:
    def command(_: object) -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        run_command(command, "prog")


def handlers_in_and_after_a_command(handler: signal.Handlers) -> list[object]:
    """Return what is done at Ctrl-C while a command runs and after it, where `handler` was there before."""
    handlers: list[object] = []
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(SystemExit):
            run_command(lambda _: handlers.append(signal.getsignal(signal.SIGINT)), "prog")
        return [*handlers, signal.getsignal(signal.SIGINT)]
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_raises_in_a_command_and_ends_the_process_before_and_after() -> None:
    assert handlers_in_and_after_a_command(signal.SIG_DFL) == [signal.default_int_handler, signal.SIG_DFL]


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler])
def test_another_way_with_ctrl_c_is_left_alone(handler: signal.Handlers) -> None:
    assert handlers_in_and_after_a_command(handler) == [handler, handler]
