"""Ours by plain self-play: no canonical boards and no counterexamples, which no other learner here has."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.peers import our_dqn
from benchmarks.peers.evaluations import Train
from selfplay.dqn.config import DQNConfig

PLAIN = replace(our_dqn.DEFAULTS, symmetry="augment", counterexamples=0.0)


def sampled_settings(sampled: Mapping[str, Any]) -> DQNConfig:
    """Return the settings that a search has sampled, and the others of plain self-play."""
    return our_dqn.sampled_settings(sampled, PLAIN)


def make(seed: int, settings: DQNConfig = PLAIN) -> Train:
    """Return the self-play of a DQN."""
    return our_dqn.make(seed, settings)
