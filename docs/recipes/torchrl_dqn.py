"""Train TorchRL's DQN on the versus view, with the mask of legal moves.

`ActionMask` only bars taken cells from the environment's own random actions, so the Q-value module and the
epsilon-greedy one are told where the mask is. Both need it as bool.

By default it plays for about ten seconds, and then there are hundreds of ways to beat it.
"""

import numpy as np
import torch
import tyro
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.envs import DTypeCastTransform, GymEnv, TransformedEnv
from torchrl.modules import EGreedyModule, QValueModule
from torchrl.objectives import DQNLoss, SoftUpdate

import selfplay
from tictactoe import Rules

FRAMES, UPDATES = 50, 10


class Values(nn.Module):
    """A network from observations [..., 3, 3, 3] int8 to action values [..., 9]."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(27, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 9))

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Cast and flatten the planes for the layers."""
        return self.layers(observation.flatten(-3).float())


def main(steps: int = 2_000, seed: int = 0) -> selfplay.Verdict:
    """Train for `steps` plies against random moves, and evaluate what was learned."""
    torch.set_num_threads(1)  # more threads mostly wait for each other
    torch.manual_seed(seed)
    settings = {"opponent": "random", "seat": "random", "dict_observation": True}
    game = GymEnv("tictactoe:TicTacToeVersus-v0", categorical_action_encoding=True, **settings)
    game = TransformedEnv(game, DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]))
    game.set_seed(seed)
    values = TensorDictModule(Values(), in_keys=["observation"], out_keys=["action_value"])
    greedy = TensorDictSequential(values, QValueModule(spec=game.action_spec, action_mask_key="action_mask"))
    explore = EGreedyModule(game.action_spec, 1.0, 0.1, annealing_num_steps=steps // 2, action_mask_key="action_mask")
    policy = TensorDictSequential(greedy, explore)
    collector = Collector(
        game, policy, frames_per_batch=FRAMES, total_frames=steps, auto_register_policy_transforms=False
    )
    memory = TensorDictReplayBuffer(storage=LazyTensorStorage(20_000), batch_size=128)
    loss_module = DQNLoss(greedy, delay_value=True, double_dqn=True, action_space="categorical")
    loss_module.make_value_estimator(gamma=0.99)
    follow = SoftUpdate(loss_module, tau=0.02)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)
    for plies in collector:
        memory.extend(plies)
        explore.step(plies.numel())
        for _ in range(UPDATES):
            optimizer.zero_grad()
            loss_module(memory.sample())["loss"].backward()
            optimizer.step()
            follow.step()
    collector.shutdown()

    def agent(observation: np.ndarray) -> int:
        """Return the best empty cell for one observation."""
        board = torch.as_tensor(observation)
        seen = TensorDict({"observation": board, "action_mask": board[..., 0].flatten() == 1})
        with torch.no_grad():
            return int(greedy(seen)["action"])

    proof = selfplay.evaluate(agent, Rules())
    print(f"unbeatable: {proof.unbeatable}; exploitability {proof.exploitability}")
    ways = f"{proof.first.ways_to_beat} + {proof.second.ways_to_beat}"
    print(f"ways to beat it as X + as O {ways}; illegal in {proof.illegal_states} decision states")
    return proof


if __name__ == "__main__":
    tyro.cli(main)
