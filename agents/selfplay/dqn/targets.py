"""The three targets of two-player Q-learning, as pure functions of bootstrap values.

A transition leads from s by action a to the position that the target bootstraps from. `reward` [B] is
what the agent that acted received, `goes_on` [B] is 0 where the game has ended, and `bootstrap` [B] is
max_a' Q at that position. Which position and whose Q that is, `BOOTSTRAPS` says for each target.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor

from selfplay.dqn.config import Target


@dataclass(frozen=True)
class Bootstrap:
    """Say from which position, with whose network and with which sign a target bootstraps."""

    own_next_turn: bool
    """Wait for the opponent's reply and bootstrap from the position at the agent's own next turn."""
    by_opponent: bool
    """Use the network of the agent in the other seat."""
    sign: int


BOOTSTRAPS: Mapping[Target, Bootstrap] = MappingProxyType(
    {
        # My value is what I get, less what the position I leave is worth to the opponent.
        "negamax": Bootstrap(own_next_turn=False, by_opponent=True, sign=-1),
        # The opponent is part of the world: its reply's reward and end are folded into my transition.
        "independent": Bootstrap(own_next_turn=True, by_opponent=False, sign=1),
        # The published wrapper: the opponent's turn taken for my own, with a plus sign. Kept to show why it fails.
        "article": Bootstrap(own_next_turn=False, by_opponent=False, sign=1),
    }
)


def td_target(target: Target, reward: Tensor, goes_on: Tensor, bootstrap: Tensor, gamma: float) -> Tensor:
    """Return reward + sign * gamma * bootstrap while the game goes on, and the reward at its end, [B]."""
    return torch.addcmul(reward, goes_on, bootstrap, value=BOOTSTRAPS[target].sign * gamma)


def bootstrap_value(values: Tensor, choice: Tensor, legal: Tensor | None) -> Tensor:
    """Return the value [B] of the best action according to `choice`, both [B, A].

    Double DQN (van Hasselt et al. 2016) chooses with the online network and values with the target
    network; otherwise both are the target network's values. `legal` [B, A] bool bars the other actions.
    """
    best = masked(choice, legal).argmax(dim=1, keepdim=True)
    return values.gather(1, best)[:, 0]


def masked(values: Tensor, legal: Tensor | None) -> Tensor:
    """Return the values [B, A] with those of illegal actions below every other, yet finite."""
    if legal is None:
        return values
    return torch.where(legal, values, torch.finfo(values.dtype).min)
