"""Play against a player: `selfplay play [PLAYER]`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
from rich.columns import Columns
from tyro.conf import Positional

from selfplay.cli.flags import parse
from selfplay.cli.play_board import Hint, board_table, read_square
from selfplay.errors import UserError
from selfplay.judge.agent_tables import finite_values, value_text
from selfplay.judge.move_values import exact_moves
from selfplay.named_players import BoardFlags, NamedPolicy, resolve
from selfplay.position import Position
from selfplay.program import open_console, say
from selfplay.protocols import Player
from selfplay.runs.load import SHIPPED, SHIPPED_FOLDERS
from selfplay.settings import Seed, checked
from selfplay.verdict_text import NAMES
from tictactoe.opponents import MOVE_POSITIONS, OPPONENTS, best_known
from tictactoe.rendering.text import MARKS
from tictactoe.rules import WORD_BITS
from tictactoe.tree import SOLVABLE_CELLS

Answer = TypeVar("Answer")
Hints: TypeAlias = Literal["none", "true", "learned"]
QUIT_ANSWERS = ("0", "q", "quit")
ORDINALS = ("first", "second")
GAP = 4
"""Columns between boards side by side."""
NOT_KNOWN = "?"


@checked
class PlayConfig(BoardFlags):
    """Play in the terminal. 0 or q quits, and so does the end of input; Ctrl-C quits with exit status 130.

    For people, squares count from 1, row by row; in Python, cells count from 0.
    """

    opponent: Positional[str] = SHIPPED
    """The folder of a run, shipped or shipped-5x5x4 (our proved players), a built-in opponent such as heuristic or
    optimal (a wrong name lists them all), or module:name of your own agent."""
    seat: Literal["alternate", "first", "second"] = "alternate"
    """Your seat: "alternate" begins as first and changes after each game."""
    hints: Hints = "none"
    """The hints on each free square before your moves. "true": the exact result for you with best play, also for a
    bare --hints. "learned": the reward that a trained opponent expects for you, with the default rewards about +1 or
    more for a win, 0 for a draw, -1 or less for a loss."""
    seed: Seed | None = None
    """Seed of the moves that an opponent samples; with None each session differs."""


class Quit(Exception):  # noqa: N818 (no error)
    """The person quits, or the input ends."""


def main(args: Sequence[str], prog: str = "selfplay play") -> None:
    """Play games until the person quits."""
    config = read(args, prog)
    opponent = choose_opponent(config)
    try:
        play_games(opponent, config.seat, config.hints, np.random.default_rng(config.seed))
    except Quit:
        print("Goodbye.")


def read(args: Sequence[str], prog: str) -> PlayConfig:
    """Return the flags as `parse` reads them; a bare --hints means --hints true."""
    given = list(args)
    for place, word in enumerate(args):
        if word == "--hints" and (place + 1 == len(args) or args[place + 1] not in get_args(Hints)):
            given.insert(place + 1, "true")
    return parse(PlayConfig, given, prog)


def choose_opponent(config: PlayConfig) -> NamedPolicy:
    """Return the opponent that the flags name.

    Raises:
        UserError: there is none, or the flags do not fit it.
    """
    opponent = resolve(config.opponent, config.perspective, config.given_rules)
    rules = opponent.rules
    if rules.cells > WORD_BITS:
        raise UserError(f"a {rules.rows}x{rules.cols} board has {rules.cells} cells; at most {WORD_BITS} are shown")
    if config.hints == "learned" and opponent.player is None:
        raise UserError(f"--hints learned: {opponent.name} has no learned values; --hints true shows exact results")
    if opponent.name in OPPONENTS:
        OPPONENTS[opponent.name].check(rules)  # solves a small board now, not during the first game
    return opponent


def choose_move(opponent: NamedPolicy, position: Position, generator: np.random.Generator) -> int:
    """Return the opponent's move; trained players get the mask, so their moves are legal."""
    if opponent.player is not None:
        return int(opponent.player.act(position.observation, position.mask)[0])
    probabilities = opponent.policy.probabilities(*position.words)[0]
    return int(generator.choice(len(probabilities), p=probabilities))


def learned_hints(player: Player, position: Position) -> Mapping[int, Hint]:
    """Return the value that a player has learned of each empty cell for the seat to move."""
    values = player.q_values(position.observation)[0]
    chosen = int(player.act(position.observation, position.mask)[0])
    # Learners scale their values differently, so the colours go from the worst square to the best.
    finite = finite_values(values[list(position.legal)])
    shades = 2 * (finite - finite.min()) / (np.ptp(finite) or 1.0) - 1
    return {
        cell: Hint(value_text(values[cell]), float(shade), cell == chosen)
        for cell, shade in zip(position.legal, shades, strict=True)
    }


