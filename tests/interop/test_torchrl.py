"""TorchRL trains on the versus view, on a vector of them, and on both seats of the PettingZoo view."""

from typing import Any

import gymnasium
import pytest
import torch
from gymnasium.vector import AutoresetMode
from tensordict import NestedKey, TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Binary, LazyTensorStorage, TensorDictReplayBuffer, TensorSpec
from torchrl.envs import (
    ActionMask,
    Compose,
    DTypeCastTransform,
    EnvBase,
    ExplorationType,
    GymEnv,
    GymWrapper,
    PettingZooWrapper,
    TransformedEnv,
    check_env_specs,
    default_info_dict_reader,
    set_exploration_type,
)
from torchrl.modules import EGreedyModule, MaskedCategorical, ProbabilisticActor, QValueModule, ValueOperator
from torchrl.objectives import ClipPPOLoss, DQNLoss, SoftUpdate
from torchrl.objectives.value import GAE

from tests.interop.match import REWARD_TABLE, match
from tictactoe import tictactoe_v0

CELLS = 9


class Planes(nn.Module):
    """Cast and flatten observations [..., 3, 3, 3] int8 for the layers that follow."""

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Return [..., 27] float32."""
        return observation.flatten(-3).float()


def network(outputs: int) -> nn.Sequential:
    return nn.Sequential(Planes(), nn.Linear(27, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


def mask_reader() -> default_info_dict_reader:
    return default_info_dict_reader(["action_mask"], spec={"action_mask": Binary(CELLS, dtype=torch.int8)})


def masked(environment: EnvBase) -> TransformedEnv:
    """Cast the mask to what TorchRL's modules take, and bar their random actions by it."""
    to_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    return environment.append_transform(Compose(to_bool, ActionMask()))


def masked_actor(
    layers: nn.Module, spec: TensorSpec, observation: NestedKey, mask: NestedKey, action: NestedKey
) -> ProbabilisticActor:
    """Return an actor that samples among the cells its mask allows."""
    logits = (*action[:-1], "logits") if isinstance(action, tuple) else "logits"
    return ProbabilisticActor(
        TensorDictModule(layers, in_keys=[observation], out_keys=[logits]),
        in_keys={"logits": logits, "mask": mask},
        out_keys=[action],
        spec=spec,
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )


def barred(batch: TensorDict) -> int:
    """Return how many actions the mask of their own state forbids."""
    chosen = batch["action_mask"].gather(-1, batch["action"].unsqueeze(-1))
    return int((chosen == 0).sum())


def learn_from(plies: TensorDict, losses: ClipPPOLoss, optimizer: torch.optim.Optimizer) -> None:
    """Pass once over the plies by PPO, in an order drawn anew."""
    for minibatch in plies[torch.randperm(len(plies))].split(128):
        step = losses(minibatch)
        optimizer.zero_grad()
        (step["loss_objective"] + step["loss_critic"] + step["loss_entropy"]).backward()
        optimizer.step()


