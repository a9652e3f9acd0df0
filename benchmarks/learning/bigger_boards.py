"""Train DQNs on boards beyond tic-tac-toe until they are proved, or for some time, and say how far they come.

A table of docs/results.md, and with `--tried` a data file of other settings for 4,4,4:

    python -m benchmarks.learning.bigger_boards --docs docs
    python -m benchmarks.learning.bigger_boards --tried --seeds 1104 1105 1106 1107 --seconds 100 --docs docs

Every row is `python train.py` with the same flags and seed, but for the time limit. The seconds are those of training
up to the first evaluation from which the proof holds to the end of the run; "all seconds" also count the evaluations.
Games of the player at the end against the built-in opponents are sampled. If it was not followed to the end, there may
be more ways to beat it.
"""

from dataclasses import replace
from pathlib import Path

import tyro

import selfplay
from benchmarks import harness
from benchmarks.data import Result, Seats
from benchmarks.environment.rule import sampled_games
from benchmarks.learning.learners import configuration
from benchmarks.learning.time_to_unbeatable import train
from selfplay.dqn.config import DQNConfig
from selfplay.judging.agents import player_policy

ROWS = {
    "4x4x4": "--preset large --lines 4 --hidden 256 --mask",
    "4x4x4-unmasked": "--preset large",
    "4x4x3": "--preset large --k 3 --mask",
}
"""Flags of each row by its name."""
FASTER = " --lr 0.002 --soft-update 0.02"
TRIED = {"with a mask": ROWS["4x4x4"]}
for more in ("", " --eval-every 12800", " --loss huber", " --batch-size 192 --updates-per-step 2"):
    TRIED[f"with a mask{FASTER}{more}"] = ROWS["4x4x4"] + FASTER + more
TRIED["without"] = ROWS["4x4x4-unmasked"]
TRIED[f"without{FASTER}"] = ROWS["4x4x4-unmasked"] + FASTER
"""Flags that were tried on 4,4,4, by what is said of them."""


def measure(flags: str, seed: int, seconds: float, total_steps: int) -> tuple[Result, selfplay.Record]:
    """Train one player; return how far it came, and the last record."""
    config = configuration(flags, seed)
    assert isinstance(config, DQNConfig)
    return train(replace(config, total_steps=total_steps), seconds)


def at_the_end(record: selfplay.Record, games: int, seed: int) -> Result:
    """Return what became of a run in the end, with games of its player against the built-in opponents."""
    seats = record.verdict.first, record.verdict.second
    return {
        "plies in all": record.steps,
        "ways by a line": Seats(*(seat.losses for seat in seats)),
        "ways by its own illegal move": Seats(*(seat.illegal for seat in seats)),
        "followed to the end": Seats(*(seat.complete for seat in seats)),
        **sampled_games(player_policy(record.player), record.player.rules, games, seed),
    }


def main(
    seeds: tuple[int, ...] = (0, 1, 2),
    seconds: float = 600.0,
    total_steps: int = 1_000_000_000,
    tried: bool = False,
    games: int = 10_000,
    docs: Path | None = None,
) -> None:
    """Train DQNs on larger boards, and say how far they come.

    Args:
        seeds: Seeds of every row.
        seconds: Training time after which a run ends at the latest.
        total_steps: Plies after which it ends at the latest.
        tried: Train with the settings that were tried on 4,4,4 instead.
        games: Games sampled in each seat against each built-in opponent.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    title, rows = ("Tried on 4x4x4", TRIED) if tried else ("Bigger boards", ROWS)

    def measured(row: str, seed: int) -> Result:
        result, last = measure(rows[row], seed, seconds, total_steps)
        return result if tried else result | at_the_end(last, games, seed)

    note = f"as X; as O; at most {seconds:g} s of training; {games:,} sampled games"
    harness.run(title, rows, seeds, measured, note, docs=docs)


if __name__ == "__main__":
    tyro.cli(main)
