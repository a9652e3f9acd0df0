"""Where no cursor moves, commands print lines: on a dumb terminal, and off a terminal."""

import io
import re
import sys
from pathlib import Path

import pytest

from benchmarks.learning.waiting import run_on_terminal
from selfplay.cli import train
from selfplay.cli.main import main
from tests.children import at_terminal

TRAINING = ["train", "td-backup", "--games", "600", "--eval-every", "200"]


@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
def test_a_dumb_terminal_gets_lines_and_another_colours_and_a_block_that_is_redrawn(
    terminal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setenv("COLUMNS", "200")
    shown = bytearray()
    command = ["-m", "selfplay", *TRAINING, "--run-dir", str(tmp_path / "it")]
    assert run_on_terminal([sys.executable, *command], shown.extend) == 0
    text = shown.decode().replace("\r\n", "\n")  # as a terminal writes a line's end
    assert ("\n200 games: games lost " in text) == (terminal == "dumb")
    assert text.replace("\n", "").isprintable() == (terminal == "dumb")
    assert ("\n\x1b[1;31mNOT unbeatable\x1b[0m: some" in text) == (terminal == "xterm")
    order = ["NOT unbeatable", "Exact evaluation", "that beats the player", "\nThe run is in"]
    parts = [text.index(part) for part in order]
    assert parts == sorted(parts)
    commands = [line for line in text[parts[-1] :].splitlines() if line.startswith("  ")]
    assert len({len(line) - len(line.rpartition("  ")[2]) for line in commands}) == 1  # in one column


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("line", ["prove rule", "play rule", "arena random rule", "certify shipped", "course"])
def test_lines_break_between_words(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of a command alone do not, so that it can be copied."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("x\n"))
    with pytest.raises(SystemExit):
        main(line.split())
    shown = re.sub(r"\x1b\[[\d;?]*\w|\n  python .*", "\r", capsys.readouterr().out)
    assert max(map(len, shown.splitlines())) <= 60


def test_a_mistake_is_one_line_without_colours() -> None:
    mistake = "selfplay train: unrecognized arguments: --xyz (selfplay train --help lists every flag)\r\n"
    assert at_terminal("train", "--xyz").read() == mistake


def test_on_a_board_that_a_seat_wins_the_score_says_what_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = "--rows 1 --cols 2 --k 1 --hidden 16 --mask --num-envs 8 --warmup 64 --batch-size 32 --eval-every 200"
    train.main([*flags.split(), "--run-dir", str(tmp_path / "it")])
    out = capsys.readouterr().out
    assert "; proved unexploitable 3 of 3 times in a row" in out
    assert "proved unbeatable" not in out
