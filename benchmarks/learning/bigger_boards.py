"""Train DQNs on boards beyond tic-tac-toe until they are proved, or for some time, and say how far they come.

The tables of docs/bigger-boards.md:

    python -m benchmarks.learning.bigger_boards --rows 4x4x4 4x4x4-unmasked

Every row is `python train.py` with the same flags and seed, but for the time limit. The seconds are those of training
up to the first evaluation from which the proof holds to the end of the run; "all seconds" also count the evaluations.
The player at the end is followed over more positions than while it trains, and its games against the built-in
opponents are sampled. Where it was not followed to the end, there may be more lost and illegal games.
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
from selfplay.command_line import run_command
from selfplay.dqn.config import DQNConfig
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.evaluate import evaluate_policy

PROG = "python -m benchmarks.learning.bigger_boards"
LARGE = "--preset large"
SMALLER = "--lines 4 --hidden 256"
LARGER = f"{SMALLER} --mask --memory-size 400000 --epsilon-start 0.9 --eval-every 256000"
PLAIN = "--lines 0 --symmetry augment --counterexamples 0"
"""A dense network and plain self-play, as in other libraries."""
ROWS = MappingProxyType(
    {
        "4x4x4": f"{LARGE} {SMALLER} --mask",
        "4x4x4-unmasked": LARGE,
        "4x4x4-dense": f"{LARGE} --lines 0 --mask",
        "4x4x4-canonical": f"{LARGE} {SMALLER} --mask --counterexamples 0",
        "4x4x4-counterexamples": f"{LARGE} {SMALLER} --mask --symmetry augment",
        "4x4x4-plain": f"{LARGE} --mask {PLAIN} --eval-every 51200",
        "4x4x4-unmasked-canonical": f"{LARGE} --counterexamples 0",
        "4x4x4-unmasked-counterexamples": f"{LARGE} --symmetry augment",
        "4x4x4-unmasked-plain": f"{LARGE} {PLAIN} --hidden 1024 --learning-rate-hold 0 --eval-every 51200",
        "4x4x3": f"{LARGE} --k 3 --mask",
        "5x5x4": f"{LARGE} --rows 5 --cols 5 {LARGER}",
        "5x5x4-plain": f"{LARGE} --rows 5 --cols 5 --mask {PLAIN} --hidden 1024 --eval-every 2048000",
        "5x5x5": f"{LARGE} --rows 5 --cols 5 --k 5 {LARGER}",
        "6x5x4": f"{LARGE} --rows 6 --cols 5 {LARGER}",
    }
)
"""Flags of each row by its name."""


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
    positions: int = 1_000_000
    """Largest number of distinct positions to which the player at the end is followed at each ply."""
    games: int = 10_000
    """Games sampled in each seat against each built-in opponent."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


def measure(name: str, seed: int, flags: Flags) -> Result:
    """Train one player, and at the end follow it and let it play."""
    config = configuration(ROWS[name], seed)
    assert isinstance(config, DQNConfig)
    config = replace(config, total_steps=flags.total_steps)
    result, last = train(config, flags.seconds)
    result |= {"plies in all": last.steps}
    evaluation, player = last.evaluation, last.player
    if not evaluation.complete:
        evaluation = evaluate_policy(player_policy(player), positions=flags.positions)
    seats = evaluation.first, evaluation.second
    result |= {
        "games lost": Seats(*(seat.losses for seat in seats)),
        "illegal games": Seats(*(seat.illegal for seat in seats)),
        "followed to the end": Seats(*(seat.complete for seat in seats)),
    }
    return result | sampled_games(player_policy(player), config.rules, flags.games, seed)


def main(args: Sequence[str]) -> None:
    """Measure, and print each run as it ends and the table at the end."""
    flags = harness.read_flags(Flags, args, PROG)
    harness.check_known("--rows", flags.rows, ROWS)
    note = f"as X; as O; at most {flags.seconds:g} s of training; {flags.games:,} sampled games"
    harness.run(
        "Bigger boards",
        flags.rows,
        flags.seeds,
        lambda name, seed: measure(name, seed, flags),
        f"{note}; rows: {', '.join(f'{name} is {ROWS[name]}' for name in flags.rows)}",
        docs=flags.docs,
    )


if __name__ == "__main__":
    run_command(main, PROG)
