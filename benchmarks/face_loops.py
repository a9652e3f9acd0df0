"""Play random legal games through each kind of face: the loops that are timed.

Every function prepares what must not be timed and returns a `Chunk`, which plays some plies when called and says
how many. Each ply takes the observation, the mask, the reward and the end from the face, as a program would, and
looks at none but the end. A loop knows the interface only, so whatever has the interface runs in the same one.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from benchmarks.random_play import Chooser, Stream
from tictactoe import Rewards, Rules, batch


class Played(NamedTuple):
    """Hold what a chunk has played."""

    plies: int
    games: int
    """Games that ended."""


Chunk: TypeAlias = Callable[[], Played]


def turns(env: gymnasium.Env[Any, Any], games: Sequence[Sequence[int]]) -> Chunk:
    """Play each order of cells until its game ends."""

    def chunk() -> Played:
        plies = 0
        for cells in games:
            env.reset()
            for ply, cell in enumerate(cells, 1):
                _observation, _reward, terminated, _truncated, _info = env.step(cell)
                if terminated:
                    plies += ply
                    break
        return Played(plies, len(games))

    return chunk


def single_agent(env: gymnasium.Env[Any, Any], games: Sequence[Sequence[int]]) -> Chunk:
    """Play each order of cells but for those that the opponent inside took; a ply is one `step`."""

    def chunk() -> Played:
        plies = 0
        for cells in games:
            _, info = env.reset()
            for cell in cells:
                if info["action_mask"][cell]:
                    _observation, _reward, terminated, _truncated, info = env.step(cell)
                    plies += 1
                    if terminated:
                        break
        return Played(plies, len(games))

    return chunk


def control(env: gymnasium.Env[Any, Any], actions: Sequence[int]) -> Chunk:
    """Play actions that are always legal, episode after episode."""

    def chunk() -> Played:
        episodes = 0
        env.reset()
        for action in actions:
            _observation, _reward, terminated, truncated, _info = env.step(action)
            if terminated or truncated:
                episodes += 1
                env.reset()
        return Played(len(actions), episodes)

    return chunk


def agents(env: Any, games: Sequence[Sequence[int]]) -> Chunk:
    """Play a PettingZoo AEC environment as its documentation does; the steps with None after the end are no plies."""

    def chunk() -> Played:
        plies = 0
        for cells in games:
            env.reset()
            order = iter(cells)
            for _agent in env.agent_iter():
                _observation, _reward, terminated, _truncated, _info = env.last()
                if terminated:
                    env.step(None)
                else:
                    env.step(next(order))
                    plies += 1
        return Played(plies, len(games))

    return chunk


def vector(env: Any, chooser: Chooser, steps: int) -> Chunk:
    """Step all boards of a Gymnasium vector environment; a step that only resets a board is no ply of it.

    Where the environment resets nothing by itself, the loop resets the boards that have ended after each step.
    """
    mode = env.metadata["autoreset_mode"]
    mask = env.reset(seed=0)[1]["action_mask"]
    idle = None  # the boards that the next step only resets

    def chunk() -> Played:
        nonlocal mask, idle
        plies = games = 0
        for _ in range(steps):
            _observation, _reward, ended, _truncated, info = env.step(chooser.choose(mask))
            plies += env.num_envs - (0 if idle is None else int(np.count_nonzero(idle)))
            over = int(np.count_nonzero(ended))
            games += over
            chooser.advance(ended, idle)
            if mode == AutoresetMode.NEXT_STEP:
                idle = ended
            elif mode == AutoresetMode.DISABLED and over:
                _observation, info = env.reset(options={"reset_mask": ended})
            mask = info["action_mask"]
        return Played(plies, games)

    return chunk


def device_batch(rules: Rules, num_boards: int, steps: int, xp: Any, device: Any, rng: np.random.Generator) -> Chunk:
    """Step `tictactoe.batch` on NumPy arrays or on torch tensors of a device, which is waited for once a chunk.

    Observation and mask are those after the ended games were restarted, as self-play uses them.
    """
    stream = Stream(rules.cells, num_boards, rng)
    fields = (stream.cells, stream.next_order, stream.start)
    cells, next_order, cursor = fields if device is None else (xp.as_tensor(field, device=device) for field in fields)
    rewards, state = Rewards(), batch.reset(rules, num_boards, xp, device)

    def chunk() -> Played:
        nonlocal state, cursor
        games = 0
        for _ in range(steps):
            step = batch.step(rules, rewards, state, cells[cursor])
            state = batch.restart(step.state, step.terminated)
            _observation, _mask = batch.observe(rules, state), batch.action_mask(rules, state)
            games = games + step.terminated.sum()
            cursor = xp.where(step.terminated, next_order[cursor], cursor + 1)
        return Played(num_boards * steps, int(games))

    return chunk
