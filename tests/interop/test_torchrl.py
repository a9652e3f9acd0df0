"""TorchRL trains on the versus view, on a vector of them, and on both seats of the PettingZoo view.

Its DQN on the versus view is the recipe `docs/recipes/torchrl_dqn.py`.
"""

import gymnasium
import pytest
import torch
from gymnasium.vector import AutoresetMode
from tensordict import NestedKey, TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Binary, TensorSpec
from torchrl.envs import (
    ActionMask,
    Compose,
    DTypeCastTransform,
    EnvBase,
    GymEnv,
    GymWrapper,
    PettingZooWrapper,
    TransformedEnv,
    check_env_specs,
    default_info_dict_reader,
)
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from tictactoe import tictactoe_v0

CELLS, PLIES = 9, 256


class Planes(nn.Module):
    """Cast and flatten observations [..., 3, 3, 3] int8 for the layers that follow."""

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Return [..., 27] float32."""
        return observation.flatten(-3).float()


def network(outputs: int) -> nn.Sequential:
    return nn.Sequential(Planes(), nn.Linear(27, 64), nn.ReLU(), nn.Linear(64, outputs))


def masked(environment: EnvBase) -> TransformedEnv:
    """Cast the mask for TorchRL's modules, and let it bar random actions."""
    to_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    return environment.append_transform(Compose(to_bool, ActionMask()))


def masked_actor(spec: TensorSpec, observation: NestedKey, mask: NestedKey, action: NestedKey) -> ProbabilisticActor:
    """Return an actor that samples among the cells its mask allows."""
    logits = (*action[:-1], "logits") if isinstance(action, tuple) else "logits"
    return ProbabilisticActor(
        TensorDictModule(network(CELLS), in_keys=[observation], out_keys=[logits]),
        in_keys={"logits": logits, "mask": mask},
        out_keys=[action],
        spec=spec,
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )


def played(environment: EnvBase, policy: TensorDictModule) -> TensorDict:
    """Return some plies, in their order."""
    [plies] = Collector(
        environment, policy, frames_per_batch=PLIES, total_frames=PLIES, auto_register_policy_transforms=False
    )
    return plies


def barred(plies: TensorDict) -> int:
    """Return how many actions the mask of their own state forbids."""
    chosen = plies["action_mask"].gather(-1, plies["action"].unsqueeze(-1))
    return int((chosen == 0).sum())


def learn(plies: TensorDict, losses: ClipPPOLoss, advantage: GAE, moved: torch.Tensor | slice = slice(None)) -> None:
    """Make one update by PPO from those plies on which the seat moved, and see all weights change."""
    advantage(plies)
    weights = [weight.clone() for weight in losses.parameters()]
    optimizer = torch.optim.Adam(losses.parameters(), lr=1e-3)
    step = losses(plies[moved])
    (step["loss_objective"] + step["loss_critic"] + step["loss_entropy"]).backward()
    optimizer.step()
    assert not any(map(torch.equal, weights, losses.parameters()))


def test_gym_env_reads_the_mask_from_info() -> None:
    reader = default_info_dict_reader(["action_mask"], spec={"action_mask": Binary(CELLS, dtype=torch.int8)})
    environment = GymEnv("TicTacToeVersus-v0", categorical_action_encoding=True)
    environment = masked(environment.auto_register_info_dict(info_dict_reader=reader))
    check_env_specs(environment)
    plies = played(environment, masked_actor(environment.action_spec, "observation", "action_mask", "action"))
    assert barred(plies) == 0
    assert set(plies["next", "reward"].flatten().tolist()) == {1.0, 0.0, -1.0}


# With SAME_STEP, TorchRL reads the whole of `info` by itself and cannot read the last observation if that is a dict.
@pytest.mark.parametrize(
    ("mode", "dict_observation"), [(AutoresetMode.SAME_STEP, False), (AutoresetMode.DISABLED, True)]
)
def test_gym_wrapper_trains_ppo_on_the_vector_of_boards(mode: AutoresetMode, dict_observation: bool) -> None:
    boards = gymnasium.make_vec(
        "TicTacToeVersus-v0", num_envs=16, autoreset_mode=mode, dict_observation=dict_observation
    )
    environment = masked(GymWrapper(boards, categorical_action_encoding=True))
    check_env_specs(environment)
    environment.set_seed(1000)
    actor = masked_actor(environment.action_spec, "observation", "action_mask", "action")
    critic = ValueOperator(network(1), in_keys=["observation"])
    plies = played(environment, actor)
    assert plies.numel() == PLIES
    assert barred(plies) == 0
    assert set(plies["next", "reward"].flatten().tolist()) == {1.0, 0.0, -1.0}
    last_boards = plies["next", "observation"][plies["next", "done"].squeeze(-1)]
    assert (last_boards[..., 0].sum((-1, -2)) < CELLS).all()  # the end of the game, not the start of the next one
    learn(plies, ClipPPOLoss(actor, critic), GAE(gamma=0.99, lmbda=0.95, value_network=critic))


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version:UserWarning")  # of every newer one
def test_petting_zoo_wrapper_trains_ppo_in_both_seats() -> None:
    environment = PettingZooWrapper(tictactoe_v0.env(rewards="sparse"), use_mask=True)
    check_env_specs(environment)
    environment.set_seed(1000)
    boards = {agent: (agent, "observation", "observation") for agent in environment.group_map}
    actors = {
        agent: masked_actor(
            environment.full_action_spec[agent, "action"], board, (agent, "action_mask"), (agent, "action")
        )
        for agent, board in boards.items()
    }
    plies = played(environment, TensorDictSequential(*actors.values()))
    assert (torch.cat([plies[agent, "mask"] for agent in boards], -1).sum(-1) == 1).all()
    for agent, board in boards.items():
        moved = plies[agent, "mask"].squeeze(-1)
        chosen = plies[agent, "action_mask"].gather(-1, plies[agent, "action"].unsqueeze(-1)).flatten()
        assert chosen[moved].all()
        assert set(plies["next", agent, "reward"].flatten().tolist()) == {1.0, 0.0, -1.0}

        critic = ValueOperator(network(1), in_keys=[board], out_keys=[(agent, "state_value")])
        losses, advantage = (
            ClipPPOLoss(actors[agent], critic),
            GAE(gamma=0.99, lmbda=0.95, value_network=critic),
        )
        names = ("advantage", "value_target", "reward", "done", "terminated")
        keys = {"value": (agent, "state_value"), **{name: (agent, name) for name in names}}
        advantage.set_keys(**keys)
        losses.set_keys(action=(agent, "action"), sample_log_prob=(agent, "action_log_prob"), **keys)
        learn(plies, losses, advantage, moved)


@pytest.mark.parametrize("env_id", ["TicTacToe-v0", "TicTacToeVersus-v0"])
def test_gym_env_registers_what_info_holds_by_itself(env_id: str) -> None:
    environment = GymEnv(env_id, categorical_action_encoding=True).auto_register_info_dict()
    check_env_specs(environment)
    following = environment.rollout(20, break_when_any_done=False)["next"]
    assert following["to_play"].flatten().tolist() == [
        int(planes[..., 1].sum() > planes[..., 2].sum()) for planes in following["observation"]
    ]
    assert following["action_mask"].shape == (20, 9)
    ended = following["done"].flatten()
    assert 2 <= ended.sum() < 20
    assert following["winner"].flatten()[~ended].tolist() == [-1] * int((~ended).sum())
    assert following["illegal"].dtype == torch.bool
    assert torch.equal(following["illegal"].flatten(), following["reward"].flatten() == -10)
