"""A DQN loop in CleanRL's manner trains on `make_vec`, with the ends of games handled by the loop.

Network and update are those of the recipe, `docs/recipes/cleanrl_style.py`.
What the loop must know is the autoreset mode. With SAME_STEP the observation after an end is the next game's,
and the last one of the old game is in `final_obs`. With NEXT_STEP the step after an end ignores its action and
only starts the next game, so it is no transition.
"""

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from docs.recipes.cleanrl_style import make_network, update
from tests.interop.match import REWARD_TABLE, match

BOARDS, STEPS, BATCH, WARMUP = 16, 500, 128, 30


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_a_vector_loop_learns_which_moves_are_legal(mode: AutoresetMode) -> None:
    torch.manual_seed(1000)
    generator = np.random.default_rng(1000)
    envs = gymnasium.make_vec("TicTacToeVersus-v0", num_envs=BOARDS, autoreset_mode=mode)
    assert envs.metadata["autoreset_mode"] is mode
    network, target_network = make_network(), make_network()
    target_network.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    memory: list[tuple[Any, ...]] = []

    def policy(observation: NDArray[np.int8], _mask: Any) -> int:
        return int(network(torch.tensor(observation[None], dtype=torch.float32)).argmax())

    untrained = match(policy)
    weights = [weight.clone() for weight in network.parameters()]
    observations, infos = envs.reset(seed=1000)
    starting = np.zeros(BOARDS, bool)
    updates = 0
    for step in range(STEPS):
        epsilon = max(0.05, 1 - step / (0.5 * STEPS))
        with torch.no_grad():
            greedy = network(torch.tensor(observations, dtype=torch.float32)).argmax(-1).numpy()
        explore = generator.random(BOARDS) < epsilon
        actions = np.where(explore, generator.integers(9, size=BOARDS), greedy)
        taken = infos["action_mask"][np.arange(BOARDS), actions] == 0
        next_observations, rewards, terminations, truncations, infos = envs.step(actions)

        assert not truncations.any()
        played = ~starting
        assert (rewards[starting] == 0).all()
        assert not terminations[starting].any()
        assert np.array_equal((rewards == -10)[played], taken[played])
        real_next = next_observations.copy()
        if mode is AutoresetMode.SAME_STEP:
            for board in np.flatnonzero(terminations):
                real_next[board] = infos["final_obs"][board]
        else:
            starting = terminations
        parts = observations, real_next, actions, rewards, terminations
        memory += zip(*(part[played] for part in parts), strict=True)
        observations = next_observations
        if step < WARMUP:
            continue

        for _ in range(2):
            drawn = zip(*(memory[row] for row in generator.integers(len(memory), size=BATCH)), strict=True)
            update(network, target_network, optimizer, [torch.from_numpy(np.array(part)) for part in drawn])
            updates += 1
    envs.close()
    trained = match(policy)

    _, following, _, paid, _ = (np.array(part) for part in zip(*memory, strict=True))
    assert set(paid.tolist()) == REWARD_TABLE
    # A game's last board has marks on it: a taken cell needs a mark, and so do a line and a full board.
    assert (following[..., 0].sum((1, 2)) < 9).all()
    assert (len(memory) == STEPS * BOARDS) == (mode is AutoresetMode.SAME_STEP)
    assert updates == 2 * (STEPS - WARMUP)
    assert not any(map(torch.equal, weights, network.parameters()))
    # Over seeds 1000 to 1005 no trained network played a taken cell in a match, and every untrained one in each game.
    assert untrained.illegal > 0.5
    assert trained.illegal < 0.2
    assert trained.won > untrained.won + 0.2
