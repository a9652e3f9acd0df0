"""Which learners are compared, and what each is told beyond the result of its games.

To add a learner, write a module like `alphazero.py`, with `make`, and a line in `OTHERS` and in `TOLD`.
"""

import importlib
from collections.abc import Mapping
from functools import partial

from benchmarks.peers.evaluations import Make
from benchmarks.peers.our_dqn import WALK, make
from selfplay.named_players import imported

OTHERS: Mapping[str, str] = {
    "stable-baselines3": "stable_baselines3_dqn",
    "cleanrl-style": "cleanrl_dqn",
    "maskable-ppo": "maskable_ppo",
    "open-spiel": "open_spiel_dqn",
    "alphazero": "alphazero",
}
"""Module in this folder of each learner that is not our DQN."""


TOLD: Mapping[str, str] = {
    "ours-any-cell": "penalties",
    "stable-baselines3": "penalties",
    "cleanrl-style": "penalties",
    "ours-plain": "+ empty cells",
    "ours-no-counterexamples": "+ canonical boards",
    "ours": "+ counterexamples",
    "open-spiel": "mask",
    "maskable-ppo": "mask, penalties",
    "alphazero": "mask, rules",
}
"""The information that each player gets beyond results of games, in the order of the page, which explains the words."""


def load(name: str) -> Make:
    """Return what prepares the training of a player, a custom one by `module:name`."""
    if ":" in name:
        custom: Make = imported(name)
        return custom
    if name in WALK:
        return partial(make, settings=WALK[name])
    prepare: Make = importlib.import_module(f"benchmarks.peers.{OTHERS[name]}").make
    return prepare
