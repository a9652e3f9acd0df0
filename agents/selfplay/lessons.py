"""The shared parts of the course's units: predictions that are scored, checks that fail in one line, and data."""

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from selfplay.errors import OneLineError
from tictactoe import Rules, TicTacToeEnv, board_svg

UNITS = Path(__file__).parent / "course"
"""Folder of the units in a wheel; a clone has them in docs/course."""
UNITS_OF_CLONE = Path(__file__).parents[2] / "docs" / "course"
RULES = Rules()
CLOSE = 2
"""A number that is wrong by at most this factor is close."""

_predictions: dict[str, Any] = {}
_scores: dict[str, float] = {}


class NotYetError(OneLineError, AssertionError):
    """A check that has not passed, or a prediction that was not made yet.

    A notebook and a terminal show its message without a traceback.
    """

    heading = "Not yet"


def predict(question: str, answer: Any) -> None:
    """Keep the answer to a question until `reveal`, after which it no longer changes; None leaves the question out.

    Raises:
        NotYetError: the answer is `...`, so the unit waits for one.
    """
    if answer is ...:
        stop(f"{question}: put your prediction in place of the three dots and run this again (None leaves it out)")
    if question in _scores:
        print(f"{question}: you have seen the answer, so what you predicted before it stays.")
        return
    _predictions[question] = answer
    if answer is not None:
        print(f"{question}: you predict {as_text(answer)}. This is kept until the answer.")


def reveal(question: str, truth: Any) -> None:
    """Print the answer to a question next to what was predicted, and how many predictions were right so far.

    Raises:
        NotYetError: nothing was predicted.
    """
    if question not in _predictions:
        stop(f"{question}: make your prediction first, in the cell above that asks for it")
    predicted = _predictions[question]
    points = score(predicted, truth)
    if predicted is None:
        verdict = "You made no prediction"
    else:
        _scores.setdefault(question, points)
        word = "partly right" if isinstance(truth, tuple | list) else "close"
        if points in (0, 1):
            word = "right" if points else "a surprise"
        verdict = f"You predicted {as_text(predicted)}: {word}"
    total = f" ({sum(_scores.values()):g} of {len(_scores)} points so far)" if _scores else ""
    print(f"{question}: {as_text(truth)}. {verdict}{total}.")


def score(predicted: Any, truth: Any) -> float:
    """Return 1 for a right prediction, 0.5 for a number that is close, else 0; of several answers the mean."""
    if isinstance(truth, Sequence) and not isinstance(truth, str):
        if not isinstance(predicted, Sequence) or len(predicted) != len(truth):
            return 0.0
        return sum(map(score, predicted, truth)) / len(truth)
    if predicted == truth and isinstance(predicted, bool) == isinstance(truth, bool):
        return 1.0
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (predicted, truth))
    close = numbers and predicted * truth > 0 and 1 / CLOSE <= predicted / truth <= CLOSE
    return 0.5 if close else 0.0


def as_text(answer: Any) -> str:
    """Return an answer as people write it."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, int):
        return f"{answer:,}"
    if isinstance(answer, float):
        return f"{answer:.2f}"
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return ", ".join(map(as_text, answer))
    return str(answer)


def require(passed: object, message: str, *position: int) -> None:
    """Do nothing if a check has passed; else show the position, if there is one, with its cells numbered, and stop.

    A position is two bitboards: the marks of the seat to move, and those of the other.

    Raises:
        NotYetError: it has not passed.
    """
    if passed:
        return
    if position:
        mover, opponent = position
        seat, marks = "O", (opponent, mover)
        if mover.bit_count() == opponent.bit_count():
            seat, marks = "X", (mover, opponent)
        sys.displayhook(board_svg(RULES, *marks, numbers=True))
        x_cells, o_cells = (as_text(RULES.cells_of(cells)) or "no cell" for cells in marks)
        message = f"with {seat} to move on this board (X has {x_cells}; O has {o_cells}), {message}"
    stop(message)


def stop(message: str) -> NoReturn:
    """Stop a unit with a message; a terminal shows it without a traceback.

    Raises:
        NotYetError: always.
    """
    sys.excepthook = _without_traceback
    raise NotYetError(message)


def _without_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if kind is NotYetError:
        print(f"{NotYetError.heading}: {error}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def play(agent: Callable[[Any], Any], cells: Sequence[int]) -> None:
    """Play these cells as X against an agent, show the board with its empty cells numbered, and say what is next."""
    env = TicTacToeEnv()
    observation, info = env.reset()
    over, says = False, "You are X. Write the number of a cell into the list, and run this again."
    for cell in cells:
        if over:
            break
        if cell not in range(RULES.cells) or not info["action_mask"][cell]:
            says = f"{cell} is not an empty cell: choose one of the numbers."
            break
        observation, _, over, _, info = env.step(cell)
        if not over:
            observation, _, over, _, info = env.step(int(agent(observation)))
        says = "Your move: add the number of a cell to the list, and run this again."
    if over:
        says = {0: "You win!", 1: "It wins. Take back a cell, and try another.", -1: "A draw."}[info["winner"]]
    sys.displayhook(board_svg(RULES, *env.node.marks, numbers=True))
    print(says)


def prepared(name: str) -> list[Mapping[str, str]]:
    """Return the rows of a data file that comes with the course, by column."""
    folder = UNITS if UNITS.is_dir() else UNITS_OF_CLONE
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))
