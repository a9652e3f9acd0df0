"""A game in the terminal: the dialogue alone, and the program through a pseudo-terminal."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest

from selfplay.cli.play import Quit, main, play_game, play_games
from selfplay.named_players import NamedPolicy
from tests.children import at_terminal
from tests.selfplay.judge.hand_made_players import policy_of

PROMPT = "plays (square 1 to 9; 0 or q quits): "
GENERATOR = np.random.default_rng(0)


def scripted_opponent(*cells: int) -> NamedPolicy:
    script = iter(cells)
    agent = SimpleNamespace(probabilities=lambda _: np.eye(9)[[next(script)]])
    return NamedPolicy("script", policy_of(agent), None, None)


def starts(shown: str) -> list[tuple[str, str]]:
    """Return the person's mark and whether it moves first or second, as told at the start of each game."""
    return re.findall(r"([XO]) .*\b(first|second)\b", shown)


def tallies(shown: str) -> list[tuple[str, ...]]:
    """Return the games won, drawn and lost so far, as told at the end of each game."""
    return re.findall(r" (\d+), \w+ (\d+) \w+ \w+ (\d+)\.", shown)


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
    assert play_game(scripted_opponent(*replies), person, "none", GENERATOR) == winner


@pytest.mark.parametrize(("seat", "seats"), [("alternate", "XOX"), ("first", "XXX"), ("second", "OOO")])
def test_seats_alternate_or_stay(
    seat: str, seats: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, *"123y123y123n")
    replies = "".join({"X": "34", "O": "348"}[mark] for mark in seats)
    with pytest.raises(Quit):
        play_games(scripted_opponent(*map(int, replies)), seat, "none", GENERATOR)
    shown = capsys.readouterr().out
    assert starts(shown) == [(mark, {"X": "first", "O": "second"}[mark]) for mark in seats]
    assert tallies(shown)[-1] == ("3", "0", "0")


def test_a_bad_or_taken_square_asks_again(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answers(monkeypatch, "five", "", "5", "5", "q")
    main(["optimal", "--seat", "first", "--seed", "0"])
    shown = capsys.readouterr().out
    assert shown.count(PROMPT) == 5
    assert shown.count("---+---+---") == 4  # the board is shown twice


@pytest.mark.parametrize("flags", [["--hints"], ["--hints", "true"], ["--hints", "--seed", "0"]])
def test_a_bare_flag_of_hints_shows_what_is_true(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, "q")
    main(["heuristic", *flags])
    assert capsys.readouterr().out.count("*draw") == 9


def test_a_game_in_each_seat_at_a_terminal_in_which_taken_squares_lose_nothing() -> None:
    terminal = at_terminal("play", "--hints")
    for seat in (("X", "first"), ("O", "second")):
        terminal.expect_exact(PROMPT)
        shown = terminal.before
        assert starts(shown) == [seat]
        for square in range(1, 10):
            terminal.sendline(str(square))
            over = terminal.expect_exact([PROMPT, "(y or n) "])
            shown += terminal.before
            if over:
                break
        assert tallies(shown)[-1][0] == "0"
        assert re.search(r"^[1-9] \D+\.\r$", shown, re.MULTILINE)  # the number of a taken square, and why not
        assert "\x1b[30;" in shown  # a colour
        terminal.sendline("y")
    terminal.expect_exact(PROMPT)
    terminal.sendintr()
    assert "Traceback" not in terminal.read()
    assert terminal.wait() == 130
