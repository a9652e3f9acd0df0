"""How a DQN's run stands between two plies, and how that goes into a checkpoint and comes out of it again."""

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy
import torch
from torch import Tensor

from selfplay.checkpoint import Checkpoints, Snapshot, check_length
from selfplay.checks import LARGEST
from selfplay.config import DQNConfig
from selfplay.dqn import Update
from selfplay.errors import UserError
from selfplay.interleaved import InterleavedAgents
from tictactoe import batch

EVALUATIONS_TO_STOP = 3
"""Evaluations running that must prove what `--stop` asks for."""
GENERATOR, GENERATOR_BYTES = "generator", 8_192
"""Room for the state of a generator, of which a CPU's has 5,056 bytes and a GPU's 16."""


class Progressed(NamedTuple):
    """Say how far training is."""

    plies: int
    updates: int
    epsilon: float
    last_updates: list[Update]
    """The newest update of each agent; empty before the first."""
    boards: batch.State
    """The games in play."""


class Standing(NamedTuple):
    """Say how a run stands between two plies, beside what its agents hold."""

    progressed: Progressed
    due: int
    """Plies at which the next evaluation is due."""
    seconds: float = 0.0
    """Time spent in `self_play` so far."""
    proofs: int = 0
    """Evaluations running, up to the last, that have proved what `stop` asks for."""
    evaluations: int = 0


def beginning(config: DQNConfig, device: torch.device) -> Progressed:
    """Return how far training is before its first ply."""
    xp = array_module(device)
    boards = batch.reset(config.rules, config.num_envs, xp, None if xp is numpy else device)
    return Progressed(0, 0, config.epsilon_start, [], boards)


def array_module(device: torch.device) -> ModuleType:
    """Return what the boards are made of: NumPy on a CPU, where its calls cost a third of torch's."""
    return numpy if device.type == "cpu" else torch


def diverged(agents: InterleavedAgents, progressed: Progressed) -> bool:
    """Tell whether the last losses are not finite, or the weights, as which the next losses would not be."""
    weights = [agent.state()["weights"] for agent in agents.distinct]
    losses = [update.loss for update in progressed.last_updates]
    return not all(math.isfinite(loss) for loss in losses) or not all(bool(w.isfinite().all()) for w in weights)


def snapshot(agents: InterleavedAgents, standing: Standing) -> Snapshot:
    """Return all that a run needs to go on; the last updates are not, since a step makes new ones before they count."""
    progressed, *_ = standing
    boards = {f"boards.{name}": torch.as_tensor(array) for name, array in progressed.boards._asdict().items()}
    counters = standing._asdict() | {"plies": progressed.plies, "updates": progressed.updates}
    del counters["progressed"]
    generator = torch.zeros(GENERATOR_BYTES, dtype=torch.uint8)
    state = agents.state()
    generator[: len(state[GENERATOR])] = state[GENERATOR]
    return Snapshot(state | boards | {GENERATOR: generator}, counters)


def resume(config: DQNConfig, agents: InterleavedAgents, device: torch.device, kept: Checkpoints) -> Standing:
    """Make the agents what they were at the last checkpoint, and return how the run stood.

    On another device than that of the checkpoint, random draws begin anew: no generator goes on with another's.

    Raises:
        UserError: there is no checkpoint of such a run, or the run is finished.
    """
    standing = Standing(beginning(config, device), config.eval_every)
    blank = snapshot(agents, standing)
    found = kept.read(blank)
    if found is None:
        return standing
    tensors, counters = dict(found.tensors), dict(found.counters)
    boards = batch.State(*(tensors[f"boards.{name}"].numpy() for name in batch.State._fields))
    if not _possible(config, counters, tensors, boards):
        raise UserError(f"{kept.folder}: its checkpoint is not one of such a run; start a new run")
    if kept.settings.get("stop") != config.stop:
        counters["proofs"] = 0
    elif kept.finished and counters["proofs"] == EVALUATIONS_TO_STOP:
        raise UserError(f"{kept.folder}: is finished: --stop {config.stop} is proved; --stop never --force goes on")
    kept.check_unfinished()
    check_length("total_steps", config.total_steps, counters["plies"], config.num_envs, kept)
    if kept.settings.get("device") != device.type:
        tensors[GENERATOR] = blank.tensors[GENERATOR]
    tensors[GENERATOR] = tensors[GENERATOR][: len(agents.state()[GENERATOR])]
    agents.restore(tensors)
    if array_module(device) is not numpy:
        boards = batch.State(*(torch.as_tensor(array, device=device) for array in boards))
    plies, updates = counters.pop("plies"), counters.pop("updates")
    return Standing(standing.progressed._replace(plies=plies, updates=updates, boards=boards), **counters)


def _possible(
    config: DQNConfig, counters: Mapping[str, Any], tensors: Mapping[str, Tensor], boards: batch.State
) -> bool:
    """Tell whether a run can have stood so; a checkpoint of another program can hold anything."""
    counted = all(value <= 2 * LARGEST for value in counters.values()) and counters["proofs"] <= EVALUATIONS_TO_STOP
    for name, tensor in tensors.items():
        if name.endswith(".updates"):
            counted = counted and int(tensor) == counters["updates"]
        elif name.endswith(".memory_added"):
            counted = counted and 0 <= int(tensor) <= 2 * LARGEST
    rules, (mover, opponent, ply) = config.rules, boards
    both = mover | opponent
    marks = sum(both >> cell & 1 for cell in range(rules.cells))
    right = (mover & opponent == 0) & (both & ~rules.full_word == 0) & (ply == marks) & (ply < rules.cells)
    finished = rules.has_line(mover) | rules.has_line(opponent)
    return bool(counted and right.all() and not finished.any())
