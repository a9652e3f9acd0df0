"""Each recipe runs in its smallest form, and learns."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docs.recipes import (
    alphazero,
    maskable_ppo_self_play,
    own_algorithm,
    own_network,
    prioritized_replay,
    sb3,
    self_play_dqn,
    torchrl_dqn,
)
from tictactoe import Rules, batch

RANDOM = 0.873
"""How often random play loses to random play, or by a taken cell, as X and as O together."""
RUNS: dict[str, tuple[Callable[[Path], Any], float]] = {
    "alphazero": (lambda folder: alphazero.main(seed=1000, folder=folder).verdict, 0),
    "maskable_ppo_self_play": (lambda _: maskable_ppo_self_play.main(rounds=2, steps=1_024)[-1], RANDOM),
    "own_algorithm": (lambda folder: own_algorithm.main(games=1_000, folder=folder).verdict, RANDOM),
    "own_network": (lambda _: own_network.main(steps=6_000).verdict, RANDOM),
    "prioritized_replay": (lambda folder: prioritized_replay.main(seed=1_001, folder=folder).verdict, 0),
    "sb3": (lambda _: sb3.main(steps=9_200), 0.6),
    "self_play_dqn": (lambda _: self_play_dqn.main(self_play_dqn.Settings()), 0),
    "torchrl_dqn": (lambda _: torchrl_dqn.main(steps=1_000), RANDOM),
}
"""The smallest form of each recipe, and how often its player may lose to random play."""
SLOW = {"alphazero"}


@pytest.mark.usefixtures("stopper")
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in RUNS])
def test_a_recipe_learns(name: str, here: Path) -> None:
    train, most = RUNS[name]
    verdict = train(here / "it")
    assert verdict.first.loss + verdict.second.loss <= most


def test_alphazeros_search_of_many_boards_visits_what_a_plain_search_of_each_visits() -> None:
    rules = Rules()
    learner = alphazero.AlphaZero(seed=1000)
    valued = alphazero.valuation(rules, learner.network.double())
    roots = learner.openings(20)
    search = alphazero.Search(rules, roots, valued, 60)
    for _ in range(60):
        search.simulate()
    for number, visits in enumerate(search.visits[:, 0]):
        root = batch.State(*(part[number : number + 1] for part in roots))
        assert visits.tolist() == plain_search(rules, root, valued, 60)


def plain_search(rules: Rules, root: batch.State, valued: alphazero.Valuation, simulations: int) -> list[int]:
    """Return how often AlphaZero's search tries each move of one position, with a dict of nodes and recursion."""
    nodes: dict[tuple[int, ...], Any] = {}

    def look(moves: tuple[int, ...], state: batch.State) -> float:
        """Return the value of a position to its mover, and count one more simulation through it."""
        if moves not in nodes:
            (policy,), (value,) = valued(state)
            nodes[moves] = policy, [0] * rules.cells, [0.0] * rules.cells
            return float(value)
        policy, visits, total = nodes[moves]
        scores = []
        for cell in range(rules.cells):
            mean = total[cell] / visits[cell] if visits[cell] else 0
            bonus = alphazero.EXPLORATION * policy[cell] * (1 + sum(visits)) ** 0.5 / (1 + visits[cell])
            scores.append(mean + bonus)
        cell = int(np.argmax(scores))
        played = batch.play(rules, state, np.array([cell]))
        value = float(played.win[0])
        if not played.terminated[0]:
            value = -look((*moves, cell), played.state)
        visits[cell] += 1
        total[cell] += value
        return value

    for _ in range(simulations + 1):  # the first only values the root
        look((), root)
    return list(nodes[()][1])
