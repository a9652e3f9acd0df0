"""Stable-Baselines3 trains on the versus view as it comes, and MaskablePPO finds the mask in `action_masks()`.

What they learn is tested with the recipes.
"""

from typing import Any

import gymnasium
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env

STEPS = 256


class Recorder(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Record each step's reward, and whether the mask before it barred its action."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("tictactoe:TicTacToeVersus-v0"))
        self.rewards: list[float] = []
        self.barred: list[bool] = []

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**kwargs)
        self._mask = info["action_mask"]
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.barred.append(bool(self._mask[int(action)] == 0))
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.rewards.append(float(reward))
        self._mask = info["action_mask"]
        return observation, reward, terminated, truncated, info


@pytest.mark.parametrize(
    ("algorithm", "settings", "masked"),
    [
        (DQN, {"learning_starts": 100, "train_freq": 2}, False),
        (PPO, {"n_steps": 128}, False),
        (MaskablePPO, {"n_steps": 128}, True),
    ],
)
def test_it_trains_and_is_paid_by_the_mask(algorithm: Any, settings: dict[str, Any], masked: bool) -> None:
    game = Recorder()
    model = algorithm("MlpPolicy", game, seed=1000, device="cpu", **settings)
    trained = model.q_net if algorithm is DQN else model.policy  # the target network follows later
    weights = [weight.clone() for weight in trained.parameters()]
    model.learn(STEPS)
    assert not any(map(torch.equal, weights, trained.parameters()))
    assert len(game.rewards) == STEPS
    assert [reward == -10 for reward in game.rewards] == game.barred
    assert set(game.rewards) == {1.0, 0.0, -1.0} | ({-10.0} if not masked else set())


# It takes any box of three axes for a picture; SB3 itself flattens what is no uint8.
@pytest.mark.filterwarnings("ignore:It seems that your observation .* is an image:UserWarning")
@pytest.mark.filterwarnings("ignore:The minimal resolution for an image is 36x36:UserWarning")
@pytest.mark.filterwarnings("ignore:It seems that your observation space .* is an image:UserWarning")
@pytest.mark.parametrize("env_id", ["tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"])
@pytest.mark.parametrize("dict_observation", [False, True])
def test_its_checker_passes(env_id: str, dict_observation: bool) -> None:
    check_env(gymnasium.make(env_id, dict_observation=dict_observation).unwrapped, warn=True)
