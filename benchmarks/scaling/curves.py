"""The curves of `python -m benchmarks.scaling`: what is measured at each point of its panels, and its memory."""

import ctypes
import gc
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from benchmarks import harness
from benchmarks.environment import libraries, loops, speed
from benchmarks.environment.loops import Chunk, Played
from benchmarks.environment.speed import Make
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.dqn import InterleavedSelfPlay
from selfplay.settings import LARGEST
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
"""About this many plies are in a chunk, which has at least two steps."""
FIRST_BOARDS = 64
"""Boards that are played before memory is measured, for what a process needs once."""

VECTOR, IN_NUMPY, IN_TORCH = "make_vec", "tictactoe.batch, NumPy", "tictactoe.batch, torch"
PLAYING, PGX, TURNS = "train.py, playing alone", "pgx, jitted steps", "make, one board"
UPDATE, PRODUCTS = "update", "its matrix products"
TWO_LAYERS = ", two layers"
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Point(NamedTuple):
    """Hold the curves that are measured at one place of a panel."""

    panel: str
    unit: str
    x: int
    name: str
    curves: Mapping[str, Make]


def points() -> Iterator[Point]:
    """Yield all points at which rates are measured."""
    for number in BOARDS:
        yield Point("boards", "plies/s", number, str(number), boards(number))
    for rules in FAMILY:
        many = many_boards(rules, FAMILY_BOARDS) if rules.cells <= 64 else {}
        curves = {TURNS: speed.one_board(rules, CHUNK_PLIES), **many}
        yield Point("board size", "plies/s", rules.cells, str(rules), curves)
    for size in BATCHES:
        config = DQNConfig(batch_size=size, memory_size=max(DQNConfig.memory_size, size))
        yield Point("batch size", "updates/s", size, str(size), updates(config))
    for width in WIDTHS:
        two = {name + TWO_LAYERS: make for name, make in updates(DQNConfig(hidden=(width, width))).items()}
        yield Point("width", "updates/s", width, str(width), {**updates(DQNConfig(hidden=(width,))), **two})
    for rules in FAMILY:
        if rules.cells <= 64:
            yield Point("board size, learning", "updates/s", rules.cells, str(rules), updates(config_of(rules)))


def boards(num_boards: int) -> dict[str, Make]:
    """Return every way of playing many boards of 3,3,3, and pgx's."""
    pgx = partial(libraries.pgx, num_boards, _steps(num_boards), delivery="step", from_mask=False)
    return {**many_boards(FAMILY[0], num_boards), PGX: pgx}


def many_boards(rules: Rules, num_boards: int) -> dict[str, Make]:
    """Return our ways of playing many boards."""
    steps = _steps(num_boards)
    return {
        VECTOR: speed.many_boards(num_boards, rules, steps),
        IN_NUMPY: partial(loops.functional_batch, rules, num_boards, steps, np),
        IN_TORCH: partial(loops.functional_batch, rules, num_boards, steps, torch),
        PLAYING: lambda _: playing(config_of(rules, num_boards), steps),
    }


def updates(config: DQNConfig) -> dict[str, Make]:
    """Return an update, and the matrix products that it cannot do without."""
    return {UPDATE: lambda _: learning(config), PRODUCTS: lambda _: matrix_products(config)}


def config_of(rules: Rules, num_boards: int = DQNConfig.num_envs) -> DQNConfig:
    """Return the default settings but for the board and the number of boards, which the replay memory must hold."""
    memory_size = max(DQNConfig.memory_size, num_boards)
    return DQNConfig(rows=rules.rows, cols=rules.cols, k=rules.k, num_envs=num_boards, memory_size=memory_size)


def _steps(num_boards: int) -> int:
    return max(2, CHUNK_PLIES // num_boards)


def unlearning(config: DQNConfig) -> InterleavedSelfPlay:
    """Return self-play that never learns by itself."""
    return InterleavedSelfPlay(replace(config, total_steps=LARGEST, warmup=LARGEST), torch.device("cpu"))


def playing(config: DQNConfig, steps: int) -> Chunk:
    """Act, step, observe and store as training does, and never learn."""
    self_play = unlearning(config)

    def chunk() -> Played:
        for _ in range(steps):
            self_play.advance()
        return Played(config.num_envs * steps, 0)

    return chunk


def learning(config: DQNConfig) -> Chunk:
    """Update the network once, which counts as a ply, from a memory that holds several batches."""
    self_play = unlearning(config)
    while self_play.plies < min(4 * config.batch_size, config.memory_size):
        self_play.advance()

    def chunk() -> Played:
        self_play.learn()
        return Played(1, 0)

    return chunk


def matrix_products(config: DQNConfig) -> Chunk:
    """Compute the matrix products of one update and nothing else; this counts as a ply.

    They are, for each layer, the outputs of one forward pass with gradients and of those of the target (two with double
    DQN), the gradient of the weights, and except for the first layer that of the inputs.
    """
    products = []
    widths = [3 * config.rules.cells, *config.hidden, config.rules.cells]
    for number, (inputs, outputs) in enumerate(pairwise(widths)):
        x, weights = torch.rand(config.batch_size, inputs), torch.rand(outputs, inputs)
        y, x_gradient, weights_gradient = x @ weights.T, torch.empty_like(x), torch.empty_like(weights)
        products += [(x, weights.T, y)] * (3 if config.double else 2) + [(y.T, x, weights_gradient)]
        if number > 0:
            products.append((y, weights, x_gradient))

    def chunk() -> Played:
        for left, right, out in products:
            torch.mm(left, right, out=out)
        return Played(1, 0)

    return chunk


def memory_measurable() -> bool:
    """Tell whether the system reports peak memory and takes back freed memory, as Linux with glibc does."""
    return CLEAR.exists() and hasattr(ctypes.CDLL(None), "malloc_trim")


def peak_bytes(curve: str, num_boards: int) -> int:
    """Return by how many bytes playing some boards raises the peak of a fresh process.

    The peak counts what the program waits for memory for: the state, observations, masks and rewards delivered, the
    passing arrays of a step, and the loop's own cells to play. What is needed once for a number of boards, such as
    pgx's compilation, counts too.

    Raises:
        RuntimeError: The process failed.
    """
    call = f"curves.raised_bytes({curve!r}, {num_boards})"
    return int(harness.run_fresh(f"from benchmarks.scaling import curves\nprint({call})"))


def raised_bytes(curve: str, num_boards: int) -> int:
    """Return the same of this process, which must not have played many boards before.

    Memory that importing has freed is given back to the system first, or the boards would use it and seem to need none.
    """
    torch.set_num_threads(1)
    boards(FIRST_BOARDS)[curve](np.random.default_rng(0))()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    CLEAR.write_text("5")  # clears the peak
    before = _status("VmRSS")
    boards(num_boards)[curve](np.random.default_rng(0))()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1_024
