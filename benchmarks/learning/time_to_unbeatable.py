"""Measure how long training takes until the player is proved unbeatable, in a unit of the same machine.

The figures of docs/results.md:

    python -m benchmarks.learning.time_to_unbeatable --docs docs

Every run is `python train.py` with the same settings and seed. Its seconds are those of training up to the first
evaluation from which the proof holds to the end of the run; "all seconds" also count the evaluations, from which the
player learns too. All are seconds on the processor, so other programs on the core take none of them. The proof is
"optimal" in the modes `optimal` and `optimal-mask`, else "unbeatable". Updates are those of each network.

The unit is Stable-Baselines3's DQN for 10,000 steps with one update each, in turns with the runs: an MLP 27-27-27 with
batches of 32 on the turn view, learning from the first step on, all else its defaults. Seconds are divided by those of
the unit with the same seed, which was measured just before.
"""

import importlib
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args
from unittest.mock import patch

import gymnasium
import tyro

import selfplay
import tictactoe
from benchmarks import harness
from benchmarks.data import Result
from selfplay.dqn.config import DQNConfig
from selfplay.runs.loop import proves

TITLE = "Time to unbeatable"
UNIT_STEPS = 10_000
UNIT, EVALUATION = "unit", "one exact evaluation"

Mode = Literal["default", "mask", "separate", "optimal", "optimal-mask"]
MODES: dict[str, DQNConfig] = {
    "default": DQNConfig(),
    "mask": DQNConfig(mask=True),
    "separate": DQNConfig(networks="separate"),
    "optimal": DQNConfig(stop="optimal"),
    "optimal-mask": DQNConfig(mask=True, stop="optimal"),
}


def train(config: DQNConfig, seconds: float = math.inf) -> Result:
    """Train one player, for some seconds at most; return from when its proof held."""
    records, passed, started = [], [], time.process_time()
    with patch.object(time, "perf_counter", time.process_time):  # by which the loop counts its seconds
        for record in selfplay.training(config):
            records.append(record)
            passed.append(time.process_time() - started)
            if record.metrics["time/training_s"] >= seconds:
                break
    first = harness.held_from([proves(record.verdict, config.stop) for record in records])
    result = {"proved": first is not None, **dict.fromkeys(("seconds", "all seconds", "updates", "plies"), math.inf)}
    if first is not None:
        metrics, plies = records[first].metrics, records[first].steps
        result |= {"seconds": metrics["time/training_s"], "all seconds": passed[first]}
        result |= {"updates": metrics["time/updates"], "plies": plies}
    return result


def unit_seconds(steps: int, seed: int) -> float:
    """Return the seconds that Stable-Baselines3's DQN takes on our environment.

    Raises:
        RuntimeError: It did not do one update per step, so this is not the unit.
    """
    environment = gymnasium.wrappers.FlattenObservation(gymnasium.make("tictactoe:TicTacToe-v0"))
    model = importlib.import_module("stable_baselines3").DQN(
        "MlpPolicy",
        environment,
        batch_size=32,
        buffer_size=50_000,
        train_freq=1,
        gradient_steps=1,
        learning_starts=0,
        policy_kwargs={"net_arch": [27, 27, 27]},
        device="cpu",
        seed=seed,
    )
    started = time.process_time()
    model.learn(steps)
    seconds = time.process_time() - started
    if model._n_updates != steps:
        raise RuntimeError(f"Stable-Baselines3 did {model._n_updates} updates in {steps} steps")
    return seconds


def evaluation_milliseconds(seed: int) -> float:
    """Return what one exact evaluation of tic-tac-toe takes."""
    player = next(iter(selfplay.training(DQNConfig(seed=seed, device="cpu")))).player
    started = time.process_time()
    selfplay.evaluate(player, tictactoe.Rules())
    return 1_000 * (time.process_time() - started)


def main(
    modes: tuple[Mode, ...] = get_args(Mode),
    seeds: tuple[int, ...] = tuple(range(10)),
    total_steps: int = DQNConfig().total_steps,
    unit_steps: int = UNIT_STEPS,
    docs: Path | None = None,
) -> None:
    """Measure how long training takes until the player is proved unbeatable.

    Args:
        modes: What to train: no flags, --mask, --networks separate, --stop optimal, --mask --stop optimal.
        seeds: Seeds; of 0 to 9 the modes but default and mask have only the first five.
        total_steps: Plies after which a run ends at the latest.
        unit_steps: Steps of the unit; fewer only to try the script.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    units: dict[int, float] = {}

    def measure(row: str, seed: int) -> Result:
        if row == UNIT:
            units[seed] = unit_seconds(unit_steps, seed)
            return {"seconds": units[seed]}
        if row == EVALUATION:
            return {"ms": evaluation_milliseconds(seed)}
        if row not in ("default", "mask") and 5 <= seed < 10:
            return {}
        config = replace(MODES[row], total_steps=total_steps, device="cpu", seed=seed)
        result = train(config)
        return result | {"units": result["seconds"] / units[seed]}

    unit_seconds(min(200, unit_steps), 0)  # what is slow only once in a process
    note = f"a run without the proof counts as never; unit: {unit_steps:,} steps"
    harness.run(TITLE, [UNIT, *modes, EVALUATION], seeds, measure, note, ["stable-baselines3"], docs)


if __name__ == "__main__":
    tyro.cli(main)
