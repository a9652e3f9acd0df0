"""The solutions of the largest boards, saved in files for later processes.

A file holds, in this order: a line with its format and its board; the SHA-256 of that line and of everything after the
hash; the value of each state, [S] int8; its optimal moves, [S] uint16, lowest byte first. States are in the tree's
order. If the file cannot be read or written, the board is solved in memory.
"""

import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from tictactoe.rules import Rules
from tictactoe.tree import SOLVABLE_CELLS, GameTree, IntArray, game_tree

Solve: TypeAlias = Callable[[GameTree], tuple[IntArray, IntArray]]
"""A function that returns the value [S] and the optimal moves [S] of every state."""

FORMAT = 1
"""Number of the format; raise it when a file's content or the order of a tree's states changes."""
SAVED_CELLS = range(15, SOLVABLE_CELLS + 1)
"""Sizes of the boards that are saved; smaller boards are solved in less time than a person notices."""
FOLDER_VARIABLE = "TICTACTOE_CACHE"
"""Environment variable that names another folder."""
BYTES_OF_A_STATE = 3

# A logger prints the line to standard error unless a program sends it elsewhere. A warning would become an error under
# `python -W error`, although nothing has gone wrong.
_log = logging.getLogger(__name__)


def load_or_solve(rules: Rules, solve: Solve) -> tuple[GameTree, IntArray, IntArray]:
    """Return the tree, the values and the optimal moves of a board; read them from a file, or solve and save them."""
    path = file_of(rules)
    exists = path is not None and os.path.isfile(path)  # noqa: PTH113 (a path's own raises what this takes for no)
    if not exists:
        saved_in = "" if path is None else f"; the solution is saved in {path.parent}"
        _log.warning("tictactoe: solving the board %s, which may take seconds%s", rules, saved_in)
    tree = game_tree(rules)
    if path is not None and exists:
        solution = read(path, rules, len(tree))
        if solution is not None:
            return tree, *solution
        _log.warning("tictactoe: solving the board %s again, which may take seconds; %s is damaged", rules, path)
    value, optimal_moves = solve(tree)
    if path is not None:
        with contextlib.suppress(OSError):
            write(path, rules, value, optimal_moves)
    return tree, value, optimal_moves


def file_of(rules: Rules) -> Path | None:
    """Return the file for the solution of a board, or None if the user has no folder for such files."""
    chosen, caches = os.environ.get(FOLDER_VARIABLE), os.environ.get("XDG_CACHE_HOME", "")
    try:
        usual = (Path(caches) if os.path.isabs(caches) else Path.home() / ".cache") / "tictactoe"  # noqa: PTH117 (often empty)
    except RuntimeError:  # the user has no home folder
        usual = None
    folder = Path(chosen) if chosen else usual
    return folder and folder / f"{rules.rows}-{rules.cols}-{rules.k}.solution"


def read(path: Path, rules: Rules, states: int) -> tuple[IntArray, IntArray] | None:
    """Return the values and the optimal moves of a file, or None if it is damaged or of another board.

    A board with `states` states fixes the size of its file. At most one byte more is read.
    """
    size = len(_header(rules, b"")) + BYTES_OF_A_STATE * states
    try:
        with path.open("rb") as file:
            content = file.read(size + 1)
    except OSError:
        return None
    solution = content[size - BYTES_OF_A_STATE * states :]
    if len(content) != size or content[: -len(solution)] != _header(rules, solution):
        return None
    value = np.frombuffer(solution, np.int8, states)
    return value.copy(), np.frombuffer(solution, "<u2", states, states).astype(np.int32)


def write(path: Path, rules: Rules, value: IntArray, optimal_moves: IntArray) -> None:
    """Write a solution to a temporary file and rename it, so that no process ever sees half of it.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    solution = value.astype(np.int8).tobytes() + optimal_moves.astype("<u2").tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(".partial", f"{path.name}.", path.parent)  # of a name that no other process has
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_header(rules, solution) + solution)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _header(rules: Rules, solution: bytes) -> bytes:
    title = f"tictactoe solution, format {FORMAT}, board {rules}\n".encode()
    return title + hashlib.sha256(title + solution).digest()
