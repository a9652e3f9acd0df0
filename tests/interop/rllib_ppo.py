"""Train RLlib's PPO on the versus view without a mask, and on both seats of the PettingZoo view with one.

RLlib's default encoders take flat float32 observations. Its masking module is the one of its own examples, which
wants the mask beside `observations` in a Dict observation. Run it by `tests/interop/run rllib`.
"""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import ray
import torch
from gymnasium.wrappers import DtypeObservation, FlattenObservation
from pettingzoo.utils import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModule, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env
from shared import Score, match, print_versions

from tictactoe import tictactoe_v0

ITERATIONS, STEPS_PER_ITERATION, GAMES = 6, 2_000, 500


def flat_versus(settings: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    return DtypeObservation(FlattenObservation(gymnasium.make("TicTacToeVersus-v0", **settings)), np.float32)


class FloatObservations(BaseWrapper):  # type: ignore[misc]
    """Show each agent `observations` [27] and `action_mask` [9], both float32."""

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:  # noqa: ARG002
        flat, mask = (gymnasium.spaces.Box(0, 1, (size,), np.float32) for size in (27, 9))
        return gymnasium.spaces.Dict({"observations": flat, "action_mask": mask})

    def observe(self, agent: str) -> dict[str, Any]:
        seen = self.env.observe(agent)
        return as_floats(seen["observation"], seen["action_mask"])


def as_floats(observation: Any, mask: Any) -> dict[str, Any]:
    return {"observations": observation.astype(np.float32).ravel(), "action_mask": mask.astype(np.float32)}


def greedy(module: RLModule, observation: Any, mask: Any) -> int:
    """Return the likeliest cell for one observation."""
    seen = {name: torch.from_numpy(part)[None] for name, part in as_floats(observation, mask).items()}
    batch = seen if isinstance(module, ActionMaskingTorchRLModule) else seen["observations"]
    with torch.no_grad():
        return int(module.forward_inference({"obs": batch})["action_dist_inputs"].argmax())


def train(settings: PPOConfig, modules: list[str]) -> tuple[list[Score], list[Score]]:
    """Train one module per seat; return their scores against random play before and after."""
    algorithm = (
        settings.env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=STEPS_PER_ITERATION, minibatch_size=128, num_epochs=8, lr=1e-3)
        .debugging(seed=1_000)
        .build_algo()
    )

    def scores() -> list[Score]:
        return [match(partial(greedy, algorithm.get_module(name)), GAMES, seat) for seat, name in enumerate(modules)]

    before = scores()
    sampled = [algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"] for _ in range(ITERATIONS)]
    after = scores()
    algorithm.stop()
    print(f"PPO, {settings.env}: {sampled[-1]:,.0f} plies; {before} before, {after} after")
    assert sampled[-1] >= ITERATIONS * STEPS_PER_ITERATION
    return before, after


def main() -> None:
    print_versions("ray", "torch", "gymnasium", "pettingzoo")
    torch.set_num_threads(1)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    register_env("versus", flat_versus)
    register_env("pair", lambda _: PettingZooEnv(FloatObservations(tictactoe_v0.env(rewards="sparse"))))

    [before], [after] = train(PPOConfig().environment("versus"), [DEFAULT_MODULE_ID])
    assert before.illegal > 0.5
    assert after.illegal < 0.2
    assert after.won > before.won + 0.2

    agents = tictactoe_v0.env().possible_agents
    spec = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [64, 64]})
    pair = (
        PPOConfig()
        .environment("pair")
        .multi_agent(policies=set(agents), policy_mapping_fn=lambda agent, *_args, **_kwargs: agent)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys(agents, spec)))
    )
    untrained, trained = train(pair, agents)
    assert {score.illegal for score in untrained + trained} == {0}
    assert sum(score.won for score in trained) > sum(score.won for score in untrained) + 0.1
    ray.shutdown()


if __name__ == "__main__":
    main()
