"""One MaskablePPO plays both seats of a PettingZoo game, as in PettingZoo's tutorial on masks with Stable-Baselines3.

To the learner the game is an environment for one agent: it sees what the seat to move sees, and is paid what the seat
that has just moved is paid. Trained alike on our game with its defaults, on our game as PettingZoo's own is (a loss is
the opposite of a win, and each seat sees its own marks first), and on PettingZoo's own; then the network plays the
second seat against random moves, in the tutorial's number of steps and seat.
Run it by `tests/interop/run pettingzoo_sb3_tutorial`.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.classic import tictactoe_v3
from sb3_contrib import MaskablePPO

from tictactoe import tictactoe_v0

STEPS, GAMES, SEEDS = 20_480, 300, range(3)
MAKERS: Mapping[str, Callable[[], AECEnv[str, Any, Any]]] = {
    "tictactoe_v0, defaults": tictactoe_v0.env,
    'tictactoe_v0, rewards="sparse", perspective="mover"': lambda: tictactoe_v0.env(
        rewards="sparse", perspective="mover"
    ),
    "PettingZoo's tictactoe_v3": tictactoe_v3.env,
}


class BothSeats(gymnasium.Env[NDArray[Any], int]):
    """Let one agent play whichever seat is to move."""

    def __init__(self, game: AECEnv[str, Any, Any]) -> None:
        self.game = game
        first = game.possible_agents[0]
        self.observation_space = game.observation_space(first)["observation"]
        self.action_space = game.action_space(first)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        super().reset(seed=seed)
        self.game.reset(seed=seed, options=options)
        return self._seen()["observation"], {}

    def step(self, action: int) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        mover = self.game.agent_selection
        self.game.step(int(action))
        paid, over = float(self.game.rewards[mover]), bool(self.game.terminations[mover])
        return self._seen()["observation"], paid, over, False, {}

    def action_masks(self) -> NDArray[Any]:
        return np.asarray(self._seen()["action_mask"])

    def _seen(self) -> Any:
        return self.game.observe(self.game.agent_selection)


def train(game: AECEnv[str, Any, Any], seed: int) -> MaskablePPO:
    model = MaskablePPO("MlpPolicy", BothSeats(game), seed=seed, device="cpu")
    return model.learn(STEPS)


def wins_in_the_second_seat(model: MaskablePPO, game: AECEnv[str, Any, Any]) -> int:
    """Play against random moves, one game from each of the seeds 0, 1, 2 ..."""
    wins = 0
    for seed in range(GAMES):
        generator = np.random.default_rng(seed)
        game.reset(seed=seed)
        learner = game.possible_agents[1]
        for agent in game.agent_iter():
            seen, _, terminated, truncated, _ = game.last()
            if terminated or truncated:
                wins += game.rewards[learner] == 1
                break
            mask = seen["action_mask"]
            if agent == learner:
                cell = int(model.predict(seen["observation"], action_masks=mask, deterministic=True)[0])
            else:
                cell = int(generator.choice(np.flatnonzero(mask)))
            game.step(cell)
    return wins


def main() -> None:
    torch.set_num_threads(1)
    names = ("sb3-contrib", "stable-baselines3", "pettingzoo", "torch")
    print(", ".join(f"{name} {version(name)}" for name in names))
    print(f"wins of {GAMES} games in the second seat against random moves, after {STEPS:,} steps, seeds {list(SEEDS)}")
    wins = {
        name: [wins_in_the_second_seat(train(make(), seed), make()) for seed in SEEDS] for name, make in MAKERS.items()
    }
    for name, won in wins.items():
        print(f"{name:52}", *(f"{each:4}" for each in won))
    ours, likened, theirs = wins.values()
    assert min(likened) > max(ours), "as PettingZoo's own game is, ours is learned better than with its defaults"
    assert min(likened) > 0.8 * min(theirs), "as PettingZoo's own game is, ours is learned about as well as that"


if __name__ == "__main__":
    main()
