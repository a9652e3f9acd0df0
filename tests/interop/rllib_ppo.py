"""RLlib's PPO learns the versus view unmasked, and both seats of the PettingZoo view with a mask.

RLlib's default encoders take flat float32 observations. Its masking module is the one of its own examples, which
wants the mask beside `observations` in a Dict observation. Run it by `tests/interop/run rllib`.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import gymnasium
import numpy as np
import ray
import torch
from gymnasium.wrappers import DtypeObservation, FlattenObservation
from match import match  # type: ignore[import-not-found]  # beside this file, which runs as a script
from pettingzoo.utils import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModule, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from tictactoe import tictactoe_v0

ITERATIONS, STEPS_PER_ITERATION, GAMES = 6, 2_000, 500


def flat_versus(settings: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    return DtypeObservation(FlattenObservation(gymnasium.make("TicTacToeVersus-v0", **settings)), np.float32)


class FloatObservations(BaseWrapper):  # type: ignore[misc]
    """Show each agent `observations` [27] and `action_mask` [9], both float32; count actions against the mask."""

    barred = 0

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:  # noqa: ARG002
        flat, mask = (gymnasium.spaces.Box(0, 1, (size,), np.float32) for size in (27, 9))
        return gymnasium.spaces.Dict({"observations": flat, "action_mask": mask})

    def observe(self, agent: str) -> dict[str, Any]:
        seen = self.env.observe(agent)
        return as_floats(seen["observation"], seen["action_mask"])

    def step(self, action: int | None) -> None:
        """Play, and count the action if the mask bars it."""
        if action is not None and not self.env.observe(self.env.agent_selection)["action_mask"][action]:
            FloatObservations.barred += 1
        self.env.step(action)


def as_floats(observation: Any, mask: Any) -> dict[str, Any]:
    return {"observations": observation.astype(np.float32).ravel(), "action_mask": mask.astype(np.float32)}


def greedy(module: RLModule, seen: Any) -> int:
    """Return the likeliest cell for one observation."""
    if isinstance(seen, dict):
        batch: Any = {name: torch.from_numpy(part)[None] for name, part in seen.items()}
    else:
        batch = torch.from_numpy(seen)[None]
    with torch.no_grad():
        return int(module.forward_inference({"obs": batch})["action_dist_inputs"].argmax())


def config(environment: str) -> PPOConfig:
    return (
        PPOConfig()
        .environment(environment)
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=STEPS_PER_ITERATION, minibatch_size=128, num_epochs=8, lr=1e-3)
        .debugging(seed=1_000)
    )


def train_versus() -> None:
    """Train on the versus view without a mask."""
    algorithm = config("versus").build_algo()

    def policy(observation: Any, _mask: Any) -> int:
        return greedy(algorithm.get_module(), observation.astype(np.float32).ravel())

    before = match(policy, GAMES)
    sampled = [algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"] for _ in range(ITERATIONS)]
    after = match(policy, GAMES)
    algorithm.stop()
    print(f"PPO, TicTacToeVersus-v0, no mask: {sampled[-1]:,.0f} steps; won and illegal {before} before, {after} after")
    assert sampled[-1] >= ITERATIONS * STEPS_PER_ITERATION
    assert before.illegal > 0.5
    assert after.illegal < 0.2
    assert after.won > before.won + 0.2


def train_both_seats() -> None:
    """Train a policy for each seat of the PettingZoo view, by the mask."""
    agents = tictactoe_v0.env().possible_agents
    spec = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [64, 64]})
    algorithm = (
        config("pair")
        .multi_agent(policies=set(agents), policy_mapping_fn=lambda agent, *_args, **_kwargs: agent)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys(agents, spec)))
        .build_algo()
    )

    def policy_of(agent: str) -> Callable[[Any, Any], int]:
        return lambda observation, mask: greedy(algorithm.get_module(agent), as_floats(observation, mask))

    before = [match(policy_of(agent), GAMES, seat) for seat, agent in enumerate(agents)]
    sampled = [algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"] for _ in range(ITERATIONS)]
    after = [match(policy_of(agent), GAMES, seat) for seat, agent in enumerate(agents)]
    algorithm.stop()
    print(
        f"PPO, tictactoe_v0 by PettingZooEnv, both seats: {sampled[-1]:,.0f} plies; won {before} before, {after} after"
    )
    print(f"mask: observation['action_mask'] of the AEC view; actions against it: {FloatObservations.barred}")
    assert sampled[-1] >= ITERATIONS * STEPS_PER_ITERATION
    assert FloatObservations.barred == 0
    assert sum(won for won, _ in after) > sum(won for won, _ in before) + 0.1


def main() -> None:
    print(f"ray {version('ray')}, torch {version('torch')}, gymnasium {version('gymnasium')}", end=", ")
    print(f"pettingzoo {version('pettingzoo')}")
    torch.set_num_threads(1)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    register_env("versus", flat_versus)
    register_env("pair", lambda _: PettingZooEnv(FloatObservations(tictactoe_v0.env(rewards="sparse"))))
    train_versus()
    train_both_seats()
    ray.shutdown()


if __name__ == "__main__":
    main()
