"""Measure what an update could cost less: with `torch.compile`, and as its bare matrix products.

The figures of docs/performance.md (about three minutes; needs a C++ compiler):

    python -m benchmarks.training.update_cost

For the default settings and the article's: one update as it is beside `torch.compile` of the whole `learn`, beside
`torch.compile` of the target and of the loss with its gradient alone, and beside the matrix products that it cannot do
without; and one whole step of training, acting and updating, beside the products of both. Two rows take turns, and
each round gives one ratio. Compiling begins with an empty cache, and its time is that of the first ten updates. What is
compiled saves so much a step, which is set against that time.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from selfplay.dqn.agent import DQNAgent
from selfplay.dqn.interleaved import InterleavedAgents
from torch._inductor.utils import fresh_cache

from benchmarks.environment import faces
from benchmarks.environment.face_loops import Chunk
from benchmarks.environment.face_rows import Row
from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import Spread, number, spread
from benchmarks.measuring.turns import round_by_round
from benchmarks.training import loops
from selfplay.command_line import run_command
from selfplay.dqn.config import PRESETS, DQNConfig

PROG = "python -m benchmarks.training.update_cost"
BACKEND = "inductor"
FIRST_UPDATES = 10
"""In which everything is compiled, and once more where a number turns out to change."""
NAMES = {"default": "`python train.py`", "article": "`--preset article`"}
HEADER = ("settings", "what", "per second", "times as fast as it is", "first ten, s", "pays after updates")


@dataclass(frozen=True)
class Flags:
    """Measure what an update could cost less: compiled, and as its bare matrix products."""

    rounds: int = 5
    """Turns of each row."""
    seconds: float = 1.0
    """Time of a turn."""


class Cost(NamedTuple):
    """Hold how fast something is, beside what it is compared with in turns."""

    settings: str
    what: str
    rates: Spread
    """Per second."""
    ratios: Spread
    """Over what it is compared with, round by round."""
    first_seconds: float | None = None
    """Of the first updates, where something is compiled."""

    def cells(self) -> list[str]:
        """Return the fields of `HEADER`."""
        if self.first_seconds is None:
            return [NAMES[self.settings], self.what, self.rates.text(), self.ratios.text(2), "", ""]
        saved = (self.ratios.median - 1) / self.rates.median  # seconds an update
        pays = self.first_seconds / saved if saved > 0 else math.inf
        first = f"{self.first_seconds:.1f}"
        return [NAMES[self.settings], self.what, self.rates.text(), self.ratios.text(2), first, number(pays)]


def compiled_parts(agents: InterleavedAgents) -> Callable[[], object]:
    """Return an update whose target and loss are compiled, and the rest as it is."""
    agent = agents.seats[0]
    targets = torch.compile(agent.targets, backend=BACKEND)
    loss_of = torch.compile(_loss, backend=BACKEND)

    def update() -> torch.Tensor:
        transitions = agent.sample()
        loss = loss_of(agent, transitions.observation, transitions.action, targets(transitions, agent))
        agent._flat.gradient.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        agent.optimizer.step()
        agent._follow()
        return loss

    return update


def _loss(agent: DQNAgent, observation: torch.Tensor, action: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the loss that `DQNAgent.update` computes."""
    taken = (agent.network(observation) * action).sum(dim=1)
    return torch.nn.functional.mse_loss(taken, targets)


def side_by_side(first: Chunk, second: Chunk, flags: Flags) -> tuple[Spread, Spread, Spread]:
    """Return the rates of two chunks in turns, and how many times as fast the second is, round by round."""
    rows = Row("first", lambda _: first), Row("second", lambda _: second)
    one, other = (measured.rates for measured in faces.measure(rows, flags.rounds, flags.seconds).values())
    return spread(one), spread(other), spread(round_by_round(other, one))


def costs(settings: str, config: DQNConfig, flags: Flags) -> list[Cost]:
    """Measure everything for some settings."""
    as_it_is = loops.learning(config)
    even = Spread(1, 1, 1)
    found = []
    compiling: dict[str, Callable[[InterleavedAgents], Callable[[], object]]] = {
        "`torch.compile` of learn": lambda agents: torch.compile(agents.learn, backend=BACKEND),
        "`torch.compile` of target and loss": compiled_parts,
    }
    for what, compiled in compiling.items():
        torch.compiler.reset()
        update = compiled(loops.filled(config).agents)
        with fresh_cache():
            started = time.perf_counter()
            for _ in range(FIRST_UPDATES):
                update()
            first_seconds = time.perf_counter() - started
        _, rates, ratios = side_by_side(as_it_is, loops.repeated(update), flags)
        found.append(Cost(settings, what, rates, ratios, first_seconds))
    plain, rates, ratios = side_by_side(as_it_is, loops.update_products(config), flags)
    found = [
        Cost(settings, "update as it is", plain, even),
        *found,
        Cost(settings, "its matrix products", rates, ratios),
    ]
    plain, rates, ratios = side_by_side(loops.training(config), loops.step_products(config), flags)
    return [*found, Cost(settings, "whole step", plain, even), Cost(settings, "its matrix products", rates, ratios)]


def main(args: Sequence[str]) -> None:
    """Measure both settings, and print the table."""
    flags = read_flags(Flags, args, PROG)
    # Else it warns, at length, of the step count that splits `learn`.
    logging.getLogger("torch._dynamo").setLevel(logging.ERROR)
    console = machine.start("What an update could cost less")
    rows = [cost.cells() for name in NAMES for cost in costs(name, PRESETS[name], flags)]
    console.print(tables.terminal(HEADER, rows))
    console.print(f"median (least to most) over {flags.rounds} rounds of {flags.seconds} s; load {machine.load()}")


if __name__ == "__main__":
    run_command(main, PROG)
