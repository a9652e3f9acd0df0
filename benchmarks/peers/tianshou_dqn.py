"""Tianshou's DQN with the settings of its tic-tac-toe example, once for each seat, against random play.

Settings: https://github.com/thu-ml/tianshou/blob/master/test/pettingzoo/tic_tac_toe.py (`get_parser`), once with
`--agent_id 1` and once with 2; the two take turns, a step each. They play our AEC environment with the `"sparse"`
rewards and each mover's own marks in plane 1, both as in PettingZoo's game, choose among the legal cells alone, and
are evaluated so. Two learners that play each other did no better (seed 1000).

The loop is that of Tianshou's off-policy trainer, without its tests, bar and log, and without its search of the whole
memory for missing values at every step, which takes most of the time once the memory is full. In Tianshou 2.0.1 agents
inside a multi-agent algorithm explore with `eps_inference` in training too, so this is set to the example's
`eps_train`.
"""

import itertools
import logging
from typing import Any

import numpy as np
import torch
from tianshou.algorithm import DQN, MARLRandomDiscreteMaskedOffPolicyAlgorithm, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step
from torch import Tensor, nn

from benchmarks.peers.evaluations import Tick, Train
from benchmarks.peers.player import Greedy
from tictactoe import tictactoe_v0

BOARDS, BATCH_SIZE, MEMORY_SIZE, EPSILON = 10, 64, 20_000, 0.1


class ValuesAlone(nn.Module):
    """The values alone of a network that takes boards and returns its state too."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the action values [B, 9] of the movers' observations [B, 9 * 3]."""
        values: Tensor = self.network(inputs.reshape(len(inputs), 3, 3, 3))[0]
        return values


def make_game() -> Any:
    """Return the AEC environment as Tianshou takes it."""
    return PettingZooEnv(tictactoe_v0.env(rewards="sparse", perspective="mover"))


def make_learner(action_space: Any) -> Any:
    """Return the DQN of one seat."""
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=(3, 3, 3), action_shape=9, hidden_sizes=[128] * 4),
        action_space=action_space,
        eps_training=EPSILON,
        eps_inference=EPSILON,
    )
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-4),
        gamma=0.9,
        n_step_return_horizon=3,
        target_update_freq=320,
    )


def make_player(learners: list[Any]) -> Greedy:
    """Return the player of both learners, each in its seat, among the legal cells."""
    return Greedy(*(ValuesAlone(learner.policy.model) for learner in learners), masked=True)


def make_games(learner: Any, seat: int, seed: int) -> tuple[Any, Any]:
    """Return a learner with its opponent, and the collector of their games, after the example's first ones."""
    game = make_game()
    pair = [learner, learner]
    pair[1 - seat] = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=game.action_space)
    agents = MultiAgentOffPolicyAlgorithm(algorithms=pair, env=game)
    boards = DummyVectorEnv([make_game] * BOARDS)
    boards.seed(seed)
    collector: Any = Collector(agents, boards, VectorReplayBuffer(MEMORY_SIZE, BOARDS), exploration_noise=True)
    collector.reset()
    collector.collect(n_step=BATCH_SIZE * BOARDS)
    return agents, collector


def make(seed: int) -> Train:
    """Return the training of one learner for each seat."""
    logging.getLogger("tianshou").setLevel(logging.ERROR)  # a line for each batch of two agents' returns
    prepare(seed)(lambda updates, _: updates < 2)  # what it compiles once in a process
    return prepare(seed)


def prepare(seed: int) -> Train:
    """Return the training without waiting for what Tianshou compiles at its first update."""
    np.random.seed(seed)  # noqa: NPY002 (what Tianshou samples from)
    torch.manual_seed(seed)
    learners = [make_learner(make_game().action_space) for _ in range(2)]
    seats = [make_games(learner, seat, seed) for seat, learner in enumerate(learners)]
    player = make_player(learners)

    def train(tick: Tick) -> None:
        for updates in itertools.count(1):
            for agents, collector in seats:
                with policy_within_training_step(agents.policy):
                    collector.collect(n_step=BOARDS)
                    agents.update(buffer=collector.buffer, sample_size=BATCH_SIZE)
                if not tick(updates, player):
                    return

    return train
