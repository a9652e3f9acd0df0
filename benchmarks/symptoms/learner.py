"""A small DQN as people write one of their own: network, target network, memory. It shares no line with ours.

What it is told, and which mistakes are in that, is for the loops to say.
"""

import copy
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tictactoe.tree import BoolArray, IntArray

CELLS = 9
WIDTH, BATCH, MEMORY = 128, 256, 20_000
RATE, FOLLOW, GAMMA = 3e-3, 0.02, 0.99

FloatArray: TypeAlias = NDArray[np.float32]
Masked: TypeAlias = Literal["nothing", "moves", "moves and targets"]
"""Where the cells that are taken are left out."""


class Transitions(NamedTuple):
    """Hold what some moves were and came to; `B` is their number."""

    observation: FloatArray
    """[B, 27]"""
    action: IntArray
    """[B]"""
    reward: FloatArray
    """[B]"""
    goes_on: BoolArray
    """[B]: something follows that the target takes the worth of."""
    next_observation: FloatArray
    """[B, 27]: where that is."""
    next_legal: BoolArray
    """[B, 9]: the cells among which the target looks for the best there."""


class Learner:
    """Learn what each cell is worth: the reward, and `sign` times what the next position in the transition is worth."""

    def __init__(self, seed: int, sign: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)
        self.sign = sign
        layers = nn.Linear(3 * CELLS, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CELLS)
        self.network = nn.Sequential(*layers)
        self.target_network = copy.deepcopy(self.network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), RATE)
        self.memory: Transitions | None = None
        self.added = 0

    @torch.no_grad()
    def values(self, observation: FloatArray) -> FloatArray:
        """Return what each cell is worth by the target network, the steadier of the two: [B, 27] to [B, 9]."""
        found: FloatArray = self.target_network(torch.as_tensor(observation)).numpy()
        return found

    def remember(self, new: Transitions) -> None:
        """Put transitions in the place of the oldest ones."""
        if self.memory is None:
            self.memory = Transitions(*(np.zeros((MEMORY, *part.shape[1:]), part.dtype) for part in new))
        places = (self.added + np.arange(len(new.action))) % MEMORY
        for kept, part in zip(self.memory, new, strict=True):
            kept[places] = part
        self.added += len(new.action)

    def learn(self) -> None:
        """Move the network towards the targets of a batch, and let the target network follow."""
        if self.memory is None or self.added < BATCH:
            return
        rows = torch.randint(min(self.added, MEMORY), (BATCH,), generator=self.generator).numpy()
        observation, action, reward, goes_on, after, legal = (torch.as_tensor(part[rows]) for part in self.memory)
        with torch.no_grad():
            worth: Tensor = self.target_network(after).masked_fill(~legal, -torch.inf).amax(dim=1)
            target = reward + self.sign * GAMMA * torch.where(goes_on, worth, 0.0)
        taken = self.network(observation).gather(1, action[:, None])[:, 0]
        self.optimizer.zero_grad()
        nn.functional.mse_loss(taken, target).backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target_network.parameters(), self.network.parameters(), strict=True):
                slow.lerp_(fast, FOLLOW)
