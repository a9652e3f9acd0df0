"""The dialogue of a game against a person: what is shown, asked and counted."""

import sys

from rich.console import Console
from rich.table import Table

from selfplay.errors import UserError
from selfplay.play.board import board, hint_board, how_to_name, read_square, shown, square_name
from selfplay.play.opponent import Opponent
from selfplay.position import Position
from tictactoe.rendering.text import MARKS

QUIT_ANSWERS = ("0", "q", "quit")
GAP = 4
"""Columns between boards side by side."""


class Quit(Exception):  # noqa: N818 (no error)
    """The person wants to play no longer, or nobody is there."""


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
            if cell not in position.empty:
                print(f"{opponent.name} plays {square_name(opponent.rules, cell)}, which is taken, and loses by that.")
                return person
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
