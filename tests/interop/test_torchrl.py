"""TorchRL plays the versus view, a vector of it, and both seats of the PettingZoo view by their masks.

What it learns is tested with the recipe `docs/recipes/torchrl_dqn.py`.
"""

from typing import Any

import gymnasium
import pytest
import torch
from gymnasium.vector import AutoresetMode
from tensordict import NestedKey, TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torchrl.collectors import Collector
from torchrl.data import TensorSpec
from torchrl.envs import (
    ActionMask,
    Compose,
    DTypeCastTransform,
    EnvBase,
    GymEnv,
    GymWrapper,
    PettingZooWrapper,
    check_env_specs,
)
from torchrl.modules import MaskedCategorical, ProbabilisticActor

from tictactoe import tictactoe_v0

CELLS, PLIES = 9, 256


def equal_logits(planes: torch.Tensor) -> torch.Tensor:
    """Return the same for each cell, [..., 9], for observations [..., 3, 3, 3]: the mask alone tells them apart."""
    return torch.zeros(*planes.shape[:-3], CELLS)


def masked_actor(spec: TensorSpec, observation: NestedKey, agent: tuple[str, ...] = ()) -> ProbabilisticActor:
    """Return an actor that samples among the cells its mask allows."""
    logits, mask, action = ((*agent, name) for name in ("logits", "action_mask", "action"))
    return ProbabilisticActor(
        TensorDictModule(equal_logits, in_keys=[observation], out_keys=[logits]),
        in_keys={"logits": logits, "mask": mask},
        out_keys=[action],
        spec=spec,
        distribution_class=MaskedCategorical,
    )


def played(environment: EnvBase, policy: TensorDictModule) -> TensorDict:
    """Return some plies, in their order."""
    check_env_specs(environment)
    environment.set_seed(1000)
    [plies] = Collector(
        environment, policy, frames_per_batch=PLIES, total_frames=PLIES, auto_register_policy_transforms=False
    )
    assert plies.numel() == PLIES
    return plies


def check_plies(seen: Any, rewards: torch.Tensor) -> None:
    """Make sure that no action was against the mask of its own state, and that all results of a game were met."""
    assert seen["action_mask"].gather(-1, seen["action"].unsqueeze(-1)).all()
    assert set(rewards.flatten().tolist()) == {1.0, 0.0, -1.0}


# With SAME_STEP, TorchRL reads the whole of `info` by itself and cannot read the last observation if that is a dict.
@pytest.mark.parametrize(
    ("mode", "dict_observation"), [(AutoresetMode.SAME_STEP, False), (AutoresetMode.DISABLED, True)]
)
def test_gym_wrapper_plays_the_vector_of_boards_by_the_mask(mode: AutoresetMode, dict_observation: bool) -> None:
    boards = gymnasium.make_vec(
        "TicTacToeVersus-v0", num_envs=16, autoreset_mode=mode, dict_observation=dict_observation
    )
    to_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    environment = GymWrapper(boards, categorical_action_encoding=True)
    environment = environment.append_transform(Compose(to_bool, ActionMask()))
    plies = played(environment, masked_actor(environment.action_spec, "observation"))
    check_plies(plies, plies["next", "reward"])
    last_boards = plies["next", "observation"][plies["next", "done"].squeeze(-1)]
    assert (last_boards[..., 0].sum((-1, -2)) < CELLS).all()  # the end of the game, not the start of the next one


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version:UserWarning")  # of every newer one
def test_petting_zoo_wrapper_plays_both_seats_by_their_masks() -> None:
    environment = PettingZooWrapper(tictactoe_v0.env(rewards="sparse"), use_mask=True)
    agents = [*environment.group_map]
    actors = [
        masked_actor(environment.full_action_spec[agent, "action"], (agent, "observation", "observation"), (agent,))
        for agent in agents
    ]
    plies = played(environment, TensorDictSequential(*actors))
    assert (torch.cat([plies[agent, "mask"] for agent in agents], -1).sum(-1) == 1).all()
    for agent in agents:
        moved = plies[agent, "mask"].squeeze(-1)
        check_plies(plies[moved][agent], plies["next", agent, "reward"])


@pytest.mark.parametrize("env_id", ["TicTacToe-v0", "TicTacToeVersus-v0"])
def test_gym_env_registers_what_info_holds_by_itself(env_id: str) -> None:
    environment = GymEnv(env_id, categorical_action_encoding=True).auto_register_info_dict()
    check_env_specs(environment)
    following = environment.rollout(20, break_when_any_done=False)["next"]
    assert following["illegal"].dtype == torch.bool
    assert torch.equal(following["illegal"].flatten(), following["reward"].flatten() == -10)
