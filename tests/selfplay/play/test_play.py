"""A game in the terminal: the dialogue alone, and the program through a pseudo-terminal."""

import codecs
import io
import itertools
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from selfplay.evaluation.agents import AgentPolicy
from selfplay.play.command import Quit, main, play_game, play_games
from selfplay.players import NamedPolicy
from tictactoe import Rules

OVERALL_LIMIT = 60
"""Seconds after which a test gives up on a program that says nothing more."""

PROMPT = "plays (square 1 to 9; 0 or q quits): "
GENERATOR = np.random.default_rng(0)


def scripted_opponent(*cells: int) -> NamedPolicy:
    script = iter(cells)
    return NamedPolicy("script", AgentPolicy(lambda _: next(script), Rules(), twice=False), None, None)


def answers(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@pytest.mark.parametrize(
    ("person", "replies", "lines", "winner"),
    [
        (0, (3, 4), ("1", "2", "3"), 0),
        (0, (3, 4, 5), ("1", "2", "9"), 1),
        (1, (0, 1, 8), ("4", "5", "6"), 1),
        (1, (0, 1, 2), ("4", "5"), 0),
        (0, (1, 4, 5, 6), ("1", "3", "4", "8", "9"), None),
        (0, (0,), ("1",), 0),  # a taken cell loses
    ],
)
def test_games_end_as_the_rules_say(
    person: int, replies: tuple[int, ...], lines: tuple[str, ...], winner: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, *lines)
    assert play_game(scripted_opponent(*replies), person, False, GENERATOR) == winner


@pytest.mark.parametrize(
    ("seat", "moves"),
    [("alternate", ["first", "second", "first"]), ("first", ["first"] * 3), ("second", ["second"] * 3)],
)
def test_seats_alternate_or_stay(
    seat: str, moves: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = ["1", "2", "3"]
    replies = {"first": (3, 4), "second": (3, 4, 8)}
    answers(monkeypatch, *game, "y", *game, "y", *game, "n")
    opponent = scripted_opponent(*itertools.chain.from_iterable(replies[turn] for turn in moves))
    with pytest.raises(Quit):
        play_games(opponent, seat, False, GENERATOR)
    shown = capsys.readouterr().out
    told = [line for line in shown.splitlines() if line.startswith("You are")]
    assert told == [f"You are {'X' if turn == 'first' else 'O'} and move {turn}." for turn in moves]
    assert "You win. You have won 3, drawn 0 and lost 0." in shown


def test_only_yes_starts_another_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answers(monkeypatch, "1", "2", "3", "perhaps", "", "Y", "1", "2", "9", "no", "1")
    with pytest.raises(Quit):
        play_games(scripted_opponent(3, 4, 3, 4, 5), "first", False, GENERATOR)
    shown = capsys.readouterr().out
    assert "'perhaps' is neither. Another game? (y or n) " in shown
    assert "an empty line is neither. " in shown
    assert "script wins. You have won 1, drawn 0 and lost 1." in shown
    assert shown.count("You are X") == 2


@pytest.mark.parametrize("last", ["0", "Q", "quit", ""], ids=["0", "q", "quit", "end"])
@pytest.mark.parametrize("first", [[], ["1"]], ids=["at the first move", "after the game"])
def test_every_way_to_quit(
    first: list[str], last: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, *first, *([last] if last else []))
    main(["random", "--rows", "1", "--cols", "1", "--k", "1", "--seat", "first"])
    assert capsys.readouterr().out.endswith("Goodbye.\n")


def test_senseless_input_asks_again_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, "five", "10", "", "9" * 3_000, "5", "5", "q")
    main(["optimal", "--seat", "first", "--seed", "0"])
    shown = capsys.readouterr().out
    for complaint in ("'five' is no square", "'10' is not on the board", "an empty line is no square", "5 is taken"):
        assert f"\n{complaint}. X {PROMPT}" in shown
    assert f"\n'{'9' * 20}'... is no square. X {PROMPT}" in shown
    assert shown.count("---+---+---") == 4  # the board is shown twice


def test_hints_stand_beside_the_board_where_there_is_room_and_below_where_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answers(monkeypatch, "q")
    main(["optimal", "--hints"])
    wide = capsys.readouterr().out
    assert " 1 | 2 | 3     *draw |*draw |*draw" in wide
    monkeypatch.setenv("COLUMNS", "20")
    answers(monkeypatch, "q")
    main(["optimal", "--hints"])
    narrow = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    below = narrow.index(" 7 | 8 | 9")
    assert narrow[below + 1 : below + 4] == ["", "", "*draw |*draw |*draw"]


def test_hints_that_do_not_exist_are_missed_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, "q")
    main(["heuristic", "--hints"])
    shown = capsys.readouterr().out
    assert "Hints: none, for heuristic rates no squares.\n" in shown
    assert shown.count("---+---+---") == 2


