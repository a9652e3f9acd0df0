"""Train a DQN with one CleanRL-style loop in one file, on many boards at once.

What such a loop has to know is the autoreset mode. With `"SameStep"` the observation after the end of a game is already
that of the next game, and the one that the game ended with is in `infos["final_obs"]`.

By default it plays some thousand plies in some seconds, and can then be beaten in hundreds of games. `--steps 10000` is
more like a real run.
"""

import gymnasium
import numpy as np
import torch
import tyro
from torch import nn

import selfplay
from tictactoe import Rules

BOARDS, BATCH, WARMUP, MEMORY, GAMMA = 16, 128, 30, 2_000, 0.99


def make_network() -> nn.Sequential:
    """Return a Q-network, [B, 3, 3, 3] -> [B, 9]."""
    return nn.Sequential(nn.Flatten(), nn.Linear(27, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 9))


def greedy(network: nn.Module, observations: np.ndarray) -> np.ndarray:
    """Return the cells [B] of the highest values for observations [B, 3, 3, 3]."""
    with torch.no_grad():
        return network(torch.tensor(observations, dtype=torch.float32)).argmax(-1).numpy()


def update(network: nn.Module, slow: nn.Module, optimizer: torch.optim.Optimizer, batch: list[torch.Tensor]) -> None:
    """Take one step towards the one-step targets, and let the slow network follow."""
    seen, following, chosen, paid, done = batch
    with torch.no_grad():
        target = paid.float() + GAMMA * slow(following.float()).amax(1) * ~done
    loss = nn.functional.mse_loss(network(seen.float()).gather(1, chosen[:, None]).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for behind, ahead in zip(slow.parameters(), network.parameters(), strict=True):
            behind.lerp_(ahead, 0.005)


def main(steps: int = 500, seed: int = 0) -> selfplay.Verdict:
    """Play `steps` steps on each of 16 boards against random moves, and evaluate what was learned."""
    torch.set_num_threads(1)  # more of them mostly wait for each other
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    envs = gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", num_envs=BOARDS, autoreset_mode="SameStep", seat="random")
    network, slow = make_network(), make_network()
    slow.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    memory: list[list[np.ndarray]] = []  # a step of all boards each, the newest last
    observations, _ = envs.reset(seed=seed)
    for step in range(steps):
        explore = generator.random(BOARDS) < max(0.05, 1 - 2 * step / steps)
        actions = np.where(explore, generator.integers(9, size=BOARDS), greedy(network, observations))
        next_observations, rewards, terminations, _, infos = envs.step(actions)
        real_next_observations = next_observations.copy()
        for board in terminations.nonzero()[0]:
            real_next_observations[board] = infos["final_obs"][board]
        memory = [*memory, [observations, real_next_observations, actions, rewards, terminations]][-MEMORY:]
        observations = next_observations
        for _ in range(2 if step >= WARMUP else 0):
            places = generator.integers(len(memory), size=BATCH), generator.integers(BOARDS, size=BATCH)
            drawn = zip(
                *([part[board] for part in memory[row]] for row, board in zip(*places, strict=True)), strict=True
            )
            update(network, slow, optimizer, [torch.from_numpy(np.array(part)) for part in drawn])

    proof = selfplay.evaluate(lambda observation: int(greedy(network, observation[None])[0]), Rules())
    print(f"unbeatable: {proof.unbeatable}; exploitability {proof.exploitability}")
    print(f"illegal in {proof.illegal_states:,} of {proof.decision_states:,} decision states, right in", end=" ")
    print(f"{proof.optimal_states:,}; games lost as X + as O {proof.first.losses} + {proof.second.losses}")
    return proof


if __name__ == "__main__":
    tyro.cli(main)
