"""Measure how long training takes until the player is proved unbeatable, in a unit of the same machine.

The README's figures:

    python -m benchmarks.learning.time_to_unbeatable

With `--levers` each run is also made without canonical boards, without counterexamples, and without both, which is the
plain self-play that other libraries do.

Every run is the one that `python train.py` does with the same settings and seed. Its time is the time spent in
training up to the first evaluation from which the proof holds to the end of the run; beside it stands the time that
passed in all, with the evaluations, from which the player learns too. The proof is "optimal" in the modes `optimal` and
`optimal-mask`, and "unbeatable" in the others. A run that does not get there counts as "never" in every median. The
unit of time (see `benchmarks/training/unit.py`) is measured in turns with the runs, and its median counts. Updates are
those of each network: with one per seat, both do as many.
"""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple, get_args

from rich.console import Console

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import Spread, spread
from benchmarks.training import runs
from benchmarks.training.unit import STEPS, unit_seconds
from selfplay import training
from selfplay.command_line import run_command
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import choose_device
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.evaluate import evaluate_policy
from selfplay.evaluation.report import live_score
from selfplay.evaluation.verdict import Verdict

PROG = "python -m benchmarks.learning.time_to_unbeatable"
EVALUATE_CALLS = 20
HEADER = ("mode", "levers", "solved", "seconds", "units", "all seconds", "updates", "plies")

Mode = Literal["default", "mask", "separate", "optimal", "optimal-mask"]
MODES: dict[Mode, DQNConfig] = {
    "default": DQNConfig(),
    "mask": DQNConfig(mask=True),
    "separate": DQNConfig(networks="separate"),
    "optimal": DQNConfig(stop="optimal"),
    "optimal-mask": DQNConfig(mask=True, stop="optimal"),
}
Levers = Literal["both", "canonical", "counterexamples", "neither"]
PULLED: dict[Levers, dict[str, Any]] = {
    "both": {},
    "canonical": {"counterexamples": 0.0},
    "counterexamples": {"symmetry": "augment"},
    "neither": {"symmetry": "augment", "counterexamples": 0.0},
}
SEEDS = {mode: range(10 if mode in ("default", "mask") else 5) for mode in MODES}


@dataclass(frozen=True)
class Flags:
    """Measure how long training takes until the player is proved unbeatable."""

    modes: tuple[Mode, ...] = get_args(Mode)
    """What to train: no flags, --mask, --networks separate, --stop optimal, --mask --stop optimal."""
    levers: tuple[Levers, ...] = ("both",)
    """What it learns by: canonical boards and counterexamples, as by default, one of them alone, or plain self-play."""
    seeds: tuple[int, ...] = ()
    """Seeds of every mode. Default: 0 to 9 for default and mask, 0 to 4 for the others."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where to train; the unit of time is a CPU's in either case."""
    total_steps: int = DQNConfig().total_steps
    """Plies after which a run ends at the latest."""
    unit_steps: int = STEPS
    """Steps of the unit of time; fewer only to try the script."""


class Run(NamedTuple):
    """Hold when a run's proof began and how the run ended."""

    mode: Mode
    levers: Levers
    seed: int
    seconds: float
    """Training up to the proof; infinity without one, as are updates and plies."""
    passed: float
    """Seconds up to the proof, evaluations and all."""
    updates: float
    plies: float
    proofs: int
    """Evaluations running, at the end, that proved it."""
    evaluation: Verdict
    """What the player is in the end."""

    def text(self) -> str:
        """Return the run as a line."""
        when = f"after {self.seconds:.2f} s, {self.updates:,.0f} updates, {self.plies:,.0f} plies"
        proved = f"proved {when}, and {self.proofs}x running" if self.proofs else "not proved"
        return f"{self.mode:>12} {self.levers:>15} seed {self.seed}: {proved}; at the end {live_score(self.evaluation)}"


def measure(mode: Mode, seed: int, total_steps: int, device: Literal["cpu", "cuda"], levers: Levers = "both") -> Run:
    """Train one player."""
    config = replace(MODES[mode], seed=seed, total_steps=total_steps, device=device, **PULLED[levers])
    history, times, started = [], [], time.perf_counter()
    for record in training(config):
        history.append(record)
        times.append(time.perf_counter() - started)
    first = runs.proved_from(history, config.stop)
    seconds = passed = updates = plies = math.inf
    if first is not None:
        passed = times[first]
        plies, _, metrics, _ = history[first]
        seconds, updates = metrics["time/training_s"], metrics["time/updates"]
    proofs = 0 if first is None else len(history) - first
    return Run(mode, levers, seed, seconds, passed, updates, plies, proofs, history[-1].evaluation)


def evaluate_milliseconds() -> Spread:
    """Return what one exact evaluation of tic-tac-toe takes, in ms; the game is solved before."""
    judge = player_policy(next(training(DQNConfig(device="cpu"))).player)
    times = []
    for _ in range(EVALUATE_CALLS):
        started = time.perf_counter()
        evaluate_policy(judge)
        times.append(1_000 * (time.perf_counter() - started))
    return spread(times)


def measure_all(flags: Flags, seeds: Iterable[int], console: Console) -> tuple[Spread, list[Run]]:
    """Measure the unit and every mode with one seed after the other, and print each as it ends."""
    unit_seconds(min(200, flags.unit_steps))  # what is slow only once in a process
    units: list[float] = []
    done: list[Run] = []
    for seed in seeds:
        units.append(unit_seconds(flags.unit_steps, seed))
        console.print(f"    unit seed {seed}: {units[-1]:.2f} s for {flags.unit_steps:,} steps")
        for mode, levers in product(flags.modes, flags.levers):
            if seed in (flags.seeds or SEEDS[mode]):
                done.append(measure(mode, seed, flags.total_steps, flags.device, levers))
                console.print(done[-1].text(), soft_wrap=True)
    return spread(units), done


def table_rows(done: Sequence[Run], unit: Spread) -> Iterator[list[str]]:
    """Return the medians and spreads by mode and levers."""
    for mode, levers in dict.fromkeys((run.mode, run.levers) for run in done):
        of_mode = [run for run in done if (run.mode, run.levers) == (mode, levers)]
        seconds = spread(run.seconds for run in of_mode)
        yield [
            mode,
            levers,
            f"{sum(run.proofs > 0 for run in of_mode)} of {len(of_mode)}",
            seconds.text(1),
            seconds.over(unit.median).text(2),
            spread(run.passed for run in of_mode).text(1),
            spread(run.updates for run in of_mode).text(),
            spread(run.plies for run in of_mode).text(),
        ]


def main(args: Sequence[str]) -> None:
    """Measure, and print each result as it comes and the table at the end."""
    flags = read_flags(Flags, args, PROG, may_be_empty=["seeds"])
    choose_device(flags.device)
    seeds = flags.seeds or sorted({seed for mode in flags.modes for seed in SEEDS[mode]})
    console = machine.start("Time to unbeatable", peers=["stable-baselines3"], seeds=seeds)
    evaluation = evaluate_milliseconds()
    console.print(f"one exact evaluation: {evaluation.text(1)} ms, {EVALUATE_CALLS} calls")
    unit, done = measure_all(flags, seeds, console)
    note = "median (least to most) over the seeds; a run without the proof counts as never"
    tables.present(console, HEADER, table_rows(done, unit), note)
    console.print(f"unit: {unit.text(2)} s for {flags.unit_steps:,} steps; the median counts")


if __name__ == "__main__":
    run_command(main, PROG)
