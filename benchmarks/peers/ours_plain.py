"""Ours by plain self-play: no canonical boards and no counterexamples, which no other learner here has."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.peers import ours
from selfplay.dqn.config import DQNConfig

make = ours.make


def sampled_settings(sampled: Mapping[str, Any]) -> DQNConfig:
    """Return the settings that a search has sampled; all others are those of `ours`."""
    return replace(ours.sampled_settings(sampled), symmetry="augment", counterexamples=0.0)
