"""Judge the players that `benchmarks.learning.five_by_five` trained in all of their play, and save and plot the study.

python -m benchmarks.learning.five_by_five_study judge --seed 1 --seat 0 --out FOLDER   # minutes, some gigabytes
python -m benchmarks.learning.five_by_five_study save --out FOLDER --study docs/studies/five-by-five
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
import tyro
from matplotlib.figure import Figure

from selfplay.dqn.config import DQNConfig
from selfplay.dqn.player import read_player
from selfplay.files import write_whole
from selfplay.judge.ask import agent_policy
from selfplay.judge.evaluate import confirm_play, search_seat
from selfplay.plot_style import FIRST, SECOND, png, styled

SHOWN_AS_ZERO = 0.5
"""Where no way is plotted on the logarithmic axis."""


def judge(seed: int, seat: int, out: Path) -> None:
    """Follow all play of a player in one seat, ask it again about all of it, and save what was found.

    Args:
        seed: Seed of its run.
        seat: 0 as X, 1 as O.
        out: Folder with its weights.
    """
    torch.set_num_threads(1)
    policy = agent_policy(read_player(out / f"{seed}.safetensors", DQNConfig(preset="5x5"), None))
    started = time.process_time()
    search = search_seat(policy, seat, sys.maxsize)
    confirm_play(policy, search)
    found = {
        "seed": seed,
        "seat": "XO"[seat],
        "ways": search.verdict.ways_to_beat,
        "loses to random play": search.verdict.loss,
        "complete": search.verdict.complete,
        "positions": sum(len(ply.mine) for ply in search.plies),
        "seconds": time.process_time() - started,
    }
    print(json.dumps(found), flush=True)
    (out / f"whole-{seed}-{seat}.json").write_text(json.dumps(found))


def save(out: Path, study: Path) -> None:
    """Write the study's data file and its picture.

    Args:
        out: Folder with the data of the runs.
        study: Folder of the study.
    """
    saved: dict[str, Any] = {}
    for path in sorted(out.glob("[0-9]*.json")):
        run = json.loads(path.read_text())
        whole = [json.loads(each.read_text()) for each in sorted(out.glob(f"whole-{run['seed']}-*.json"))]
        saved[f"seed {run['seed']}"] = {
            "measured on": run["measured on"],
            "results": [
                {"whole play at the end": whole, "searches": run["searches"], "evaluations": run["evaluations"]}
            ],
        }
    study.mkdir(parents=True, exist_ok=True)
    (study / "five-by-five.json").write_text(json.dumps(saved, indent=1) + "\n")
    write_whole(study / "five-by-five.png", png(plot(saved)))


@styled()
def plot(saved: dict[str, Any]) -> Figure:
    """Plot the ways to beat each player over the minutes: in the large search, and in the samples while it trains."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    seats = figure.subplots(1, 2, sharey=True)
    for axes, seat, colour in zip(seats, "XO", (FIRST, SECOND), strict=True):
        for marker, run in zip("osD", saved, strict=False):
            (result,) = saved[run]["results"]
            evaluations, searches = result["evaluations"], result["searches"]
            minutes = [each["minutes"] for each in evaluations]
            axes.plot(minutes, [each[seat] or SHOWN_AS_ZERO for each in evaluations], ".", color=f"{colour}30", ms=3)
            ways = [each[seat]["ways"] or SHOWN_AS_ZERO for each in searches]
            axes.plot([each["minutes"] for each in searches], ways, f"{marker}-", color=colour, label=run, ms=5)
        axes.set(yscale="log", xlabel="minutes of a core", title=f"as {seat}")
        axes.legend()
    seats[0].set_yticks([SHOWN_AS_ZERO, 1, 10, 100, 1_000, 10_000], ["0", "1", "10", "100", "1,000", "10,000"])
    seats[0].set_ylabel("ways to beat it")
    figure.suptitle("5,5,4: a line is a player in the same large search, a dot a sample while it trains")
    return figure


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict({"judge": judge, "save": save})