def test_gym_env_trains_a_dqn_that_reads_the_mask_from_info() -> None:
    torch.manual_seed(1000)
    environment = GymEnv("TicTacToeVersus-v0", categorical_action_encoding=True)
    environment = environment.auto_register_info_dict(info_dict_reader=mask_reader())
    environment = masked(environment)
    check_env_specs(environment)
    environment.set_seed(1000)
    spec = environment.action_spec
    values = TensorDictModule(network(CELLS), in_keys=["observation"], out_keys=["action_value"])
    chooser = QValueModule(spec=spec, action_mask_key="action_mask")
    greedy = TensorDictSequential(values, chooser)
    explore = EGreedyModule(
        environment.action_spec, 1.0, 0.05, annealing_num_steps=1_500, action_mask_key="action_mask"
    )
    collector = Collector(
        environment,
        TensorDictSequential(greedy, explore),
        frames_per_batch=50,
        total_frames=3_000,
        auto_register_policy_transforms=False,
    )
    memory = TensorDictReplayBuffer(storage=LazyTensorStorage(3_000), batch_size=128)
    loss_module = DQNLoss(greedy, delay_value=True, double_dqn=True, action_space="categorical")
    loss_module.make_value_estimator(gamma=0.99)
    updater = SoftUpdate(loss_module, tau=0.02)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)

    def policy(observation: Any, mask: Any) -> int:
        state = TensorDict({"observation": torch.as_tensor(observation), "action_mask": torch.as_tensor(mask).bool()})
        with torch.no_grad():
            return int(greedy(state)["action"])

    untrained = match(policy)
    weights = [weight.clone() for weight in values.parameters()]
    rewards: set[float] = set()
    for batch in collector:
        assert barred(batch) == 0
        rewards |= set(batch["next", "reward"].flatten().tolist())
        memory.extend(batch)
        explore.step(batch.numel())
        for _ in range(10):
            loss = loss_module(memory.sample())["loss"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            updater.step()
    collector.shutdown()
    trained = match(policy)

    assert len(memory) == 3_000
    assert rewards == REWARD_TABLE - {-10.0}
    assert not any(map(torch.equal, weights, values.parameters()))
    assert trained.illegal == 0
    assert trained.won > untrained.won + 0.05


# With SAME_STEP, TorchRL reads the whole of `info` by itself and cannot read the last observation if that is a dict.
@pytest.mark.parametrize(
    ("mode", "dict_observation"), [(AutoresetMode.SAME_STEP, False), (AutoresetMode.DISABLED, True)]
)
def test_gym_wrapper_trains_ppo_on_the_vector_of_boards(mode: AutoresetMode, dict_observation: bool) -> None:
    torch.manual_seed(1000)
    boards = gymnasium.make_vec(
        "TicTacToeVersus-v0", num_envs=16, autoreset_mode=mode, dict_observation=dict_observation
    )
    environment = masked(GymWrapper(boards, categorical_action_encoding=True))
    check_env_specs(environment)
    environment.set_seed(1000)
    actor = masked_actor(network(CELLS), environment.action_spec, "observation", "action_mask", "action")
    critic = ValueOperator(network(1), in_keys=["observation"])
    losses = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(losses.parameters(), lr=1e-3)
    collector = Collector(
        environment, actor, frames_per_batch=1_024, total_frames=8_192, auto_register_policy_transforms=False
    )

    def policy(observation: Any, mask: Any) -> int:
        state = TensorDict({"observation": torch.as_tensor(observation), "action_mask": torch.as_tensor(mask).bool()})
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            return int(actor(state)["action"])

    untrained = match(policy)
    weights = [weight.clone() for weight in actor.parameters()]
    rewards: set[float] = set()
    frames = 0
    for batch in collector:
        assert barred(batch) == 0
        last_boards = batch["next", "observation"][batch["next", "done"].squeeze(-1)]
        assert (last_boards[..., 0].sum((-1, -2)) < CELLS).all()  # the end of the game, not the start of the next one
        rewards |= set(batch["next", "reward"].flatten().tolist())
        frames += batch.numel()
        for _ in range(4):
            with torch.no_grad():
                advantage(batch)
            learn_from(batch.reshape(-1), losses, optimizer)
    collector.shutdown()
    trained = match(policy)

    assert frames == 8_192
    assert rewards == REWARD_TABLE - {-10.0}
    assert not any(map(torch.equal, weights, actor.parameters()))
    assert trained.illegal == 0
    assert trained.won > untrained.won + 0.05


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version:UserWarning")  # of every newer one
def test_petting_zoo_wrapper_trains_ppo_in_both_seats() -> None:
    torch.manual_seed(1000)
    environment = PettingZooWrapper(tictactoe_v0.env(rewards="sparse"), use_mask=True)
    check_env_specs(environment)
    environment.set_seed(1000)
    learners = [SeatLearner(environment, agent) for agent in environment.group_map]
    both = TensorDictSequential(*(learner.actor for learner in learners))
    collector = Collector(
        environment, both, frames_per_batch=512, total_frames=2_048, auto_register_policy_transforms=False
    )
    untrained = [match(learner.policy, seat=seat) for seat, learner in enumerate(learners)]
    weights = [weight.clone() for weight in both.parameters()]
    for batch in collector:
        movers = torch.cat([batch[learner.agent, "mask"] for learner in learners], -1)
        assert (movers.sum(-1) == 1).all()
        for learner in learners:
            learner.learn(batch)
    collector.shutdown()
    trained = [match(learner.policy, seat=seat) for seat, learner in enumerate(learners)]

    assert sum(learner.plies for learner in learners) == 2_048
    assert not any(map(torch.equal, weights, both.parameters()))
    assert [score.illegal for score in trained] == [0, 0]
    # Over seeds 1000 to 1003 the wins of both seats rose together by 22.5 % of a match's games at the least.
    assert sum(score.won for score in trained) > sum(score.won for score in untrained) + 0.1


class SeatLearner:
    """Learn one seat of the PettingZoo view by PPO, from the plies on which that seat moved."""

    def __init__(self, environment: PettingZooWrapper, agent: str) -> None:
        self.agent, self.plies = agent, 0
        board = (agent, "observation", "observation")
        spec = environment.full_action_spec[agent, "action"]
        self.actor = masked_actor(network(CELLS), spec, board, (agent, "action_mask"), (agent, "action"))
        critic = ValueOperator(network(1), in_keys=[board], out_keys=[(agent, "state_value")])
        self.losses = ClipPPOLoss(self.actor, critic, entropy_coeff=0.01)
        self.advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
        keys = {name: (agent, name) for name in ("advantage", "value_target", "reward", "done", "terminated")}
        self.advantage.set_keys(value=(agent, "state_value"), **keys)
        self.losses.set_keys(
            value=(agent, "state_value"), action=(agent, "action"), sample_log_prob=(agent, "action_log_prob"), **keys
        )
        self.optimizer = torch.optim.Adam(self.losses.parameters(), lr=1e-3)

    def learn(self, batch: TensorDict) -> None:
        """Make eight passes over the own plies of a batch; the advantages are of all plies in their order."""
        moved = batch[self.agent, "mask"].squeeze(-1)
        chosen = batch[self.agent, "action_mask"].gather(-1, batch[self.agent, "action"].unsqueeze(-1)).flatten()
        assert chosen[moved].all()
        assert set(batch["next", self.agent, "reward"].flatten().tolist()) == {1.0, 0.0, -1.0}
        self.plies += int(moved.sum())
        for _ in range(8):
            with torch.no_grad():
                self.advantage(batch)
            learn_from(batch[moved], self.losses, self.optimizer)

    def policy(self, observation: Any, mask: Any) -> int:
        """Return the likeliest cell."""
        seen = {"observation": torch.as_tensor(observation)[None]}
        mine = TensorDict(
            {"observation": TensorDict(seen, [1]), "action_mask": torch.as_tensor(mask)[None].bool()}, [1]
        )
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            return int(self.actor(TensorDict({self.agent: mine}))[self.agent, "action"])


@pytest.mark.parametrize("env_id", ["TicTacToe-v0", "TicTacToeVersus-v0"])
def test_gym_env_registers_what_info_holds_by_itself(env_id: str) -> None:
    environment = GymEnv(env_id, categorical_action_encoding=True).auto_register_info_dict()
    check_env_specs(environment)
    seen = environment.rollout(20, break_when_any_done=False)["next"]
    assert seen["to_play"].flatten().tolist() == [
        int(planes[..., 1].sum() > planes[..., 2].sum()) for planes in seen["observation"]
    ]
    assert seen["action_mask"].shape == (20, 9)
    ended = seen["done"].flatten()
    assert 2 <= ended.sum() < 20
    assert seen["winner"].flatten()[~ended].tolist() == [-1] * int((~ended).sum())
    assert seen["illegal"].dtype == torch.bool
    assert torch.equal(seen["illegal"].flatten(), seen["reward"].flatten() == -10)
