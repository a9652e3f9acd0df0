"""Ours by plain self-play: no canonical boards and no counterexamples, which no other learner here has."""

from dataclasses import replace
from functools import partial

from benchmarks.peers import ours

PLAIN = replace(ours.DEFAULTS, symmetry="augment", counterexamples=0.0)
make = partial(ours.make, settings=PLAIN)
sampled_settings = partial(ours.sampled_settings, others=PLAIN)
