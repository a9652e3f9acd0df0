"""Train DQNs of other libraries and ours for the same time, and evaluate all exactly.

The README's figures of OpenSpiel's, Tianshou's and ours:

    python -m benchmarks.peers --players ours maskable-ppo open-spiel tianshou --docs docs

Each learner has its own library's settings; where they come from is in the docstring of its file here.
`python -m benchmarks.peers.tuning` searches for better ones. All run on one torch thread for the same seconds of
training; the clock stops during evaluations, and what is done once before (imports, environments, networks) is not
counted. A player that learns with a mask is evaluated with it.

With `--docs` runs are added to those in the folder's peers.csv, in the place of any of the same player and seed, so
that a measurement can be made in pieces; the tables and the plot show all of them. A run that fails is named, and the
others continue; the tables show it as one that was never unbeatable. The last table has the row that docs/protocol.md
asks for.
"""

from pathlib import Path

import tyro

from benchmarks import data, harness
from benchmarks.peers import report
from benchmarks.peers.evaluations import (
    FINAL_EVALUATIONS,
    FINAL_SECONDS,
    MODULES,
    Evaluation,
    growing_times,
    load,
    measure,
)

LIBRARIES = ("stable-baselines3", "sb3-contrib", "open-spiel", "tianshou")


def main(
    players: tuple[str, ...] = tuple(MODULES),
    seeds: tuple[int, ...] = (0, 1),
    seconds: float = FINAL_SECONDS,
    evaluations: int = FINAL_EVALUATIONS,
    docs: Path | None = None,
) -> None:
    """Train all, print each run as it ends and the tables at the end, and write the figure and the CSV.

    Args:
        players: Players to train, also a custom `module:name`.
        seeds: Seeds of every player.
        seconds: Training of each run, s.
        evaluations: Evaluations of each run: the first after 1/300 of its time, the last at its end, each
            interval longer.
        docs: Folder to write peers.png and peers.csv into.

    Raises:
        SystemExit: A run failed, which changes nothing for the others.
    """
    histories: dict[tuple[str, int], list[Evaluation]] = {}
    if docs is not None:
        histories = report.runs(report.read(docs, seconds))
    measured_on = harness.start("Learning quality compared with other libraries", LIBRARIES, seeds)
    due = growing_times(seconds, evaluations)
    for seed in seeds:  # the players take turns, so that what slows the machine slows all of them
        for name in players:
            try:
                histories[name, seed] = measure(name, load(name).make(seed), seed, due)
            except Exception as error:  # the learner may be somebody's own program
                histories[name, seed] = []
                print(f"{name}, seed {seed}, failed: {type(error).__name__}: {error}")
                continue
            print(histories[name, seed][-1], flush=True)
            if docs is not None:
                report.write(docs, [line for history in histories.values() for line in history])
                data.save(docs, "peers", {name: []}, measured_on)
    if any(histories.values()):
        histories = dict(sorted(histories.items()))
        print(report.table_of_runs(histories))
        print(report.table_of_players(histories, {}))
        print("games are those of X; of O")
    if not all(histories.values()):
        raise SystemExit("some runs failed, as said above")


if __name__ == "__main__":
    tyro.cli(main)
