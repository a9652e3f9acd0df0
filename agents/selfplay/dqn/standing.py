"""How a DQN's run stands between two plies, as a checkpoint holds it, and back again."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy
import torch
from torch import Tensor

from selfplay.checks import LARGEST
from selfplay.dqn.beginnings import Beginnings
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.interleaved import InterleavedAgents
from selfplay.errors import UserError
from selfplay.evaluation.lessons import MOST
from selfplay.learner import State
from tictactoe import Rules, batch, planes

BEGINNINGS = "beginnings"
GENERATOR, GENERATOR_BYTES = "generator", 8_192
"""Room for the state of a generator, of which a CPU's has 5,056 bytes and a GPU's 16."""


def array_module(device: torch.device) -> ModuleType:
    """Return what the boards are made of: NumPy on a CPU, where its calls cost a third of torch's."""
    return numpy if device.type == "cpu" else torch


def new_boards(config: DQNConfig, device: torch.device) -> batch.State:
    """Return empty boards."""
    xp = array_module(device)
    return batch.reset(config.rules, config.num_envs, xp, None if xp is numpy else device)


def packed(
    agents: InterleavedAgents, beginnings: Beginnings | None, boards: batch.State, counters: Mapping[str, Any]
) -> State:
    """Return agents, boards in play, where games begin and counters as a checkpoint holds them."""
    state = agents.state()
    if beginnings is not None:
        state |= {f"{BEGINNINGS}.{name}": tensor for name, tensor in beginnings.state().items()}
    generator = torch.zeros(GENERATOR_BYTES, dtype=torch.uint8)
    generator[: len(state[GENERATOR])] = state[GENERATOR]
    in_play = {f"boards.{name}": torch.as_tensor(array) for name, array in boards._asdict().items()}
    return State(state | in_play | {GENERATOR: generator}, counters)


def unpacked(
    agents: InterleavedAgents,
    beginnings: Beginnings | None,
    config: DQNConfig,
    state: State,
    device: torch.device,
    same_device: bool,
) -> batch.State:
    """Make the agents and where games begin what they were, and return the boards in play.

    The generator goes on on the same device only.

    Raises:
        UserError: no such run can have stood so.
    """
    tensors, counters = dict(state.tensors), state.counters
    boards = batch.State(*(tensors[f"boards.{name}"].numpy() for name in batch.State._fields))
    if not _possible(config, counters, tensors, boards):
        raise UserError("its checkpoint is not one of such a run; start a new run")
    own = agents.state()[GENERATOR]
    tensors[GENERATOR] = tensors[GENERATOR][: len(own)] if same_device else own
    agents.restore(tensors)
    if beginnings is not None:
        beginnings.restore({name: tensors[f"{BEGINNINGS}.{name}"] for name in beginnings.state()})
    if array_module(device) is numpy:
        return boards
    return batch.State(*(torch.as_tensor(array, device=device) for array in boards))


def _possible(
    config: DQNConfig, counters: Mapping[str, Any], tensors: Mapping[str, Tensor], boards: batch.State
) -> bool:
    """Tell whether a run can have stood so; a checkpoint of another program can hold anything."""
    counted = all(value <= 2 * LARGEST for value in counters.values())
    for name, tensor in tensors.items():
        if name.endswith(".updates"):
            counted = counted and int(tensor) == counters["updates"]
        elif name.endswith(".memory_added"):
            counted = counted and 0 <= int(tensor) <= 2 * LARGEST
    if (number := tensors.get(f"{BEGINNINGS}.number")) is not None:
        mover, opponent = (tensors[f"{BEGINNINGS}.{name}"].numpy().ravel() for name in ("mover", "opponent"))
        counted = counted and bool(((number >= 0) & (number <= MOST)).all())
        kept = batch.State(mover, opponent, planes.bits(config.rules.cells, mover | opponent).sum(axis=1))
        counted = counted and _can_go_on(config.rules, kept)
    return counted and _can_go_on(config.rules, boards)


def _can_go_on(rules: Rules, boards: batch.State) -> bool:
    """Tell whether on each board a game can go on."""
    mover, opponent, ply = boards
    both = mover | opponent
    marks = sum(both >> cell & 1 for cell in range(rules.cells))
    right = (mover & opponent == 0) & (both & ~rules.full_word == 0) & (ply == marks) & (ply < rules.cells)
    finished = rules.has_line(mover) | rules.has_line(opponent)
    return bool(right.all() and not finished.any())
