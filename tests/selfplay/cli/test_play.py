"""A game in the terminal: the dialogue alone, and the program through a pseudo-terminal."""

import io
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from selfplay.cli.play import Quit, main, play_game, play_games
from selfplay.judging.agents import AgentPolicy
from selfplay.players import NamedPolicy
from tests.children import at_terminal
from tictactoe import Rules

PROMPT = "plays (square 1 to 9; 0 or q quits): "
GENERATOR = np.random.default_rng(0)


def scripted_opponent(*cells: int) -> NamedPolicy:
    script = iter(cells)
    agent = SimpleNamespace(probabilities=lambda _: np.eye(9)[[next(script)]])
    return NamedPolicy("script", AgentPolicy(agent, Rules(), twice=False), None, None)


def answers(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@pytest.mark.parametrize(
    ("person", "replies", "lines", "winner"),
    [
        (0, (3, 4), "123", 0),
        (0, (3, 4, 5), "129", 1),
        (1, (0, 1, 8), "456", 1),
        (0, (1, 4, 5, 6), "13489", None),
        (0, (0,), "1", 0),  # a taken cell loses
    ],
)
def test_games_end_as_the_rules_say(
    person: int, replies: tuple[int, ...], lines: str, winner: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, *lines)
    assert play_game(scripted_opponent(*replies), person, False, GENERATOR) == winner


@pytest.mark.parametrize(("seat", "seats"), [("alternate", "XOX"), ("first", "XXX"), ("second", "OOO")])
def test_seats_alternate_or_stay(
    seat: str, seats: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, *"123y123y123n")
    replies = "".join({"X": "34", "O": "348"}[mark] for mark in seats)
    with pytest.raises(Quit):
        play_games(scripted_opponent(*map(int, replies)), seat, False, GENERATOR)
    shown = capsys.readouterr().out
    assert re.findall("^You are ([XO]) and move (first|second)", shown, re.MULTILINE) == [
        (mark, {"X": "first", "O": "second"}[mark]) for mark in seats
    ]
    assert "You win. You have won 3, drawn 0 and lost 0." in shown


def test_only_yes_starts_another_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answers(monkeypatch, *"123", "perhaps", "Y", *"129", "no", "1")
    with pytest.raises(Quit):
        play_games(scripted_opponent(3, 4, 3, 4, 5), "first", False, GENERATOR)
    shown = capsys.readouterr().out
    assert "'perhaps' is neither y nor n.\nAnother game? (y or n) " in shown
    assert "script wins. You have won 1, drawn 0 and lost 1." in shown
    assert shown.count("You are X") == 2


@pytest.mark.parametrize("last", ["0\n", "Q\n", "quit\n", "", "1\nq\n", "1\n"])
def test_every_way_to_quit(last: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One move ends the game, after which another one is offered."""
    monkeypatch.setattr("sys.stdin", io.StringIO(last))
    main(["random", "--rows", "1", "--cols", "1", "--k", "1", "--seat", "first"])
    assert capsys.readouterr().out.endswith("Goodbye.\n")


def test_senseless_input_asks_again_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, "five", "", "5", "5", "q")
    main(["optimal", "--seat", "first", "--seed", "0"])
    shown = capsys.readouterr().out
    for complaint in (
        "'five' is not a square of this board",
        "an empty line is not a square of this board",
        "5 is taken",
    ):
        assert f"\n{complaint}.\nX {PROMPT}" in shown
    assert shown.count("---+---+---") == 4  # the board is shown twice
    assert "Hints" not in shown


@pytest.mark.parametrize(
    ("columns", "expected"),
    [("80", " 1 | 2 | 3     *draw |*draw |*draw"), ("20", " 7 | 8 | 9 *draw |*draw |*draw")],
)
def test_hints_are_beside_the_board_where_there_is_room_and_below_where_not(
    columns: str, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    answers(monkeypatch, "q")
    main(["optimal", "--hints"])
    shown = capsys.readouterr().out
    assert expected in (shown if columns == "80" else f" {' '.join(shown.split())}")


def test_hints_that_do_not_exist_are_missed_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, "q")
    main(["heuristic", "--hints"])
    shown = capsys.readouterr().out
    assert "Hints: none; only trained players and optimal have values to show.\n" in shown
    assert shown.count("---+---+---") == 2


def test_a_game_in_each_seat_against_the_shipped_player_in_which_taken_squares_lose_nothing() -> None:
    terminal = at_terminal("play", "--hints")
    terminal.expect_exact("against shipped (our proved player) on 3x3; 3 in a row win.\r\n")
    terminal.expect_exact("about +1 or more for a win, 0 for a draw, -1 or less for a loss.")
    for seat in ("X and move first", "O and move second"):
        terminal.expect_exact(PROMPT)
        shown = terminal.before
        assert f"You are {seat}." in shown
        for square in range(1, 10):
            terminal.sendline(str(square))
            over = terminal.expect_exact([PROMPT, "(y or n) "])
            shown += terminal.before
            if over:
                break
        assert "You have won 0" in shown
        assert " is taken.\r\n" in shown
        assert "\x1b[30;" in shown  # a colour
        terminal.sendline("y")
    terminal.expect_exact(PROMPT)
    terminal.sendintr()
    assert terminal.read().endswith("\r\nselfplay play: interrupted\r\n")
    assert terminal.wait() == 130


def test_answers_may_come_through_a_pipe_which_gets_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # even then
    command = [sys.executable, "-m", "selfplay", "play", "optimal", "--seat", "first", "--hints"]
    done = subprocess.run(command, input=b"5\n\xff\n", capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()
    assert f"X {PROMPT}5" in lines
    assert lines[-3:] == [r"'\\xff' is not a square of this board.", f"X {PROMPT}", "Goodbye."]
    assert b"\x1b" not in done.stdout
