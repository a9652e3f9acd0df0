"""Prove a Stable-Baselines3 DQN, or find the shortest game that beats it.

It is trained in both seats against random moves, saved, loaded like any model, and judged over every reply of every
opponent. The last lines print the shortest game that beats it in each seat.

By default it trains for a few seconds, and then there are hundreds of ways to beat it. `--steps 100000` takes a minute
or two on one core. By then it rarely plays a taken cell, but can still be beaten in both seats: random play rarely
shows what a better opponent would do.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium
import torch
import tyro
from stable_baselines3 import DQN

import selfplay


def drawn(line: tuple[int, ...]) -> str:
    """Return the board after these plies as text."""
    game = gymnasium.make("tictactoe:TicTacToe-v0", render_mode="ansi")
    game.reset()
    for cell in line:
        game.step(cell)
    return str(game.render()).rstrip()


def main(steps: int = 3_000, seed: int = 0) -> selfplay.Counterexamples:
    """Train for `steps` steps with this seed, and evaluate what was learned."""
    torch.set_num_threads(1)  # more threads mostly wait for each other
    env = gymnasium.make("tictactoe:TicTacToeVersus-v0", opponent="random", seat="random")
    model = DQN("MlpPolicy", env, learning_rate=1e-3, learning_starts=500, seed=seed, device="cpu").learn(steps)
    with TemporaryDirectory() as folder:
        model.save(Path(folder, "dqn"))
        agent = DQN.load(Path(folder, "dqn"), device="cpu")

    proof = selfplay.evaluate(agent)
    print(f"unbeatable: {proof.unbeatable}; exploitability {proof.exploitability}")
    for name, seat in (("X", proof.first), ("O", proof.second)):
        ways = f"{seat.ways_to_beat} ways to beat it, {seat.illegal} by its own illegal move"
        print(f"as {name}: {ways}; wins {seat.win:.1%} from random play")

    beaten = selfplay.counterexamples(agent)
    for name, line in zip("XO", beaten.shortest, strict=True):
        if line is not None:
            print(f"the shortest game that beats it as {name}, cell by cell: {line}\n{drawn(line)}")
    return beaten


if __name__ == "__main__":
    tyro.cli(main)
