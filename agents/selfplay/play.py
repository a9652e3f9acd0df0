"""Play against a trained player or a built-in opponent: `python -m selfplay.play`."""

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console
from rich.table import Table

from selfplay.checks import require
from selfplay.command_line import parse, run_command
from selfplay.errors import UserError
from selfplay.play_board import Position, board, hint_board, how_to_name, read_square, shown, square_name
from selfplay.play_opponent import SHIPPED, SHIPPED_FOLDER, Opponent, built_in, trained
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.drawing.text import MARKS

PROG = "python -m selfplay.play"
QUIT_ANSWERS = ("0", "q", "quit")
BOARD_FLAGS = ("rows", "cols", "k")
GAP = 4
"""Columns between boards side by side."""


@dataclass(frozen=True)
class PlayConfig:
    """Play in the terminal. 0 or q quits, and so does the end of input; Ctrl-C quits with exit status 130."""

    opponent: Annotated[str, tyro.conf.Positional] = SHIPPED
    """Folder that `python train.py` has left, or one of: shipped (the proved player of this package), optimal,
    heuristic (wins, else blocks, else moves at random), random."""
    seat: Literal["alternate", "first", "second"] = "alternate"
    """Your seat: "alternate" is first in the first game and changes after each."""
    hints: bool = False
    """Show before each of your moves what every free square is worth to you."""
    seed: int | None = None
    """Seed of a built-in opponent's choices; None makes each session another."""
    rows: int | None = None
    """Board height of a built-in opponent, cells; None is 3."""
    cols: int | None = None
    """Board width of a built-in opponent, cells; None is 3."""
    k: int | None = None
    """Marks in a row that win against a built-in opponent; None is 3."""

    def __post_init__(self) -> None:
        require(self.seed is None or self.seed >= 0, "seed", "0 or more", self.seed)


class Quit(Exception):  # noqa: N818 (no error)
    """The person wants to play no longer, or nobody is there."""


def choose_opponent(config: PlayConfig) -> Opponent:
    """Return the opponent that the flags name.

    Raises:
        UserError: there is none, or the flags do not suit it.
    """
    sizes = {name: getattr(config, name) for name in BOARD_FLAGS if getattr(config, name) is not None}
    if config.opponent in OPPONENTS:
        try:
            rules = Rules(**sizes)
        except ValueError as error:
            raise UserError(str(error)) from None
        return built_in(config.opponent, rules, config.seed)
    folder = SHIPPED_FOLDER if config.opponent == SHIPPED else Path(config.opponent)
    if not folder.is_dir():
        names = ", ".join((SHIPPED, *OPPONENTS))
        raise UserError(f"{config.opponent}: is neither the folder of a run nor one of {names}")
    opponent = trained(config.opponent, folder)
    for name, value in sizes.items():
        require(value == getattr(opponent.rules, name), name, f"that of {opponent.name}, {opponent.rules}", value)
    return opponent


def main(args: Sequence[str]) -> None:
    """Play games until the person quits."""
    config = parse(PlayConfig, args, PROG)
    opponent = choose_opponent(config)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what is no text is no square either, and a reason to ask again
    try:
        play_games(opponent, config.seat, config.hints)
    except Quit:
        print("Goodbye.")


def play_games(opponent: Opponent, seat: str, hints: bool) -> None:
    """Play game after game, keep the score and offer another one.

    Raises:
        Quit: the person quits, or the input ends.
    """
    rules = opponent.rules
    print(f"You play against {opponent.name} on {rules.rows}x{rules.cols}; {rules.k} in a row win.")
    if hints:
        print(f"Hints: {opponent.about_hints}")
    wins, draws, losses = 0, 0, 0
    person = 1 if seat == "second" else 0
    while True:
        winner = play_game(opponent, person, hints)
        wins, draws, losses = wins + (winner == person), draws + (winner is None), losses + (winner == 1 - person)
        result = "A draw." if winner is None else "You win." if winner == person else f"{opponent.name} wins."
        print(f"{result} You have won {wins}, drawn {draws} and lost {losses}.")
        if not another_game():
            raise Quit
        if seat == "alternate":
            person = 1 - person


def play_game(opponent: Opponent, person: int, hints: bool) -> int | None:
    """Play one game in which the person has the seat `person`; return the winner's seat, None for a draw.

    Raises:
        Quit: the person quits, or the input ends.
    """
    console = Console(highlight=False)
    position = Position(opponent.rules)
    print(f"\nYou are {MARKS[person]} and move {('first', 'second')[person]}.")
    while not position.over:
        if position.seat == person:
            show(console, position, opponent if hints else None)
            cell = ask_square(position)
        else:
            cell = opponent.move(position)
            print(f"{opponent.name} plays {square_name(opponent.rules, cell)}.")
        position = position.after(cell)
    show(console, position)
    return position.winner


def show(console: Console, position: Position, rater: Opponent | None = None) -> None:
    """Print the board, and beside it, or below where the terminal is narrow, what the squares are worth."""
    boards = [board(position)]
    if rater is not None and rater.hints is not None:
        boards.append(hint_board(position, rater.hints(position)))
    side_by_side = Table.grid(padding=(0, GAP, 0, 0))
    side_by_side.add_row(*boards)
    widths = [len(drawn.plain.partition("\n")[0]) for drawn in boards]  # all lines of a board are equally long
    fits = sum(widths) + GAP * (len(boards) - 1) <= console.width
    print()
    for drawn in [side_by_side] if fits else boards:
        console.print(drawn, no_wrap=True, overflow="ignore", crop=False)
        print()


def ask_square(position: Position) -> int:
    """Ask for a free square until one is named.

    Raises:
        Quit: the person quits, or the input ends.
    """
    question = f"{MARKS[position.seat]} plays ({how_to_name(position.rules)}; 0 or q quits): "
    wrong = ""
    while True:
        answer = ask(wrong + question)
        try:
            return read_square(position, answer)
        except UserError as error:
            wrong = f"{error}. "


def another_game() -> bool:
    """Ask whether to play again.

    Raises:
        Quit: the person quits, or the input ends.
    """
    question = "Another game? (y or n) "
    wrong = ""
    while True:
        answer = ask(wrong + question).lower()
        if answer in ("y", "yes", "n", "no"):
            return answer.startswith("y")
        wrong = f"{shown(answer)} is neither. "


def ask(question: str) -> str:
    """Return a line of input without blanks around it.

    Raises:
        Quit: it asks to quit, or the input has ended.
    """
    try:
        print(question, end="", flush=True)
        line = sys.stdin.readline() if sys.stdin else ""
    except KeyboardInterrupt:
        print()
        raise
    if not (line and sys.stdin.isatty()):
        print(line.strip())  # as the terminal would have shown it
    answer = line.strip()
    if not line or answer.lower() in QUIT_ANSWERS:
        raise Quit
    return answer


if __name__ == "__main__":
    run_command(main, PROG)
