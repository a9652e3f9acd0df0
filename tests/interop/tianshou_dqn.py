"""Train Tianshou's DQN in the second seat of the PettingZoo view, against a random player.

The settings are those of Tianshou's own example (test/pettingzoo/tic_tac_toe.py in its repository), which wants
the learner to win 60 % of its games; the rewards are the `"sparse"` ones, as of PettingZoo's own game.
Run it by `tests/interop/run tianshou`.
"""

import logging

import numpy as np
import torch
from shared import print_versions
from tianshou.algorithm import DQN, MARLRandomDiscreteMaskedOffPolicyAlgorithm, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from tictactoe import tictactoe_v0

EPOCHS, STEPS_PER_EPOCH, GAMES, SEED = 20, 1_000, 500, 1626
LEARNER = 1  # the second seat


def make_environment() -> PettingZooEnv:
    return PettingZooEnv(tictactoe_v0.env(rewards="sparse"))


def wins(collector: Collector) -> float:
    """Return the fraction of games that the learner wins."""
    returns = collector.collect(n_episode=GAMES, reset_before_collect=True).returns
    return float((returns[:, LEARNER] == 1).mean())


def main() -> None:
    logging.getLogger("tianshou.data.stats").setLevel(logging.ERROR)  # a line for each batch of two agents' returns
    torch.set_num_threads(1)
    np.random.seed(SEED)  # noqa: NPY002 (what Tianshou draws from)
    torch.manual_seed(SEED)
    environment = make_environment()
    mask = environment.step(4)[0]["mask"]  # where Tianshou finds none it goes on with one that is all true
    assert mask == [cell != 4 for cell in range(9)], mask
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=(3, 3, 3), action_shape=9, hidden_sizes=[128] * 4),
        action_space=environment.action_space,
        eps_training=0.1,
        eps_inference=0.05,
    )
    learner = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-4),
        n_step_return_horizon=3,
        gamma=0.9,
        target_update_freq=320,
    )
    opponent = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=environment.action_space)
    agents = MultiAgentOffPolicyAlgorithm(algorithms=[opponent, learner], env=environment)

    train_boards, test_boards = (DummyVectorEnv([make_environment] * 10) for _ in range(2))
    train_boards.seed(SEED)
    test_boards.seed(SEED)
    memory = VectorReplayBuffer(40_000, len(train_boards))
    train = Collector(agents, train_boards, memory, exploration_noise=True)
    test = Collector(agents, test_boards, exploration_noise=True)
    before = wins(test)
    train.reset()
    train.collect(n_step=640)
    agents.run_training(
        OffPolicyTrainerParams(
            training_collector=train,
            test_collector=test,
            max_epochs=EPOCHS,
            epoch_num_steps=STEPS_PER_EPOCH,
            collection_step_num_env_steps=10,
            test_step_num_episodes=10,
            batch_size=64,
            update_step_num_gradient_steps_per_sample=0.1,
            show_progress=False,
            verbose=False,
            multi_agent_return_reduction=lambda returns: returns[:, LEARNER],
        )
    )
    after = wins(test)
    rewards = {*np.unique(memory[:].rew).tolist()}
    print_versions("tianshou", "torch", "pettingzoo")
    print(f"plies played: {len(memory)}; rewards: {sorted(rewards)}, -10 for a taken cell")
    print(f"wins of the learner, second seat, {GAMES} games against random: {before:.3f} before, {after:.3f} after")
    assert rewards == {-1.0, 0.0, 1.0}
    assert after > before + 0.1


if __name__ == "__main__":
    main()
