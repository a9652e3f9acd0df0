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
that a measurement can be made in pieces; the tables and the plot show all of them. Runs of another length are refused.
A run that fails is named, and the others go on; the tables show it as one that was never unbeatable. The last table has
the row that docs/protocol.md asks for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import data, harness
from benchmarks.peers import evaluations, report
from benchmarks.peers.evaluations import MODULES
from selfplay.cli.flags import run_command
from selfplay.errors import UserError, what_failed

PROG = "python -m benchmarks.peers"
LIBRARIES = ("stable-baselines3", "sb3-contrib", "open-spiel", "tianshou")


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
    """Train all, print each run as it ends and the tables at the end, and write the figure and the CSV.

    Raises:
        UserError: A run failed, which changes nothing for the others.
    """
    flags = harness.read_flags(Flags, args, PROG)
    harness.check_known("players", (name for name in flags.players if ":" not in name), MODULES)
    histories = report.runs(report.earlier(flags.docs, flags.seconds))
    console = harness.start("Learning quality beside other libraries", LIBRARIES, flags.seeds)
    available = evaluations.available(flags.players, console)
    due = evaluations.growing_times(flags.seconds, flags.evaluations)
    for seed in flags.seeds:  # the players take turns, so that what slows the machine slows all of them
        for name in available:
            histories[name, seed] = []
            try:
                histories[name, seed] = evaluations.measure(name, evaluations.load(name).make(seed), seed, due)
            except Exception as error:  # the learner may be somebody's own program
                why = error if isinstance(error, UserError) else what_failed(error)
                console.print(f"{name}, seed {seed}, failed: {why}", soft_wrap=True)
                continue
            console.print(str(histories[name, seed][-1]), soft_wrap=True)
            if flags.docs is not None:
                report.write(flags.docs, [line for history in histories.values() for line in history])
                data.save(flags.docs, "peers", {name: []}, harness.machine(LIBRARIES))
    if any(histories.values()):
        histories = dict(sorted(histories.items()))
        console.print(
            f"{report.table_of_runs(histories)}\n{report.table_of_players(histories, {})}\ngames are those of X; of O",
            soft_wrap=True,
        )
    if not all(histories.values()):
        raise UserError("some runs failed, as said above")


if __name__ == "__main__":
    run_command(main, PROG)
