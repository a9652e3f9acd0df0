"""Ours by plain self-play: no canonical boards and no counterexamples, which no other learner here has."""

from dataclasses import replace
from functools import partial

from benchmarks.peers import ours
from benchmarks.peers.evaluations import Train
from selfplay.dqn.config import DQNConfig

PLAIN = replace(ours.DEFAULTS, symmetry="augment", counterexamples=0.0)
sampled_settings = partial(ours.sampled_settings, others=PLAIN)


def make(seed: int, settings: DQNConfig = PLAIN) -> Train:
    """Return the self-play of a DQN."""
    return ours.make(seed, settings)
