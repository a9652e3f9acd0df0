"""A pool of opponents: earlier snapshots of the player, against which a part of the games is played."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

SHARE = 0.3
"""Part of the new games that is played against a snapshot."""
SNAPSHOTS = 4
"""Snapshots in the pool."""
EVERY = 20
"""Updates after which the player replaces a snapshot. It is drawn at random, so that a few become old."""
LEARNER = -1
"""The mark of a seat that no snapshot plays."""


class SnapshotPool(nn.Module):
    """Earlier snapshots of the player, and the seats that they hold on `boards` boards; at first they are untrained.

    In a game against a snapshot one seat is the learner's and explores, and the other takes the best moves of the
    snapshot. Transitions of both seats are learned from: Q-learning is off-policy, so it does not matter who chose a
    move, and no ply is lost. What the pool changes is which positions are met.

    It is a module so that its state has the weights of all snapshots.
    """

    holder: Tensor
    """[2, B] int64: what plays the first and the second seat of each board, the number of a snapshot or `LEARNER`."""

    def __init__(self, player: Sequence[nn.Module], boards: int, device: torch.device) -> None:
        super().__init__()
        self.snapshots = nn.ModuleList(nn.ModuleList(copy.deepcopy([*player])) for _ in range(SNAPSHOTS))
        self.register_buffer("holder", torch.full((2, boards), LEARNER, device=device))

    def boards_of(self, snapshot: int, seat: Tensor) -> Tensor:
        """Return the boards [n] on which a snapshot holds the seat [B] that is to move."""
        return (self.holder.gather(0, seat[None])[0] == snapshot).nonzero()[:, 0]

    def start_games(self, ended: Tensor, generator: torch.Generator) -> None:
        """Draw who holds the seats of the new games on the boards where one has `ended`, [B] bool."""
        numbers = torch.rand((3, len(ended)), generator=generator, device=ended.device)
        opponent = torch.where(numbers[0] < SHARE, (numbers[1] * SNAPSHOTS).long(), LEARNER)
        seat = (numbers[2] < 0.5).long()
        holder = torch.full_like(self.holder, LEARNER).scatter(0, seat[None], opponent[None])
        self.holder.copy_(torch.where(ended, holder, self.holder))

    def take(self, player: Sequence[nn.Module], generator: torch.Generator) -> None:
        """Let the player, one network for both seats or one each, replace a snapshot."""
        replaced = int(torch.randint(SNAPSHOTS, (), generator=generator, device=generator.device))
        self.snapshots[replaced].load_state_dict(nn.ModuleList(player).state_dict())
