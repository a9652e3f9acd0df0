"""Flags from a dataclass, and how a command ends."""

import sys
from pathlib import Path
from typing import Literal

import pytest
from tyro.conf import Positional, UseAppendAction

from selfplay.cli.flags import parse, run_command
from selfplay.errors import MissingExtraError, UserError
from selfplay.settings import Count, Fraction, SettingsError, checked
from tictactoe.rules import UnknownRuleError


@checked
class Flags:
    """Show some flags.

    It is described
    in two lines.
    """

    run: str
    """Folder of a run, which is described
    in two lines."""
    others: Positional[tuple[str, ...]] = ()
    """More folders."""
    number: Count | None = None
    """A number."""
    rate: Fraction = 0.5
    """A rate."""
    kind: Literal[0, 1, "none"] = 0
    """A kind."""
    flag: bool = False
    """A flag."""
    place: Path = Path("runs")
    """A place."""
    sizes: tuple[int, ...] = (1, 2)
    """Some sizes."""
    more: UseAppendAction[tuple[str, ...]] = ()
    """Given several times."""


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("a", Flags("a")),
        ("a b c --number 3", Flags("a", ("b", "c"), number=3)),
        ("a --number None --rate 1 --kind none --flag", Flags("a", rate=1.0, kind="none", flag=True)),
        ("--rate=1e-3 --kind 1 --no-flag --place x/y a", Flags("a", rate=1e-3, kind=1, place=Path("x/y"))),
        ("a --sizes 3 4", Flags("a", sizes=(3, 4))),
        ("a --sizes", Flags("a", sizes=())),
        ("a --more x=1 --more y=2", Flags("a", more=("x=1", "y=2"))),
    ],
)
def test_every_field_is_a_flag(args: str, expected: Flags) -> None:
    assert parse(Flags, args.split(), "prog") == expected


@pytest.mark.parametrize("columns", [40, 300])
def test_the_help_is_broken_where_the_terminal_ends(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit, match="0"):
        parse(Flags, ["--help"], "prog")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    found = [line for line in lines if "described in two lines." in line]
    assert len(found) == (2 if columns == 300 else 1)


@pytest.mark.parametrize(
    ("error", "status", "complaint"),
    [
        (None, 0, ""),
        (UserError("no such thing"), 2, "prog: no such thing\n"),
        (SettingsError("`eval_every` is like no `k`"), 2, "prog: --eval-every is like no --k\n"),
        (UserError("no\n\x1b[2Jsuch thing"), 2, "prog: no\\n\\x1b[2Jsuch thing\n"),
        (MissingExtraError("install it"), 2, "prog: install it\n"),
        (UnknownRuleError("no such rule here"), 2, "prog: no such rule here\n"),
        (KeyboardInterrupt(), 130, "prog: interrupted\n"),
        (KeyboardInterrupt("interrupted; all is saved"), 130, "prog: interrupted; all is saved\n"),
    ],
)
def test_exit_statuses(
    error: BaseException | None, status: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(_: object) -> None:
        if error is not None:
            raise error

    with pytest.raises(SystemExit) as stop:
        run_command(command, "prog", [])
    assert stop.value.code == status
    assert capsys.readouterr().err == complaint


def test_a_missing_extra_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    def command(_: object) -> None:
        raise ModuleNotFoundError("No module named 'safetensors.numpy'", name="safetensors.numpy")

    with pytest.raises(SystemExit, match="2"):
        run_command(command, "prog", [])
    complaint = capsys.readouterr().err
    assert [name for name in ("safetensors", "[train]") if name not in complaint] == []


def test_a_bug_keeps_its_traceback() -> None:
    def command(_: object) -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        run_command(command, "prog", [])


def test_a_script_is_given_the_flags_that_were_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["script.py", "--number", "3"])
    given: list[str] = []
    with pytest.raises(SystemExit):
        run_command(given.extend, "prog")
    assert given == ["--number", "3"]
