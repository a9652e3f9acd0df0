"""List what `python -m benchmarks.scaling` measures: the panels of its picture, and at each of their points the curves.

The loops are those of `environment/face_loops.py` and `training/loops.py`; a curve is a row's name.
"""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.environment import face_loops, face_peers, face_rows
from benchmarks.environment.face_rows import Row
from benchmarks.training import loops
from selfplay.dqn.config import DQNConfig
from tictactoe import Rules

BOARDS = tuple(4**power for power in range(11))
BATCHES = tuple(2**power for power in range(3, 14))
WIDTHS = tuple(2**power for power in range(4, 13))
FAMILY = (Rules(3, 3, 3), Rules(4, 4, 4), Rules(5, 5, 4), Rules(6, 6, 4), Rules(7, 7, 5), Rules(15, 15, 5))
FAMILY_BOARDS = 1_024
"""Boards side by side, of each size."""
MEMORY_BOARDS = (4**6, 4**8, 4**10)
"""Fewer would show what a process needs, not what a board does."""
CHUNK_PLIES = 1_024
"""About so many plies are in a chunk, and two steps at least."""

VECTOR, IN_NUMPY, IN_TORCH = "make_vec", "tictactoe.batch, NumPy", "tictactoe.batch, torch"
PLAYING, PGX, TURNS = "train.py, playing alone", "pgx, jitted steps", "make, one board"
UPDATE, PRODUCTS = "update", "its matrix products"
TWO_LAYERS = ", two layers"


class Point(NamedTuple):
    """Hold the curves that are measured at one place of a panel."""

    x: int
    name: str
    rows: tuple[Row, ...]


class Panel(NamedTuple):
    """Hold the places along one axis and what is counted there."""

    name: str
    unit: str
    points: tuple[Point, ...]


def panels() -> tuple[Panel, ...]:
    """Return all that is measured at some rate."""
    return (
        Panel("boards", "plies/s", tuple(Point(n, str(n), boards(n)) for n in BOARDS)),
        Panel("board size", "plies/s", tuple(Point(rules.cells, str(rules), faces(rules)) for rules in FAMILY)),
        Panel("batch size", "updates/s", tuple(Point(n, str(n), batch_size(n)) for n in BATCHES)),
        Panel("width", "updates/s", tuple(Point(n, str(n), width(n)) for n in WIDTHS)),
        Panel(
            "board size, learning",
            "updates/s",
            tuple(Point(rules.cells, str(rules), _update(config_of(rules))) for rules in FAMILY if fits(rules)),
        ),
    )


def fits(rules: Rules) -> bool:
    """Tell whether a board fits the faces of many boards."""
    return rules.cells <= 64


def boards(num_boards: int) -> tuple[Row, ...]:
    """Return every way of playing many boards of 3,3,3, and pgx's."""
    pgx = partial(face_peers.pgx, num_boards, _steps(num_boards), delivery="step", draw=False)
    return (*_many(FAMILY[0], num_boards), Row(PGX, pgx, needs="pgx"))


def faces(rules: Rules) -> tuple[Row, ...]:
    """Return every way of playing boards of one size."""
    many = _many(rules, FAMILY_BOARDS) if fits(rules) else ()
    return (Row(TURNS, partial(face_rows.turns, rules, CHUNK_PLIES)), *many)


def batch_size(transitions: int) -> tuple[Row, ...]:
    """Return an update with a batch of some size."""
    return _update(DQNConfig(batch_size=transitions, memory_size=max(DQNConfig.memory_size, transitions)))


def width(units: int) -> tuple[Row, ...]:
    """Return an update of a network of one hidden layer of some width, and of two."""
    one, two = _update(DQNConfig(hidden=(units,))), _update(DQNConfig(hidden=(units, units)))
    return (*one, *(replace(row, name=row.name + TWO_LAYERS) for row in two))


def config_of(rules: Rules, num_boards: int = DQNConfig.num_envs) -> DQNConfig:
    """Return the default settings but for the board and the number of boards, which the replay memory must hold."""
    memory_size = max(DQNConfig.memory_size, num_boards)
    return DQNConfig(rows=rules.rows, cols=rules.cols, k=rules.k, num_envs=num_boards, memory_size=memory_size)


def _many(rules: Rules, num_boards: int) -> tuple[Row, ...]:
    steps = _steps(num_boards)
    return (
        Row(VECTOR, partial(face_rows.many, rules, num_boards, steps)),
        Row(IN_NUMPY, partial(face_loops.device_batch, rules, num_boards, steps, np, None)),
        Row(IN_TORCH, partial(face_loops.device_batch, rules, num_boards, steps, torch, torch.device("cpu"))),
        Row(PLAYING, lambda _: loops.playing(config_of(rules, num_boards), steps)),
    )


def _update(config: DQNConfig) -> tuple[Row, ...]:
    return (
        Row(UPDATE, lambda _: loops.learning(config)),
        Row(PRODUCTS, lambda _: loops.update_products(config)),
    )


def _steps(num_boards: int) -> int:
    return max(2, CHUNK_PLIES // num_boards)
