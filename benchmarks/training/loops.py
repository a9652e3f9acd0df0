"""Run parts of training apart, as chunks like those of `environment/face_loops.py`: the loops that are timed.

Each works on the learner that training makes for the same settings.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import torch

from benchmarks.environment.face_loops import Chunk, Played
from selfplay.checks import LARGEST
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import DQNLearner

NARROW = (16,)
"""Hidden layers of the network that fills a memory: quick, and whose moves they are is all the same to an update."""


def playing(config: DQNConfig, steps: int) -> Chunk:
    """Act, step, observe and remember as training does, and never learn."""
    return _advanced(DQNLearner(_unlearning(config)), steps, config.num_envs)


def training(config: DQNConfig, steps: int = 1) -> Chunk:
    """Play and learn, from a full memory on; a step of all boards counts as a ply."""
    return _advanced(filled(replace(config, total_steps=LARGEST, warmup=0)), steps, 1)


def _advanced(learner: DQNLearner, steps: int, plies: int) -> Chunk:
    def chunk() -> Played:
        for _ in range(steps):
            learner.advance()
        return Played(plies * steps, 0)

    return chunk


def _unlearning(config: DQNConfig) -> DQNConfig:
    return replace(config, total_steps=LARGEST, warmup=LARGEST, device="cpu")


def learning(config: DQNConfig) -> Chunk:
    """Update a shared network once, from a full memory; an update counts as a ply."""
    return repeated(filled(config).agents.learn)


def repeated(call: Callable[[], object]) -> Chunk:
    """Make one call, which counts as a ply."""

    def chunk() -> Played:
        call()
        return Played(1, 0)

    return chunk


def filled(config: DQNConfig) -> DQNLearner:
    """Return a new learner with a full memory."""
    learner = DQNLearner(replace(config, device="cpu"))
    boards = max(config.num_envs, min(256, config.memory_size))  # one board alone would take a minute
    narrow = DQNLearner(_unlearning(replace(config, hidden=NARROW, num_envs=boards)))
    while narrow.steps < config.memory_size:
        narrow.advance()
    learner.agents.seats[0].memory = narrow.agents.seats[0].memory
    return learner


def update_products(config: DQNConfig) -> Chunk:
    """Compute the matrix products of one update and nothing else; this counts as a ply.

    They are, for each layer, the outputs of one forward pass with gradients and of those that the target asks for
    (two with double DQN), the gradient of the weights, and but for the first layer that of the inputs.
    """
    passes = 3 if config.double else 2
    products = []
    for number, (inputs, outputs) in enumerate(pairwise(widths(config))):
        x, weights = torch.rand(config.batch_size, inputs), torch.rand(outputs, inputs)
        y, x_gradient, weights_gradient = x @ weights.T, torch.empty_like(x), torch.empty_like(weights)
        products += [(x, weights.T, y)] * passes + [(y.T, x, weights_gradient)]
        if number > 0:
            products.append((y, weights, x_gradient))
    return _multiplied(products)


def step_products(config: DQNConfig) -> Chunk:
    """Compute the matrix products of one step of training: those of acting, and of one update; this counts as a ply."""
    x = [torch.rand(config.num_envs, width) for width in widths(config)]
    weights = [torch.rand(outputs, inputs) for inputs, outputs in pairwise(widths(config))]
    act = _multiplied([(x[layer], w.T, x[layer + 1]) for layer, w in enumerate(weights)])
    learn = update_products(config)

    def chunk() -> Played:
        act()
        return learn()

    return chunk


def widths(config: DQNConfig) -> list[int]:
    """Return the widths of the network's layers, the inputs and the outputs included."""
    return [3 * config.rules.cells, *config.hidden, config.rules.cells]


def _multiplied(products: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]) -> Chunk:
    def multiply() -> None:
        for left, right, out in products:
            torch.mm(left, right, out=out)

    return repeated(multiply)
