"""The unit of time: Stable-Baselines3's DQN for 10,000 steps with one update each, on the same machine.

Seconds say little about another machine; a multiple of this unit, measured in the same process, says more.
The unit is an MLP 27-27-27 with batches of 32, read as three hidden layers of 27 as in the published DQN
(27 -> 27 -> 27 -> 27 -> 9).

It learns from the first step on (`learning_starts=0`), so that steps and updates are equally many, on the
turn view with its default rewards. What is not named here is Stable-Baselines3's default. Making the model
is not part of the unit, `learn` is.
"""

import importlib
import time

import gymnasium

import tictactoe  # noqa: F401 (registers the environment)

STEPS = 10_000
HIDDEN = (27, 27, 27)


def unit_seconds(steps: int = STEPS, seed: int = 0) -> float:
    """Return the seconds that Stable-Baselines3's DQN takes for `steps` steps on our environment.

    Raises:
        RuntimeError: it did not do one update per step, so this is not the unit.
    """
    environment = gymnasium.wrappers.FlattenObservation(gymnasium.make("TicTacToe-v0"))
    model = importlib.import_module("stable_baselines3").DQN(
        "MlpPolicy",
        environment,
        batch_size=32,
        buffer_size=50_000,
        train_freq=1,
        gradient_steps=1,
        learning_starts=0,
        policy_kwargs={"net_arch": list(HIDDEN)},
        device="cpu",
        seed=seed,
    )
    started = time.perf_counter()
    model.learn(steps)
    seconds = time.perf_counter() - started
    if model._n_updates != steps:
        raise RuntimeError(f"Stable-Baselines3 did {model._n_updates} updates in {steps} steps")
    return seconds
