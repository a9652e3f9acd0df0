"""Train REINFORCE with a mask in PyTorch by self-play, as your own learner.

One network plays both seats of 64 games to their ends. Moves of the seat that won become more likely, those of the
seat that lost less likely, and taken cells have probability 0. An entropy bonus keeps it exploring; with a much smaller
one it soon plays the same game every time.

By default it plays for a few seconds, and can be beaten in hundreds of games. `--games 100000` stops by itself once it
is proved unbeatable. If it trained on after its proof, it could be beaten again from time to time.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
import tyro
from torch import nn

import selfplay
from tictactoe import Rules, batch

BOARDS, LEARNING_RATE, ENTROPY = 64, 1e-3, 0.3


class Likeliest(nn.Sequential):
    """A player that marks the likeliest empty cell."""

    def __init__(self) -> None:
        layers = nn.Linear(27, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 9)
        super().__init__(nn.Flatten(), *layers)

    def log_probabilities(self, observation: torch.Tensor) -> torch.Tensor:
        """Return the logarithms [B, 9] of the probabilities for observations [B, 3, 3, 3]; -1e9 for taken cells."""
        taken = observation[..., 0].flatten(1) == 0
        return self(observation.float()).masked_fill(taken, -1e9).log_softmax(dim=1)

    def act(self, observation: np.ndarray, action_mask: np.ndarray | None = None) -> np.ndarray:
        """Return cells [B]; plane 0 says which are empty, as the mask does."""
        del action_mask
        with torch.no_grad():
            return self.log_probabilities(torch.as_tensor(observation)).argmax(dim=1).numpy()


class Reinforce:
    """A learner from whole games; a step is a game."""

    rules = Rules()
    perspective = "mover"

    def __init__(self, seed: int = 0) -> None:
        self.settings = {"seed": seed}  # with which a run makes it again
        torch.manual_seed(seed)
        self.network, self.generator = Likeliest(), torch.Generator().manual_seed(seed)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=LEARNING_RATE)
        self.steps = 0

    def advance(self, most: int) -> None:
        """Play 64 games at once, and take one step along the gradient."""
        count = min(most, BOARDS)
        boards, games = batch.reset(self.rules, count, torch), torch.arange(count)
        result, sign, plies = torch.zeros(count), 1.0, []  # the result is that of the first seat
        while len(games):
            logs = self.network.log_probabilities(batch.observe(self.rules, boards, self.perspective))
            cells = torch.multinomial(logs.detach().exp(), 1, generator=self.generator)
            entropy = -(logs.exp() * logs).sum(dim=1)
            plies.append((games, sign, logs.gather(1, cells).squeeze(1), entropy))
            played = batch.play(self.rules, boards, cells.squeeze(1))
            result[games[played.win]] = sign
            going = ~played.terminated
            boards, games, sign = batch.State(*(part[going] for part in played.state)), games[going], -sign
        gained = result - result.mean()
        gain = torch.tensor(0.0)
        for games, sign, log, entropy in plies:
            gain = gain + (sign * gained[games] * log + ENTROPY * entropy).sum()
        self.optimizer.zero_grad()
        (-gain / count).backward()
        self.optimizer.step()
        self.steps += count

    def player(self) -> Likeliest:
        """Return the current player."""
        return self.network

    def state(self) -> Mapping[str, Any]:
        """Return all that it needs to continue: weights, moments of Adam, random numbers."""
        moments = self.optimizer.state_dict()["state"].items()
        adam = {f"adam/{number}/{name}": part for number, parts in moments for name, part in parts.items()}
        return {**self.network.state_dict(), **adam, "generator": self.generator.get_state(), "steps": self.steps}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`."""
        self.network.load_state_dict({name: state[name] for name in self.network.state_dict()})
        adam = self.optimizer.state_dict()
        for name in state:
            if name.startswith("adam/"):
                _, number, part = name.split("/")
                adam["state"].setdefault(int(number), {})[part] = state[name]
        self.optimizer.load_state_dict(adam)
        self.generator.set_state(state["generator"])
        self.steps = state["steps"]


def main(games: int = 6_000, seed: int = 0) -> selfplay.Run:
    """Train for at most `games` games, or until it is proved."""
    return selfplay.train(learner=Reinforce(seed), total_steps=games, eval_every=max(1, games // 20))


if __name__ == "__main__":
    tyro.cli(main)
