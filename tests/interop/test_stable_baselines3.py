"""Train Stable-Baselines3 on the versus view as it is; MaskablePPO reads the mask from `action_masks()`.

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
    """Record each step's reward, and whether the cell was taken in the observation before it."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("tictactoe:TicTacToeVersus-v0"))
        self.steps: list[tuple[float, bool]] = []

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self._observation, info = self.env.reset(**kwargs)
        return self._observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        taken = self._observation[..., 0].flat[action] == 0
        self._observation, reward, *rest = self.env.step(action)
        self.steps.append((float(reward), bool(taken)))
        return self._observation, reward, *rest


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
    assert len(game.steps) == STEPS
    assert {*game.steps} == {(1.0, False), (0.0, False), (-1.0, False)} | (set() if masked else {(-10.0, True)})


# It takes any box of three axes for a picture; SB3 itself flattens what is no uint8.
@pytest.mark.filterwarnings("ignore:It seems that your observation .* is an image:UserWarning")
@pytest.mark.filterwarnings("ignore:The minimal resolution for an image is 36x36:UserWarning")
@pytest.mark.filterwarnings("ignore:It seems that your observation space .* is an image:UserWarning")
@pytest.mark.parametrize("env_id", ["tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"])
@pytest.mark.parametrize("dict_observation", [False, True])
def test_its_checker_passes(env_id: str, dict_observation: bool) -> None:
    check_env(gymnasium.make(env_id, dict_observation=dict_observation).unwrapped, warn=True)
