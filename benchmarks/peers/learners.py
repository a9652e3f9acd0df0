"""Which learners are compared, and what each is told beyond the result of its games."""

import importlib
from collections.abc import Mapping
from functools import partial

from benchmarks.peers.evaluations import Make
from benchmarks.peers.our_dqn import WALK, make
from selfplay.players import imported

OTHERS: Mapping[str, str] = {
    "stable-baselines3": "stable_baselines3_dqn",
    "cleanrl-style": "cleanrl_dqn",
    "maskable-ppo": "maskable_ppo",
    "open-spiel": "open_spiel_dqn",
    "alphazero": "alphazero",
}
"""Module in this folder of each learner that is not our DQN."""
SEARCHED = ", searched"
"""Suffix of players with the settings that a search found."""


TOLD: Mapping[str, str] = {
    "ours-any-cell": "penalties",
    f"stable-baselines3{SEARCHED}": "penalties",
    f"cleanrl-style{SEARCHED}": "penalties",
    "ours-plain": "+ empty cells",
    "ours-no-counterexamples": "+ canonical boards",
    "ours": "+ counterexamples",
    f"open-spiel{SEARCHED}": "mask",
    f"maskable-ppo{SEARCHED}": "mask, penalties",
    f"alphazero{SEARCHED}": "mask, rules",
}
"""What each player of the page's table is told beyond the result of its games; docs/results.md explains the words."""


def load(name: str) -> Make:
    """Return what prepares the training of a player, a custom one by `module:name`."""
    if ":" in name:
        custom: Make = imported(name)
        return custom
    if name in WALK:
        return partial(make, settings=WALK[name])
    module = importlib.import_module(f"benchmarks.peers.{OTHERS[name.removesuffix(SEARCHED)]}")
    prepare: Make = module.make_searched if name.endswith(SEARCHED) else module.make
    return prepare
