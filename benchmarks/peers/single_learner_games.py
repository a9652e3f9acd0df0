"""Opponents of a learner that learns alone: a built-in one, or frozen copies of itself."""

from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from torch import nn

from benchmarks.peers.evaluations import RULES
from benchmarks.peers.greedy_player import GreedyPlayer
from tictactoe import batch, solve

Planes = NDArray[np.int8]
COPIES = 8
"""Number of latest copies that a learner plays against, so that it does not only learn to beat the last."""


class SingleLearnerGames:
    """A learner's environments and the copies in all of them.

    The opponent is a built-in one, or "self". In self-play a copy is taken after every `copy_every` steps, and
    `opponent_random` is the part of the replies that are random legal cells; before the first copy all are.
    """

    def __init__(
        self,
        seed: int,
        opponent: str = "random",
        rewards: str = "shaped",
        copy_every: int = 10_000,
        opponent_random: float = 0.1,
    ) -> None:
        self.opponent, self.rewards = opponent, rewards
        self.copy_every, self.opponent_random = copy_every, opponent_random
        self._copies: deque[Mapping[bytes, int]] = deque(maxlen=COPIES)
        self._generator = np.random.default_rng(seed)
        self._due = copy_every

    def make(self) -> gymnasium.Env[Any, Any]:
        """Return an environment."""
        settings: dict[str, Any] = {"seat": "random", "perspective": "mover", "rewards": self.rewards}
        if self.opponent != "self":
            return gymnasium.make("tictactoe:TicTacToeVersus-v0", opponent=self.opponent, **settings)
        environment: gymnasium.Env[Any, Any] = gymnasium.make("tictactoe:TicTacToeVersus-v0", **settings)
        environment.unwrapped.set_opponent(self.reply)  # type: ignore[attr-defined]
        return environment

    def update(self, steps: int, network: nn.Module) -> None:
        """Take a copy of the network if one is due after these steps; without self-play none ever is."""
        if self.opponent == "self" and steps >= self._due:
            self._copies.append(replies(network))
            self._due = steps + self.copy_every

    def reply(self, observation: Planes, action_mask: Planes) -> int:
        """Return the cell of one of the copies, or a random empty one."""
        if not self._copies or self._generator.random() < self.opponent_random:
            return int(self._generator.choice(np.flatnonzero(action_mask)))
        return self._copies[self._generator.integers(len(self._copies))][observation.tobytes()]


def replies(network: nn.Module) -> dict[bytes, int]:
    """Return the empty cell of the highest value of a network [B, 27] -> [B, 9], by each decision state's mover's view.

    One batch for thousands of replies costs the learner less of its time than asking the network each time.
    """
    observations = decision_states()
    cells = GreedyPlayer(network, masked=True).act(observations)
    return dict(zip((observation.tobytes() for observation in observations), cells.tolist(), strict=True))


@lru_cache(maxsize=1)
def decision_states() -> Planes:
    """Return the mover's view [S, 3, 3, 3] of every decision state."""
    tree = solve(RULES).tree
    mover, opponent = (marks[tree.decisions].astype(np.int64) for marks in (tree.mover, tree.opponent))
    observations: Planes = batch.observe(RULES, batch.State(mover, opponent, ply=np.zeros_like(mover)), "mover")
    return observations
