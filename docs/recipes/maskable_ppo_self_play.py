"""Train MaskablePPO by self-play against frozen copies of itself, and see exactly what it reaches.

Eight games run at once. In each the opponent is one of the latest copies of the learner, so that it does not only learn
to beat its last self; `perspective="mover"` shows each seat its own marks in plane 1, so that one network plays both.

By default it plays a few thousand plies in a few seconds, and can then be beaten in hundreds of games. `--rounds 12
--steps 8192` takes some minutes on one core. With the three seeds that we tried it could still be beaten after that.
`docs/results.md` measures MaskablePPO for longer, with settings that a search found.
"""

from io import BytesIO

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

import selfplay
from tictactoe import Rules

GAMES, COPIES = 8, 8


class Frozen:
    """A copy of the learner, which plays as it does now even after it has learned more."""

    def __init__(self, model: MaskablePPO) -> None:
        file = BytesIO()
        model.save(file)
        file.seek(0)
        self.model = MaskablePPO.load(file, device="cpu")

    def sample(self, observation: np.ndarray, action_mask: np.ndarray) -> int:
        """Draw a cell for one observation, as in training, so that no two games are alike."""
        return int(self.model.predict(observation, action_masks=action_mask)[0])

    def act(self, observation: np.ndarray, action_mask: np.ndarray | None = None) -> np.ndarray:
        """Return the likeliest empty cells [B] for observations [B, 3, 3, 3]; the mask is in plane 0."""
        del action_mask
        empty = observation[..., 0].reshape(len(observation), -1)
        return np.asarray(self.model.predict(observation, action_masks=empty, deterministic=True)[0])


def main(rounds: int = 3, steps: int = 1_024, seed: int = 0) -> list[selfplay.Verdict]:
    """Train for some rounds of `steps` steps each, with a new copy after each round."""
    torch.set_num_threads(1)  # more threads mostly wait for each other
    settings = {"seat": "random", "perspective": "mover", "rewards": "sparse"}
    envs = make_vec_env("tictactoe:TicTacToeVersus-v0", n_envs=GAMES, env_kwargs=settings, seed=seed)
    model = MaskablePPO("MlpPolicy", envs, n_steps=128, learning_rate=1e-3, ent_coef=0.01, seed=seed, device="cpu")
    copies: list[Frozen] = []
    proofs = []
    for number in range(1, rounds + 1):
        model.learn(steps, reset_num_timesteps=False)
        copies = [*copies, Frozen(model)][-COPIES:]
        for game in range(GAMES):
            envs.env_method("set_opponent", copies[game % len(copies)].sample, indices=game)
        proof = selfplay.evaluate(copies[-1], Rules(), perspective="mover")
        proofs.append(proof)
        ways = f"{proof.first.ways_to_beat} + {proof.second.ways_to_beat}"
        print(f"round {number}: exploitability {proof.exploitability}, ways to beat it as X + as O {ways}")
        if proof.unbeatable:
            break
    return proofs


if __name__ == "__main__":
    tyro.cli(main)
