"""How a DQN's run stands between two plies, and how that goes into a checkpoint and comes out of it again."""

import math
from types import ModuleType
from typing import NamedTuple

import numpy
import torch

from selfplay.checkpoint import Checkpoints, Snapshot
from selfplay.config import DQNConfig
from selfplay.dqn import Update
from selfplay.errors import UserError
from selfplay.interleaved import InterleavedAgents
from tictactoe import batch

EVALUATIONS_TO_STOP = 3
"""Evaluations running that must prove what `--stop` asks for."""


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
    return Snapshot(agents.state() | boards, counters)


def resume(config: DQNConfig, agents: InterleavedAgents, device: torch.device, kept: Checkpoints) -> Standing:
    """Make the agents what they were at the last checkpoint, and return how the run stood.

    Raises:
        UserError: there is no checkpoint of such a run, or the run is finished.
    """
    standing = Standing(beginning(config, device), config.eval_every)
    found = kept.read(snapshot(agents, standing))
    if found is None:
        return standing
    tensors, counters = found.tensors, dict(found.counters)
    agents.restore(tensors)
    in_numpy = array_module(device) is numpy
    boards = batch.State(
        *(
            tensors[f"boards.{name}"].numpy() if in_numpy else tensors[f"boards.{name}"].to(device)
            for name in batch.State._fields
        )
    )
    plies, updates = counters.pop("plies"), counters.pop("updates")
    if kept.settings["stop"] != config.stop:
        counters["proofs"] = 0
    elif kept.finished and counters["proofs"] == EVALUATIONS_TO_STOP:
        raise UserError(f"{kept.folder}: is finished: --stop {config.stop} is proved; --stop never --force goes on")
    return Standing(standing.progressed._replace(plies=plies, updates=updates, boards=boards), **counters)
