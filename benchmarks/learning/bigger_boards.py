"""Train DQNs on boards beyond tic-tac-toe until they are proved, or for some time, and say how far they come.

The tables of docs/bigger-boards.md, and of the settings that were tried on 4,4,4 in docs/what-did-not-work.md:

    python -m benchmarks.learning.bigger_boards --docs docs
    python -m benchmarks.learning.bigger_boards --tried --seeds 1104 1105 1106 1107 --seconds 100 --docs docs

Every row is `python train.py` with the same flags and seed, but for the time limit. The seconds are those of training
up to the first evaluation from which the proof holds to the end of the run; "all seconds" also count the evaluations.
Games of the player at the end against the built-in opponents are sampled. If it was not followed to the end, there may
be more lost and illegal games.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from benchmarks import harness
from benchmarks.data import Result, Seats
from benchmarks.environment.rule import sampled_games
from benchmarks.learning.learners import configuration
from benchmarks.learning.time_to_unbeatable import train
from selfplay.cli.flags import run_command
from selfplay.dqn.config import DQNConfig
from selfplay.judging.agents import player_policy

PROG = "python -m benchmarks.learning.bigger_boards"
ROWS = MappingProxyType(
    {
        "4x4x4": "--preset large --lines 4 --hidden 256 --mask",
        "4x4x4-unmasked": "--preset large",
        "4x4x3": "--preset large --k 3 --mask",
    }
)
"""Flags of each row by its name."""
FASTER = " --lr 0.002 --soft-update 0.02"
TRIED = MappingProxyType(
    {
        kind + flags: ROWS[row] + flags
        for kind, row, flags in (
            ("with a mask", "4x4x4", ""),
            ("with a mask", "4x4x4", FASTER),
            ("with a mask", "4x4x4", f"{FASTER} --eval-every 12800"),
            ("with a mask", "4x4x4", f"{FASTER} --loss huber"),
            ("with a mask", "4x4x4", f"{FASTER} --batch-size 192 --updates-per-step 2"),
            ("without", "4x4x4-unmasked", ""),
            ("without", "4x4x4-unmasked", FASTER),
        )
    }
)
"""Flags that were tried on 4,4,4, by what is said of them."""


@dataclass(frozen=True)
class Flags:
    """Train DQNs on larger boards, and say how far they come."""

    rows: tuple[str, ...] = tuple(ROWS)
    """What to train, by name."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of every row."""
    seconds: float = 600.0
    """Training time after which a run ends at the latest."""
    total_steps: int = 1_000_000_000
    """Plies after which it ends at the latest."""
    tried: bool = False
    """Train with the settings that were tried on 4,4,4 instead."""
    games: int = 10_000
    """Games sampled in each seat against each built-in opponent."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


def measure(name: str, seed: int, flags: Flags) -> Result:
    """Train one player, and let it play."""
    config = configuration({**ROWS, **TRIED}[name], seed)
    assert isinstance(config, DQNConfig)
    config = replace(config, total_steps=flags.total_steps)
    result, last = train(config, flags.seconds)
    if flags.tried:
        return result
    seats = last.evaluation.first, last.evaluation.second
    result |= {
        "plies in all": last.steps,
        "games lost": Seats(*(seat.losses for seat in seats)),
        "illegal games": Seats(*(seat.illegal for seat in seats)),
        "followed to the end": Seats(*(seat.complete for seat in seats)),
    }
    return result | sampled_games(player_policy(last.player), config.rules, flags.games, seed)


def main(args: Sequence[str]) -> None:
    """Measure, and print each run as it ends and the table at the end."""
    flags = harness.read_flags(Flags, args, PROG)
    harness.check_known("--rows", flags.rows, ROWS)
    title, rows = (
        ("Tried on 4x4x4", TRIED) if flags.tried else ("Bigger boards", {row: ROWS[row] for row in flags.rows})
    )
    note = f"as X; as O; at most {flags.seconds:g} s of training; {flags.games:,} sampled games"
    harness.run(
        title,
        rows,
        flags.seeds,
        lambda name, seed: measure(name, seed, flags),
        f"{note}; rows: {', '.join(f'{name} is {row}' for name, row in rows.items())}",
        docs=flags.docs,
    )


if __name__ == "__main__":
    run_command(main, PROG)
