"""Train DQNs of other libraries and ours for the same time, and evaluate all exactly.

The README's figures of OpenSpiel's, Tianshou's and ours:

    python -m benchmarks.peers --players ours maskable-ppo open-spiel tianshou --docs docs

Each learner has its own library's settings; where they come from is in the docstring of its file here.
`python -m benchmarks.peers.tuning` searches for better ones of Stable-Baselines3's DQN, of the CleanRL-style one
and of ours. All run on one torch thread for the same seconds of training; the clock stops during evaluations,
and what is done once before (imports, environments, networks) is not counted.
Stable-Baselines3's, Tianshou's and the CleanRL-style DQN learn against a random opponent; OpenSpiel's, ours and
MaskablePPO learn by self-play. A player that learns with a mask is evaluated with it.

With `--docs` runs are added to those in the folder's peers.csv, in the place of any of the same player and seed, so
that a measurement can be made in pieces; the table and the plot show all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import harness
from benchmarks.peers import evaluations, report
from benchmarks.peers.evaluations import MODULES
from selfplay.command_line import run_command

PROG = "python -m benchmarks.peers"


@dataclass(frozen=True)
class Flags:
    """Train DQNs of other libraries and ours for the same time, and evaluate all exactly."""

    players: tuple[str, ...] = tuple(MODULES)
    """Players to train, also `module:name` of your own."""
    seeds: tuple[int, ...] = (0, 1)
    """Seeds of every player."""
    seconds: float = 300.0
    """Training of each run, s."""
    evaluations: int = 40
    """Evaluations of each run: the first after 1/300 of its time, the last at its end, each interval longer."""
    docs: Path | None = None
    """Folder to write peers.png and peers.csv into."""


def main(args: Sequence[str]) -> None:
    """Train all, print each run as it ends and the table at the end, and write the figure and the CSV."""
    flags = harness.read_flags(Flags, args, PROG)
    harness.check_known("players", (name for name in flags.players if ":" not in name), MODULES)
    lines = [] if flags.docs is None else evaluations.read(flags.docs / "peers.csv")
    console = harness.start(
        "Learning quality beside other libraries",
        ("stable-baselines3", "sb3-contrib", "open-spiel", "tianshou"),
        flags.seeds,
    )
    available = evaluations.available(flags.players, console)
    due = evaluations.growing_times(flags.seconds, flags.evaluations)
    for seed in flags.seeds:  # the players take turns, so that what slows the machine slows all of them
        for name in available:
            history = evaluations.measure(name, evaluations.load(name).make(seed), seed, due)
            console.print(history[-1], soft_wrap=True)
            lines = [*(line for line in lines if (line.player, line.seed) != (name, seed)), *history]
            if flags.docs is not None:
                report.write(flags.docs, lines)
    console.print(f"{report.table_of_runs(lines)}\ngames are those of X; of O", soft_wrap=True)


if __name__ == "__main__":
    run_command(main, PROG)
