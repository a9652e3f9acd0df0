"""Train your own network by self-play until it is proved, and load it again.

`network=` takes a function that makes a network for a board: a module from observations [B, 3A] to action values
[B, A]. This one reads the planes with two convolutions. Everything else stays the same: self-play, proofs, checkpoints.
A run folder holds weights and never code, so loading the run takes the same function again.

By default it is cut off after a few seconds. With `--steps 400000` it stops by itself when it is proved unbeatable, a
few seconds later.
"""

import numpy as np
import torch
import tyro
from torch import nn

import selfplay
from tictactoe import Rules


class Planes(nn.Module):
    """A layer from [B, 3A], with the three numbers of each cell side by side, to planes [B, 3, R, C]."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.shape = (rules.rows, rules.cols, 3)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the planes first, as convolutions want them."""
        return inputs.unflatten(1, self.shape).permute(0, 3, 1, 2)


def my_network(rules: Rules) -> nn.Module:
    """Return a network for a board."""
    return nn.Sequential(
        Planes(rules),
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * rules.cells, 256),
        nn.ReLU(),
        nn.Linear(256, rules.cells),
    )


def main(steps: int = 15_000, learning_rate: float = 2e-3, seed: int = 0) -> selfplay.Run:
    """Train for at most `steps` plies; another network wants another learning rate."""
    run = selfplay.train(network=my_network, seed=seed, total_steps=steps, learning_rate=learning_rate, mask=True)
    player = selfplay.load(run.folder, network=my_network)
    empty_board = np.zeros((1, 3, 3, 3), np.int8)
    empty_board[..., 0] = 1
    print(f"{run.folder}: unbeatable {run.verdict.unbeatable}, exploitability {run.verdict.exploitability}")
    print("what it thinks of each first move:")
    print(np.round(player.q_values(empty_board)[0].reshape(3, 3), 2))
    return run


if __name__ == "__main__":
    tyro.cli(main)