BOOTSTRAP = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that ^C becomes a signal
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
os.execv(sys.executable, [sys.executable, "-m", "selfplay", "play", *sys.argv[1:]])
"""


class Terminal:
    """Run the program on a pseudo-terminal of its own."""

    def __init__(self, *args: str, **environment: str) -> None:
        self.keyboard, inside = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", BOOTSTRAP, *args],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment},
        )
        os.close(inside)
        self.deadline = time.monotonic() + OVERALL_LIMIT
        self.seen = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.keyboard)

    def read_until(self, *expected: str) -> str:
        """Return what is shown up to one of the expected texts; without any, up to the end of the program."""
        shown = ""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while not any(text in shown for text in expected):
            ready, _, _ = select.select([self.keyboard], [], [], max(0.0, self.deadline - time.monotonic()))
            assert ready, f"waited in vain for {expected} after {shown!r}"
            try:
                piece = os.read(self.keyboard, 4096)
            except OSError:  # how Linux says that nobody has the terminal open any more
                piece = b""
            if not piece:
                assert not expected, f"ended before {expected}: {shown!r}"
                break
            shown += decoder.decode(piece).replace("\r", "")
        self.seen += shown
        return shown

    def type(self, keys: bytes) -> None:
        os.write(self.keyboard, keys)

    def ended(self) -> int:
        """Return the exit status after the last words."""
        self.read_until()
        assert "Traceback" not in self.seen
        return self.process.wait(OVERALL_LIMIT)


def test_a_game_in_each_seat_against_the_shipped_player_in_which_taken_squares_lose_nothing() -> None:
    with Terminal("--hints") as terminal:
        for seat in ("X and move first", "O and move second"):
            assert f"You are {seat}." in terminal.read_until(PROMPT)
            for square in range(1, 10):
                terminal.type(b"%d\n" % square)
                answered = terminal.read_until(PROMPT, "(y or n) ")
                if "(y or n) " in answered:
                    break
                if f"{square} is taken. " in answered:
                    assert "---" not in answered  # one line
            assert "You have won 0" in answered
            terminal.type(b"y\n")
        terminal.read_until(PROMPT)
        terminal.type(b"\x03")
        assert terminal.ended() == 130
    assert " is taken. " in terminal.seen
    assert "\x1b[30;" in terminal.seen  # a colour
    assert terminal.seen.endswith("\nselfplay play: interrupted\n")


def test_a_terminal_without_colours_gets_none_and_ctrl_d_quits() -> None:
    with Terminal("optimal", "--hints", TERM="dumb") as terminal:
        terminal.read_until(PROMPT)
        terminal.type(b"\x04")
        assert terminal.ended() == 0
    assert "*draw " in terminal.seen
    assert "\x1b" not in terminal.seen
    assert terminal.seen.endswith("\nGoodbye.\n")


def test_answers_may_come_through_a_pipe(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "selfplay", "play", "optimal", "--seat", "first"]
    done = subprocess.run(command, input=b"5\n\xff\n", cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert f"X {PROMPT}5" in lines
    assert lines[-2:] == [rf"'\ufffd' is no square. X {PROMPT}", "Goodbye."]
    assert "\x1b" not in done.stdout.decode()
