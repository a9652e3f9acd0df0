"""Train learners of other libraries and ours for the same time, and look at all equally often and exactly.

    python -m benchmarks.peers --docs docs                         # ours
    python -m benchmarks.peers --players open-spiel --docs docs

Players are those of `compared_learners.py`. All run on one torch thread for the same seconds of training; the clock
stops while they are looked at, and what is done once before (imports, environments, networks) is not counted. A player
that learns with a mask is evaluated with it.

With `--docs` a run is added to those in the folder's peers.csv when it ends, in the place of one of the same player and
seed, so that a measurement can be made in pieces; the page shows all of them. A run that fails is named,
and the others continue.

A custom player is a function `make(seed)` in a module, named `module:make`. It returns a function `train(tick)`, which
calls `tick(updates, player)` after every step until this returns False. A player is anything that `selfplay.evaluate`
takes, or a mapping from the names of networks to players. It sees the planes empty, mine and theirs.
`maskable_ppo.py` is an example.
"""

from pathlib import Path

import tyro

from benchmarks import data, harness
from benchmarks.peers import peer_runs
from benchmarks.peers.compared_learners import load
from benchmarks.peers.evaluations import FINAL_SECONDS, NetworkResult, measure, outcomes
from benchmarks.peers.our_dqn import WALK

PACKAGES = ("stable-baselines3", "sb3-contrib", "open-spiel")


def main(
    players: tuple[str, ...] = tuple(WALK),
    seeds: tuple[int, ...] = tuple(range(5)),
    seconds: float = FINAL_SECONDS,
    docs: Path | None = None,
) -> None:
    """Train all, print each run as it ends and the tables at the end, and write the CSV.

    Args:
        players: Players to train, also a custom `module:name`.
        seeds: Seeds of every player.
        seconds: Training of each run, s.
        docs: Folder to write peers.csv into.

    Raises:
        SystemExit: A run failed, which changes nothing for the others.
    """
    makers = {name: load(name) for name in players}
    if docs is not None:
        peer_runs.check_length(docs, seconds)
    measured_on = harness.start("Learning quality compared with other libraries", PACKAGES, seeds)
    found: list[NetworkResult] = []
    failed = 0
    for seed in seeds:  # the players take turns, so that what slows the machine slows all of them
        for name, make in makers.items():
            try:
                runs = outcomes(name, seed, measure(make, seed, seconds), measured_on["commit"])
            except Exception as error:  # the learner may be somebody's own program
                failed += 1
                print(f"{name}, seed {seed}, failed: {type(error).__name__}: {error}", flush=True)
                continue
            found += runs
            print(*runs, sep="\n", flush=True)
            if docs is not None:
                peer_runs.add(docs, runs)
                data.save(docs, "peers", {name: []}, measured_on)
    print(peer_runs.table(peer_runs.in_order(found)))
    if failed:
        raise SystemExit(f"{failed} runs failed, as said above; publish these lines too")


if __name__ == "__main__":
    tyro.cli(main)
