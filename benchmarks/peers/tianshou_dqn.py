"""Tianshou's DQN with the settings of its tic-tac-toe example: two of them, one per seat, play with each other.

Settings: https://github.com/thu-ml/tianshou/blob/master/test/pettingzoo/tic_tac_toe.py (`get_parser`), and its
`MultiAgentOffPolicyAlgorithm`. That example trains the second seat alone, against random play; to have a player for
both seats, both learn here. They play our AEC environment with the `"sparse"` rewards and each mover's own marks in
plane 1, both as in PettingZoo's game, and choose among the legal cells alone, and are judged so. Its tests between
epochs, its progress bar and its log are left out, in its favour. In Tianshou 2.0.1 agents inside a multi-agent
algorithm explore with `eps_inference` in training too, so this is set to the example's `eps_train`.
"""

import logging
import sys
from typing import Any

import numpy as np
import torch
from tianshou.algorithm import DQN, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net
from torch import Tensor, nn

from benchmarks.peers.judging import RULES, Tick, Training
from selfplay.player import QPlayer
from tictactoe import tictactoe_v0

BOARDS, BATCH_SIZE, EPSILON = 10, 64, 0.1


class TimeIsUp(Exception):  # noqa: N818 (no error: the only way out of the trainer at any step)
    """End the training."""


class ValuesAlone(nn.Module):
    """Give a network its observations as boards, and leave out the state that it returns beside its values."""

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


def player(learners: list[Any]) -> QPlayer:
    """Return what the learners play, each in its seat, among the legal cells."""
    networks = tuple(ValuesAlone(learner.policy.model) for learner in learners)
    return QPlayer(RULES, networks, "mover", mask=True)


def make(seed: int, _seconds: float = 0) -> Training:
    """Return the training of one learner for each seat, after the example's first games."""
    logging.getLogger("tianshou").setLevel(logging.ERROR)  # a line for each batch of two agents' returns
    trial = iter(range(2))
    prepare(seed).run(lambda _: next(trial, None) is not None)  # what it compiles once in a process
    return prepare(seed)


def prepare(seed: int) -> Training:
    """Return the training without waiting for what Tianshou compiles at its first update."""
    np.random.seed(seed)  # noqa: NPY002 (what Tianshou draws from)
    torch.manual_seed(seed)
    game = make_game()
    learners = [make_learner(game.action_space) for _ in range(2)]
    agents = MultiAgentOffPolicyAlgorithm(algorithms=learners, env=game)
    boards = DummyVectorEnv([make_game] * BOARDS)
    boards.seed(seed)
    collector = Collector(agents, boards, VectorReplayBuffer(20_000, BOARDS), exploration_noise=True)
    collector.reset()
    collector.collect(n_step=BATCH_SIZE * BOARDS)

    def run(tick: Tick) -> None:
        def training_fn(_epoch: int, plies: int) -> None:
            if not tick(plies // BOARDS):
                raise TimeIsUp

        parameters = OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=sys.maxsize,
            epoch_num_steps=1_000,
            collection_step_num_env_steps=BOARDS,
            batch_size=BATCH_SIZE,
            update_step_num_gradient_steps_per_sample=0.1,
            training_fn=training_fn,
            show_progress=False,
            verbose=False,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
        )
        try:
            agents.run_training(parameters)
        except TimeIsUp:
            return

    return Training(player(learners), run)