def true_hints(position: Position) -> Mapping[int, Hint]:
    """Return what is known of the result of each empty cell to the seat to move; a search may leave it open."""
    rules, mover, other = position.rules, position.mover, position.opponent
    positions = None if rules.cells <= SOLVABLE_CELLS else MOVE_POSITIONS
    results = exact_moves(rules, mover, other, positions)
    best = best_known(rules, mover, other, results)
    hints = {}
    for cell, (least, most) in results.items():
        text = NAMES[least] if least == most else NOT_KNOWN
        hints[cell] = Hint(text, (least + most) / 2, bool(best >> cell & 1))
    return hints


def about_hints(opponent: NamedPolicy, hints: Hints) -> str:
    """Return what the hints mean."""
    if hints == "true":
        return f"the result for you after each square with best play. * is best, {NOT_KNOWN} is not known."
    unit = f"the reward that {opponent.name} expects for you after each square"
    return f"{unit}:\nabout +1 or more for a win, 0 for a draw, -1 or less for a loss.\n* is where it would move."


def play_games(opponent: NamedPolicy, seat: str, hints: Hints, generator: np.random.Generator) -> None:
    """Play games until the person quits, and keep the score.

    Raises:
        Quit: the person quits, or the input ends.
    """
    rules = opponent.rules
    about = " (our proved player)" if opponent.name in SHIPPED_FOLDERS else ""
    say(f"You play against {opponent.name}{about} on {rules.rows}x{rules.cols}; {rules.k} in a row win.")
    if hints != "none":
        say(f"Hints: {about_hints(opponent, hints)}")
    won = drawn = lost = 0
    person = 1 if seat == "second" else 0
    while True:
        winner = play_game(opponent, person, hints, generator)
        if winner is None:
            drawn += 1
            result = "A draw."
        elif winner == person:
            won += 1
            result = "You win."
        else:
            lost += 1
            result = f"{opponent.name} wins."
        say(f"{result} You have won {won}, drawn {drawn} and lost {lost}.")
        if not ask("Another game? (y or n) ", read_yes):
            raise Quit
        if seat == "alternate":
            person = 1 - person


def play_game(opponent: NamedPolicy, person: int, hints: Hints, generator: np.random.Generator) -> int | None:
    """Play one game in which the person has the seat `person`; return the winner's seat, None for a draw.

    Raises:
        Quit: the person quits, or the input ends.
    """
    position = Position(opponent.rules)
    question = f"{MARKS[person]} plays (square 1 to {position.rules.cells}; 0 or q quits): "
    print(f"\nYou are {MARKS[person]} and move {ORDINALS[person]}.")
    while not position.over:
        if position.seat == person:
            show(position, hints_of(opponent, position, hints))
            cell = ask(question, partial(read_square, position))
        else:
            cell = choose_move(opponent, position, generator)
            if cell not in position.legal:
                say(f"{opponent.name} plays {cell + 1}, which is taken, so it loses.")
                return person
            say(f"{opponent.name} plays {cell + 1}.")
        position = position.after(cell)
    show(position)
    return position.winner


def hints_of(opponent: NamedPolicy, position: Position, hints: Hints) -> Mapping[int, Hint] | None:
    """Return what is shown of each empty cell, None for nothing."""
    if hints == "true":
        return true_hints(position)
    return None if opponent.player is None or hints == "none" else learned_hints(opponent.player, position)


def show(position: Position, hints: Mapping[int, Hint] | None = None) -> None:
    """Print the board, and the hints beside it, or below it in a narrow terminal."""
    boards = [board_table(position)]
    if hints is not None:
        boards.append(board_table(position, hints))
    print()
    open_console().print(Columns(boards, padding=(1, GAP, 0, 0)))
    print()


def ask(question: str, read: Callable[[str], Answer]) -> Answer:
    """Ask until the answer can be read, and return what was read.

    Raises:
        Quit: the person quits, or the input ends.
    """
    while True:
        print(question, end="", flush=True)
        line = sys.stdin.readline()
        answer = line.strip()
        if not sys.stdin.isatty():
            print(answer)  # as a terminal would have shown it
        if not line or answer.lower() in QUIT_ANSWERS:
            raise Quit
        try:
            return read(answer)
        except UserError as error:
            say(f"{error}.")


def read_yes(answer: str) -> bool:
    """Return whether an answer is yes.

    Raises:
        UserError: it is neither yes nor no.
    """
    if answer.lower() not in ("y", "yes", "n", "no"):
        raise UserError(f"{answer!r} is neither y nor n")
    return answer.lower().startswith("y")
