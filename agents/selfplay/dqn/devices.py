"""Where a DQN's run lives, and whether there is room for it."""

import torch

from selfplay.checks import GIGABYTE, machine_bytes
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.transitions import Layout
from selfplay.errors import UserError

COPIES = 6
"""Of all weights: the network's and the target's with a gradient each, and two moments of Adam."""


def choose_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is CUDA where there is one.

    Raises:
        UserError: CUDA is asked for and not available.
    """
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UserError("--device cuda: this machine or this build of PyTorch has no CUDA; use --device cpu")
    return torch.device("cuda" if name == "cuda" or (name == "auto" and available) else "cpu")


def check_room(config: DQNConfig, device: torch.device) -> None:
    """Refuse settings that need more memory than the device has, for which a system would kill the run in the midst.

    Raises:
        UserError: they do.
    """
    needed, there = least_bytes(config), device_bytes(device)
    if there is not None and needed > there:
        place = "the GPU" if device.type == "cuda" else "this machine"
        raise UserError(
            f"these settings need at least {needed / GIGABYTE:,.0f} GB of memory, and {place} has "
            f"{there / GIGABYTE:,.0f} GB; lower --memory-size, --batch-size, --num-envs or --hidden"
        )


def least_bytes(config: DQNConfig) -> int:
    """Return how much memory a run takes at least: replay memory, networks, a batch through them, and the boards.

    An evaluation takes no more than a batch, or 1 MB a layer: see `player.in_parts`.
    """
    cells, agents = config.rules.cells, 2 if config.networks == "separate" else 1
    units = cells * (sum(config.convolution) + config.lines) + sum(config.hidden) + cells
    columns = Layout(cells).width
    kept = agents * (config.memory_size * columns + COPIES * config.weights)
    return 4 * (kept + config.batch_size * (columns + units) + config.num_envs * units)


def device_bytes(device: torch.device) -> int | None:
    """Return how much memory a device has, in use or not, if the system says so."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return machine_bytes()
