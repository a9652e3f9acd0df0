"""Train the five published learners, and our DQN at its best, and compare them by exact evaluation.

The table of docs/results.md:

    python -m benchmarks.learning.learners --docs docs

Every row is `python train.py` with the same flags and seed. The time is that of training alone, without compiling,
making tables and networks, and evaluating. A DQN that stops when something is proved has trained until the third
evaluation in a row that proves it.
"""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro

import selfplay
from benchmarks import harness
from benchmarks.data import Result, Seats
from selfplay.cli.train import read
from selfplay.dqn.config import DQNConfig
from selfplay.runs.algorithms import Config
from tictactoe import Rewards, Rules, batch

TITLE = "The published learners"
RULES = Rules()
COMMANDS = (
    "dqn --preset article",
    "dqn",
    "dqn --mask --stop optimal",
    "minimax-q",
    "afterstate-q --seat 0",
    "afterstate-q --seat 1",
    "td-value",
    "td-value --no-back-up-losses",
    "td-value --opponent self",
    "td-value --opponent self --no-back-up-losses",
    "td-backup",
)


def configuration(command: str, seed: int) -> Config:
    """Return the settings that flags of `python train.py` give, with a seed, on a CPU."""
    flags, _ = read(shlex.split(command), "python train.py")
    config = replace(flags.settings, seed=seed)
    return replace(config, device="cpu") if isinstance(config, DQNConfig) else config


def ties_with_itself(player: selfplay.Agent) -> bool:
    """Return whether a greedy player draws against itself on 3,3,3."""
    state, terminated = batch.reset(RULES, 1, np), False
    while not terminated:
        played = batch.step(RULES, Rewards(), state, player.act(batch.observe(RULES, state)))
        state, terminated = played.state, bool(played.terminated[0])
    return bool(played.winner[0] < 0 and not played.illegal[0])


def measure(command: str, seed: int, shorten: int = 1) -> Result:
    """Train one player and evaluate it."""
    config = configuration(command, seed)
    least = config.warmup if isinstance(config, DQNConfig) else 1
    shorter: dict[str, Any] = {config.length_setting: max(config.length // shorten, least)}
    config = replace(config, **shorter)
    *_, last = selfplay.training(config)
    verdict = selfplay.evaluate(last.player, RULES)
    seats = verdict.first, verdict.second
    return {
        "ways by a line": Seats(*(seat.losses for seat in seats)),
        "ways by its own illegal move": Seats(*(seat.illegal for seat in seats)),
        **{f"{end} %": Seats(*(100 * getattr(seat, end) for seat in seats)) for end in ("win", "draw", "loss")},
        "optimal states": verdict.optimal_states,
        "ties with itself": ties_with_itself(last.player),
        "plies" if isinstance(config, DQNConfig) else "games": last.steps,
        "seconds": last.metrics["time/training_s"],
    }


def main(
    commands: tuple[str, ...] = COMMANDS,
    seeds: tuple[int, ...] = tuple(range(5)),
    shorten: int = 1,
    docs: Path | None = None,
) -> None:
    """Compare the published learners, and our DQN at its best, by exact evaluation.

    Args:
        commands: Flags of what to train, each in quotes.
        seeds: Seeds of every row.
        shorten: Divide the length of every training by this; more than 1 only to try the script.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    note = "as X; as O; wins, draws and losses are exact, against a uniformly random opponent"
    harness.run(
        TITLE,
        commands,
        seeds,
        lambda command, seed: measure(command, seed, shorten),
        note,
        libraries=["numba"],
        docs=docs,
    )


if __name__ == "__main__":
    tyro.cli(main)
