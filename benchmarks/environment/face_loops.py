"""Play random legal games through each kind of face: the loops that are timed.

Every function prepares what must not be timed and returns a `Chunk`, which plays some plies when called and says
how many. Each ply takes the observation, the mask, the reward and the end from the face, as a program would, and
looks at none but the end. A loop knows the interface only, so whatever has the interface runs in the same one.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from benchmarks.environment.random_play import Chooser, Stream
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


def control(env: gymnasium.Env[Any, Any], steps: int, rng: np.random.Generator) -> Chunk:
    """Play so many of two actions that are always legal, drawn at random, episode after episode."""
    actions = rng.integers(2, size=steps).tolist()

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


def replayed(env: Any, steps: int, rng: np.random.Generator) -> Chunk:
    """Play the same games of a vector again and again: of so many steps, with cells drawn from the masks beforehand.

    On few boards drawing them would take longer than playing. The seed is the same, so an opponent's replies are.
    """
    mode = env.metadata["autoreset_mode"]
    plies = games = idle = 0
    played = []
    mask = env.reset(seed=0)[1]["action_mask"]
    for _ in range(steps):
        played.append(np.where(mask == 1, rng.random(mask.shape), -1).argmax(axis=1))
        _observation, _reward, ended, _truncated, info = env.step(played[-1])
        over = int(np.count_nonzero(ended))
        plies += env.num_envs - idle
        games += over
        idle = over if mode == AutoresetMode.NEXT_STEP else 0
        mask = info["action_mask"]
        if mode == AutoresetMode.DISABLED and over:
            # Gymnasium's own vector tells of the boards that it has started alone.
            mask[ended] = env.reset(options={"reset_mask": ended})[1]["action_mask"][ended]

    def chunk() -> Played:
        env.reset(seed=0)
        for cells in played:
            _observation, _reward, ended, _truncated, _info = env.step(cells)
            if mode == AutoresetMode.DISABLED and np.count_nonzero(ended):
                env.reset(options={"reset_mask": ended})
        return Played(plies, games)

    return chunk


class Games(NamedTuple):
    """Hold what goes from one step of `tictactoe.batch` to the next."""

    state: batch.State
    cursor: Any
    """[B]: where each board is in the stream of cells."""
    ended: Any
    """Games that have ended so far."""


def device_batch(rules: Rules, num_boards: int, steps: int, xp: Any, device: Any, rng: np.random.Generator) -> Chunk:
    """Step `tictactoe.batch` on NumPy arrays or on torch tensors of a device, which is waited for once a chunk."""
    games, step = _batch_games(rules, num_boards, xp, device, rng)

    def chunk() -> Played:
        nonlocal games
        before = games.ended
        for _ in range(steps):
            games = step(games)
        return Played(num_boards * steps, int(games.ended - before))

    return chunk


def recorded_batch(rules: Rules, num_boards: int, steps: int, device: torch.device, rng: np.random.Generator) -> Chunk:
    """Step `tictactoe.batch` on a GPU, a step recorded as a CUDA graph and replayed; one wait a chunk."""
    games, step = _batch_games(rules, num_boards, torch, device, rng)
    other = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):  # what is made at the first call, such as tables, no graph can hold
        games = step(games)
    torch.cuda.current_stream().wait_stream(other)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        after = step(games)
        for kept, new in zip((*games.state, *games[1:]), (*after.state, *after[1:]), strict=True):
            kept.copy_(new)

    def chunk() -> Played:
        before = int(games.ended)
        for _ in range(steps):
            graph.replay()
        return Played(num_boards * steps, int(games.ended) - before)

    return chunk


def _batch_games(
    rules: Rules, num_boards: int, xp: Any, device: Any, rng: np.random.Generator
) -> tuple[Games, Callable[[Games], Games]]:
    """Return new games and what plays one ply of each.

    Observation and mask are those after the ended games were restarted, as self-play uses them.
    """
    stream = Stream(rules.cells, num_boards, rng)
    fields = (stream.cells, stream.next_order, stream.start)
    cells, next_order, cursor = fields if device is None else (xp.as_tensor(field, device=device) for field in fields)
    rewards, state = Rewards(), batch.reset(rules, num_boards, xp, device)

    def step(games: Games) -> Games:
        state, cursor, ended = games
        played = batch.step(rules, rewards, state, cells[cursor])
        state = batch.restart(played.state, played.terminated)
        _observation, _mask = batch.observe(rules, state), batch.action_mask(rules, state)
        cursor = xp.where(played.terminated, next_order[cursor], cursor + 1)
        return Games(state, cursor, ended + played.terminated.sum())

    return Games(state, cursor, cursor[0] * 0), step
