"""Positions as an agent sees them, and as the page knows them."""

import numpy as np
from numpy.typing import NDArray

from tictactoe import Rewards, Rules, batch


def random_positions(rules: Rules, number: int, seed: int) -> NDArray[np.int8]:
    """Return the absolute observations [number, R, C, 3] of unfinished positions in random games."""
    generator = np.random.default_rng(seed)
    state = batch.reset(rules, 1, np)
    found: list[NDArray[np.int8]] = []
    while len(found) < number:
        found.append(batch.observe(rules, state, "absolute")[0])
        cell = generator.choice(np.flatnonzero(found[-1][..., 0]), 1)
        played = batch.step(rules, Rewards(), state, cell)
        state = batch.restart(played.state, played.terminated)
    return np.stack(found)


def texts(observations: NDArray[np.int8]) -> list[str]:
    """Return absolute observations [B, R, C, 3] as boards of the page."""
    marks = observations.reshape(len(observations), -1, 3).argmax(axis=2)
    return ["".join(".XO"[mark] for mark in board) for board in marks]
