"""Run PettingZoo's tutorial on masks with our game instead of its own: two lines change.

As in that tutorial, one MaskablePPO plays both seats. It sees what the seat to move sees, and gets the reward of the
seat that has just moved. PettingZoo's games are zero-sum and show each seat its own marks first. The two lines choose
our game and give it the same rewards and the same view.

By default it plays for a few seconds. `--steps 20480`, the tutorial's number, takes half a minute, and the player then
still loses hundreds of games. The tutorial's learner treats the other seat's next position as its own, with a plus
sign: this is the wrong target that `docs/training.md` calls "article".
"""

from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from pettingzoo import AECEnv
from sb3_contrib import MaskablePPO

import selfplay
from tictactoe import Rules, tictactoe_v0  # changed: from pettingzoo.classic import tictactoe_v3


def make() -> AECEnv:
    """Return the game."""
    return tictactoe_v0.env(rewards="sparse", perspective="mover")  # changed: return tictactoe_v3.env()


class BothSeats(gymnasium.Env[np.ndarray, int]):
    """An environment in which one agent plays whichever seat is to move."""

    def __init__(self, game: AECEnv) -> None:
        self.game = game
        first = game.possible_agents[0]
        self.observation_space = game.observation_space(first)["observation"]
        self.action_space = game.action_space(first)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Start a new game."""
        super().reset(seed=seed)
        self.game.reset(seed=seed, options=options)
        return self._seen()["observation"], {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Let the seat to move mark a cell; the observation is then the other seat's."""
        mover = self.game.agent_selection
        self.game.step(int(action))
        paid, over = float(self.game.rewards[mover]), bool(self.game.terminations[mover])
        return self._seen()["observation"], paid, over, False, {}

    def action_masks(self) -> np.ndarray:
        """Return the empty cells, as sb3-contrib asks for them."""
        return np.asarray(self._seen()["action_mask"])

    def _seen(self) -> Any:
        return self.game.observe(self.game.agent_selection)


def train(game: AECEnv, steps: int, seed: int) -> MaskablePPO:
    """Return a network that has played `steps` plies against itself."""
    return MaskablePPO("MlpPolicy", BothSeats(game), n_steps=min(steps, 2_048), seed=seed, device="cpu").learn(steps)


def main(steps: int = 2_048, seed: int = 0) -> selfplay.Verdict:
    """Train for `steps` plies, and evaluate what was learned."""
    torch.set_num_threads(1)  # more threads mostly wait for each other
    model = train(make(), steps, seed)

    def agent(observation: np.ndarray) -> int:
        """Return the likeliest empty cell."""
        return int(model.predict(observation, action_masks=observation[..., 0].ravel(), deterministic=True)[0])

    proof = selfplay.evaluate(agent, Rules(), perspective="mover")
    ways = f"{proof.first.ways_to_beat} + {proof.second.ways_to_beat}"
    print(f"ways to beat it as X + as O {ways}; wins against random play {proof.first.win:.1%}, {proof.second.win:.1%}")
    return proof


if __name__ == "__main__":
    tyro.cli(main)
