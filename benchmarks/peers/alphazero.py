"""AlphaZero: the recipe of this package, `docs/recipes/alphazero.py`, whose network plays without a search.

OpenSpiel's AlphaZero has several processes, actors and a learner, whose seconds cannot be compared with those of one;
so this one is ours. It knows the rules: its search in self-play asks them what each move leads to. A look judges the
moves of the network alone. Of all settings that were tried the recipe's own were best.
"""

from benchmarks import harness
from benchmarks.peers.evaluations import ONLINE, Tick, Train


def make(seed: int) -> Train:
    """Return AlphaZero's self-play."""

    def train(tick: Tick) -> None:
        recipe = harness.recipe("alphazero")
        learner = recipe["AlphaZero"](seed)
        while tick(learner.updates, {ONLINE: learner.player()}):
            learner.advance(recipe["BOARDS"])

    return train
