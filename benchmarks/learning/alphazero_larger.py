"""Train AlphaZero on 5,5,4 for an hour of a core, and look for a way to beat it, without a search and with one.

    python -m benchmarks.learning.alphazero_larger --docs docs

The learner is the recipe docs/recipes/alphazero.py with a larger network, memory and search. No solver helps it. The
hour is processor time of training alone, without evaluations. Each of these counts the ways to beat the player; where
its play leads to more positions than are followed, there may be more ways than that.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import tyro

from benchmarks import data, harness
from benchmarks.data import Result, Seats
from docs.recipes import alphazero
from selfplay.judging.agents import agent_policy
from selfplay.judging.backward_induction import NEVER
from selfplay.judging.counterexamples import BeatenPlay, beaten_play
from tictactoe import Rules

TITLE = "AlphaZero on 5x5x4"
RULES = Rules(5, 5, 4)
SETTINGS: Mapping[str, Any] = {
    "WIDTH": 256,
    "BOARDS": 128,
    "SIMULATIONS": 64,
    "MEMORY_SIZE": 200_000,
    "UPDATES": 32,
    "LEARNING_RATE": 1e-3,
}
"""What differs from the recipe's constants."""
SEARCHES = 0, 4, 16
"""Simulations of the trained player for each move."""
POSITIONS = 100_000
"""Positions followed at each ply."""


def trained(seed: int, minutes: tuple[float, ...]) -> Iterator[alphazero.AlphaZero]:
    """Train, and yield the learner after these minutes of training."""
    learner = alphazero.AlphaZero(seed, RULES.rows, RULES.cols, RULES.k)
    seconds = 0.0
    for each in minutes:
        while seconds < 60 * each:
            start = time.process_time()
            learner.advance(alphazero.BOARDS)
            seconds += time.process_time() - start
        yield learner


def judged(learner: alphazero.AlphaZero, simulations: int) -> Result:
    """Evaluate the learner's network with a search."""
    start = time.process_time()
    player = alphazero.Player(RULES, learner.network, simulations)
    seats = beaten_play(agent_policy(player, RULES, "mover"), POSITIONS, np.random.default_rng(0))
    return {
        "games": learner.steps,
        "plies": learner.plies,
        "updates": learner.updates,
        "ways to beat it": Seats(*(seat.verdict.ways_to_beat for seat in seats)),
        "beaten from, %": Seats(*(100 * beaten_share(seat) for seat in seats)),
        "all followed": Seats(*(seat.verdict.complete for seat in seats)),
        "evaluation s": time.process_time() - start,
    }


def beaten_share(play: BeatenPlay) -> float:
    """Return the share of the positions of the player's own play from which some replies beat it."""
    beaten = [distances.value < NEVER for distances in play.distances]
    return float(np.concatenate(beaten).mean()) if beaten else 0.0


def main(
    seeds: tuple[int, ...] = (1_000, 1_001, 1_002),
    minutes: tuple[float, ...] = (5, 15, 30, 45, 60),
    docs: Path | None = None,
) -> None:
    """Train AlphaZero on 5,5,4, and judge it; save each row as it comes.

    Args:
        seeds: Seeds to train with.
        minutes: Minutes of training after which it is judged, of which the last is its end.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    measured_on = harness.start(TITLE, seeds=seeds)
    results: dict[str, list[Result]] = {}
    with patch.multiple(alphazero, **SETTINGS):
        for seed in seeds:
            for after, learner in zip(minutes, trained(seed, minutes), strict=True):
                for simulations in SEARCHES if after == minutes[-1] else SEARCHES[:1]:
                    row = f"{after:g} minutes, {simulations} simulations"
                    results.setdefault(row, []).append(judged(learner, simulations))
                    print(seed, row, results[row][-1], flush=True)
                    if docs is not None:
                        data.save(docs, TITLE, results, measured_on)
    harness.present(results, f"{minutes[-1]:g} minutes of a core for each seed")


if __name__ == "__main__":
    tyro.cli(main)
