"""Measure how far playing many boards raises a process's memory: bytes per board, each in a fresh process.

The peak of resident memory counts what the program waits for memory for: the state, observations, masks and rewards
delivered, the passing arrays of a step, and the loop's own cells to play. First 64 boards are played, for what comes
only once in a process; what comes once for a number of boards, as pgx's compilation for it, counts. Memory that
importing has freed is given back to the system before, or the boards would use it and seem to need none. Linux with
glibc alone can do and say all this.
"""

import ctypes
import gc
import importlib
from pathlib import Path

import gymnasium
import numpy as np
import torch

from benchmarks.measuring.fresh import run_fresh
from benchmarks.scaling import rows
from tictactoe import Rules, batch

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
CLEAR_PEAK = "5"
FIRST_BOARDS = 64


def measurable() -> bool:
    """Tell whether the system says how much memory a process has had, and takes back what it does not need."""
    return CLEAR.exists() and hasattr(ctypes.CDLL(None), "malloc_trim")


def peak_bytes(curve: str, num_boards: int) -> int:
    """Return by how many bytes playing so many boards raises the peak of a fresh process.

    Raises:
        RuntimeError: the process failed.
    """
    try:
        return int(
            run_fresh(f"from benchmarks.scaling import memory\nprint(memory.peak_here({curve!r}, {num_boards}))")
        )
    except RuntimeError as error:
        raise RuntimeError(f"{curve}, {num_boards:,} boards: {error}") from None


def peak_here(curve: str, num_boards: int) -> int:
    """Return the same of this process, which must not have played more than a few boards before."""
    torch.set_num_threads(1)
    _play(curve, FIRST_BOARDS)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    CLEAR.write_text(CLEAR_PEAK)
    before = _status("VmRSS")
    _play(curve, num_boards)
    return _status("VmHWM") - before


def held_bytes(curve: str, num_boards: int) -> int:
    """Return the bytes of the arrays of 3,3,3 that are kept from one step to the next, a replay memory left out."""
    config = rows.config_of(Rules(), num_boards)
    if curve == rows.VECTOR:
        env = gymnasium.make_vec("TicTacToe-v0", num_envs=num_boards)
        env.reset()
        return int(env.unwrapped._state.nbytes + env.unwrapped._over.nbytes)  # type: ignore[attr-defined]
    if curve == rows.PGX:
        jax, env = importlib.import_module("jax"), importlib.import_module("pgx").make("tic_tac_toe")
        boards = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), num_boards))
        return int(sum(leaf.nbytes for leaf in jax.tree.leaves(boards)))
    on_torch = curve == rows.IN_TORCH
    state = batch.reset(config.rules, num_boards, torch if on_torch else np)
    seen = num_boards * 3 * config.rules.cells * torch.float32.itemsize if curve == rows.PLAYING else 0
    return int(sum(field.nbytes for field in state)) + seen


def _play(curve: str, num_boards: int) -> None:
    row = next(row for row in rows.boards(num_boards) if row.name == curve)
    row.make(np.random.default_rng(0))()


def _status(name: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1_024
