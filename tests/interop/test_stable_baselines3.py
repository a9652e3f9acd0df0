"""Stable-Baselines3's models are evaluated as they are, and its checker takes our environments.

What they learn is tested with the recipes.
"""

from typing import Any

import gymnasium
import pytest
from gymnasium.wrappers import FlattenObservation
from stable_baselines3 import DQN
from stable_baselines3.common.env_checker import check_env

import selfplay


@pytest.mark.parametrize("form", ["planes", "flat", "dict"])
def test_an_untrained_model_is_evaluated_as_it_is(form: str) -> None:
    env: Any = gymnasium.make("tictactoe:TicTacToeVersus-v0", dict_observation=form == "dict")
    env = FlattenObservation(env) if form == "flat" else env
    model = DQN("MultiInputPolicy" if form == "dict" else "MlpPolicy", env, seed=1000, device="cpu", buffer_size=1)

    def asked(observation: Any) -> Any:
        seen = observation.ravel() if form == "flat" else observation
        if form == "dict":
            seen = {"observation": observation, "action_mask": observation[..., 0].ravel()}
        return model.predict(seen, deterministic=True)[0]

    verdict = selfplay.evaluate(model)
    assert verdict == selfplay.evaluate(asked)
    assert verdict.ways_to_beat > 0


# It takes any box of three axes for a picture; SB3 itself flattens what is no uint8.
@pytest.mark.filterwarnings("ignore:It seems that your observation .* is an image:UserWarning")
@pytest.mark.filterwarnings("ignore:The minimal resolution for an image is 36x36:UserWarning")
@pytest.mark.filterwarnings("ignore:It seems that your observation space .* is an image:UserWarning")
@pytest.mark.parametrize("env_id", ["tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"])
@pytest.mark.parametrize("dict_observation", [False, True])
def test_its_checker_passes(env_id: str, dict_observation: bool) -> None:
    check_env(gymnasium.make(env_id, dict_observation=dict_observation).unwrapped, warn=True)
