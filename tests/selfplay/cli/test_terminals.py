"""Where no cursor moves, commands print lines: on a dumb terminal, behind a notebook's `!`, and off a terminal."""

import sys
from pathlib import Path

import pytest

from benchmarks.learning.waiting import run_on_terminal
from selfplay.cli import train
from tests.runs import python

TRAINING = ["train", "td-backup", "--games", "600", "--eval-every", "200"]
PROVING = ["prove", "rule"]


@pytest.mark.parametrize(
    ("terminal", "command", "moves"),
    [("xterm", TRAINING, True), ("dumb", TRAINING, False), ("xterm-color", PROVING, False)],
    ids=["a terminal", "a dumb one", "a notebook"],
)
def test_only_a_terminal_that_can_gets_what_moves_its_cursor(
    terminal: str, command: list[str], moves: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a notebook does
    shown = bytearray()
    out = ["--run-dir", str(tmp_path / "it")] if command == TRAINING else []
    assert run_on_terminal([sys.executable, "-m", "selfplay", *command, *out], shown.extend) == 0
    text = shown.decode().replace("\r\n", "\n")  # as a terminal writes a line's end
    assert any(not char.isprintable() and char != "\n" for char in text) == moves
    assert ("\n200 games: games lost " in text) == (terminal == "dumb")


def test_off_a_terminal_forced_colours_bring_no_spinner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = python("-m", "selfplay", *PROVING, cwd=tmp_path)
    assert done.returncode == 0
    assert all(char.isprintable() or char == "\n" for char in done.stdout)


def test_on_a_board_that_a_seat_wins_the_score_says_what_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = "--rows 1 --cols 2 --k 1 --hidden 16 --mask --num-envs 8 --warmup 64 --batch-size 32 --eval-every 200"
    train.main([*flags.split(), "--run-dir", str(tmp_path / "it")])
    out = capsys.readouterr().out
    assert "; proved unexploitable 3 of 3 times in a row" in out
    assert "proved unbeatable" not in out
