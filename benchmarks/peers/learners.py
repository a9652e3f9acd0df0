"""Which learners are compared, and what each is told beyond the result of its games."""

import importlib
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from benchmarks.peers.evaluations import Make
from benchmarks.peers.our_dqn import WALK, make
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.dqn import BOOTSTRAPS
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


class Told(NamedTuple):
    """What a learner is told beyond play, and how it learns from it; the fields are columns of the page."""

    legal_cells: str
    symmetry: str
    counterexamples: str
    rewards: str
    plays_against: str
    bootstraps_from: str
    """Whose value of which turn is added to a reward."""


ANY_CELL, MASK = "none: it learns them from the penalty", "all: a mask"
RIVALS = "random play, the heuristic, or its copies"
OWN_TURN, OPPONENTS_TURN = "its own next turn", "the opponent's turn, negated"
TOLD: Mapping[str, Told] = {
    "stable-baselines3": Told(ANY_CELL, "no", "no", "shaped or sparse", RIVALS, OWN_TURN),
    "cleanrl-style": Told(ANY_CELL, "no", "no", "shaped or sparse", RIVALS, OWN_TURN),
    "maskable-ppo": Told(MASK, "no", "no", "shaped or sparse", RIVALS, "its own next turns"),
    "open-spiel": Told(MASK, "no", "no", "result", "a second learner", OWN_TURN),
    "alphazero": Told("all, and what each leads to", "augment", "no", "result", "itself", "no turn: the result counts"),
}


def told_by(config: DQNConfig) -> Told:
    """Return what our settings tell the learner."""
    legal, counterexamples = ANY_CELL, "no"
    if config.mask:
        legal = MASK
    elif config.explore == "legal":
        legal = "for its random moves"
    if config.counterexamples and config.counterexample_margin:
        counterexamples = "yes, and to nearly best moves"
    elif config.counterexamples:
        counterexamples = "yes"
    turn = OWN_TURN if BOOTSTRAPS[config.target].own_turn else OPPONENTS_TURN
    return Told(legal, config.symmetry.replace("none", "no"), counterexamples, str(config.rewards), "itself", turn)


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
