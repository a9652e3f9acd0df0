"""Train AgileRL's evolved DQN on the vector of boards against random play.

AgileRL reads the mask of legal moves from `info`. Observations are flattened, because it takes three axes for a picture
and wants convolutions. Its training loop stores the observation that follows an end as the next one, which only
SAME_STEP makes harmless: with NEXT_STEP it would also store the step that starts the next game.
Run it by `tests/interop/run agilerl`.
"""

from typing import Any

import gymnasium
import numpy as np
import torch
from agilerl.algorithms import DQN
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.hpo.mutation import Mutations
from agilerl.hpo.tournament import TournamentSelection
from agilerl.training.train_off_policy import train_off_policy
from gymnasium.vector import AutoresetMode, VectorWrapper
from gymnasium.vector.utils import batch_space
from shared import match, print_versions

BOARDS, STEPS, GAMES, SEED = 16, 8_000, 500, 1_000


class FlatBoards(VectorWrapper):
    """Flatten the observations and record the rewards; Gymnasium's own flattening of vectors refuses SAME_STEP."""

    def __init__(self, environment: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
        super().__init__(environment)
        self.single_observation_space = gymnasium.spaces.Box(0, 1, (27,), np.int8)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.rewards: list[float] = []

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        observations, info = self.env.reset(**kwargs)
        return observations.reshape(-1, 27), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observations, rewards, terminations, truncations, info = self.env.step(actions)
        self.rewards += rewards.tolist()
        return observations.reshape(-1, 27), rewards, terminations, truncations, info


def wins(agent: DQN) -> float:
    """Return the fraction of games that an agent wins in the first seat."""
    score = match(lambda seen, mask: agent.get_action(seen.reshape(1, 27), 0.0, mask[None])[0], GAMES)
    return float(score.won)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    np.random.seed(SEED)  # noqa: NPY002 (what AgileRL draws from)
    boards = FlatBoards(
        gymnasium.make_vec("TicTacToeVersus-v0", num_envs=BOARDS, autoreset_mode=AutoresetMode.SAME_STEP)
    )
    population = [
        DQN(
            boards.single_observation_space,
            boards.single_action_space,
            index=index,
            net_config={"encoder_config": {"hidden_size": [64]}, "head_config": {"hidden_size": [64]}},
            batch_size=128,
            lr=1e-3,
            learn_step=BOARDS,
            tau=0.01,
        )
        for index in range(2)
    ]
    before = wins(population[0])
    trained, _ = train_off_policy(
        boards,
        "TicTacToeVersus-v0",
        "DQN",
        population,
        ReplayBuffer(max_size=2 * STEPS),
        max_steps=STEPS,
        evo_steps=2_000,
        eps_decay=0.98,
        selection_strategy=TournamentSelection(2, True, 2),
        mutation=Mutations(0.5, 0, 0.2, 0, 0, 0.3, rand_seed=SEED),
        verbose=False,
    )
    after = max(map(wins, trained))
    print_versions("agilerl", "torch", "gymnasium", "pettingzoo")
    print(f"plies played: {len(boards.rewards):,}; rewards: {sorted({*boards.rewards})}, -10 for a taken cell")
    print(f"wins in {GAMES} games against random: {before:.3f} before, {after:.3f} after, the better agent")
    assert {*boards.rewards} == {1.0, 0.0, -1.0}
    assert after > before + 0.05


if __name__ == "__main__":
    main()
