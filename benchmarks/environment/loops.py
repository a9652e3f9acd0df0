"""Play random legal games through each environment API: the loops that are timed.

Every function prepares what must not be timed and returns a `Chunk`, which plays some plies when called and returns how
many. Each ply takes the observation, the mask, the reward and the end from the environment, as a program would, and
looks at none but the end. A loop knows the API only, so ours and others run in the same one.

A random order of all cells, played until the game ends, is a uniformly random legal game: each move is the next cell of
the order, which is uniform among those still empty. So games are sampled before the clock starts. `Presampled` does
the same for many boards; `FromMask` samples from the delivered masks instead, as a program would. `B` is the number of
boards, `A` the number of cells.
"""

import math
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

CELLS = 9
"""Cells of 3,3,3."""
COLUMNS = math.lcm(*range(1, CELLS + 1))
POOL = 4_096
"""Orders in the pool from which many boards take their games."""
FRESH_CELLS = 1 << 21
"""Cells in the pool from which one board takes its games."""
Games: TypeAlias = Iterator[list[list[int]]]
Flags: TypeAlias = NDArray[np.bool_]
Cells: TypeAlias = NDArray[np.int64]


Chunk: TypeAlias = Callable[[], int]


def orders(cells: int, count: int, rng: np.random.Generator) -> Cells:
    """Return random orders of all cells, [count, A] int64."""
    return rng.permuted(np.tile(np.arange(cells), (count, 1)), axis=1)


def games(cells: int, plies: int, rng: np.random.Generator) -> Games:
    """Return orders for games of about this many plies together, other ones at each call of `next`.

    After about two million cells the games are the first ones again: what an environment remembers of them is then of
    no use to it on a large board.
    """
    number = max(1, plies // cells)
    sampled = orders(cells, max(number, FRESH_CELLS // cells), rng).tolist()
    return cycle(sampled[start : start + number] for start in range(0, len(sampled) - number + 1, number))


class Presampled:
    """The cells that every board plays, from a pool of orders one after the other; the masks are not looked at.

    A board is at a cursor. While its game continues it takes the next place; when the game ends, the next order.
    """

    def __init__(self, cells: int, num_boards: int, rng: np.random.Generator) -> None:
        pool = orders(cells, POOL, rng)
        self.cells: Cells = pool.ravel()
        """[POOL * A] int64: the cell to play at each cursor."""
        self.next_order: Cells = np.repeat((np.arange(POOL) + 1) % POOL * cells, cells)
        """[POOL * A] int64: where the order after the one at each cursor begins."""
        self.cursor: Cells = rng.integers(POOL, size=num_boards) * cells
        """[B] int64: of each board."""

    def choose(self, mask: NDArray[np.int8]) -> Cells:  # noqa: ARG002 (the other way of choosing needs it)
        """Return a cell for each board, [B] int64."""
        return self.cells.take(self.cursor)

    def advance(self, ended: Flags, idle: Flags | None) -> None:
        """Advance to the next cell, or to the next order where a game has ended; an idle board stays."""
        moved = self.cursor + 1 if idle is None else self.cursor + ~idle
        self.cursor = np.where(ended, self.next_order.take(self.cursor), moved)


class FromMask:
    """A uniform choice among the cells that the masks of 3,3,3 leave, by look-ups in small tables.

    All masks are packed into bits at once, so the nine bits of a board begin anywhere in a byte and reach into the
    next one. Of the c cells that they leave, the cell of number floor(u * c / 2520) is played: u is uniform in
    0..2519, and each c from 1 to 9 divides 2520, so the choice is exactly uniform.
    """

    def __init__(self, num_boards: int, rng: np.random.Generator) -> None:
        self._rng = rng
        bits = np.arange(num_boards) * CELLS
        self._byte, self._shift = bits // 8, (bits % 8).astype(np.uint16)
        left = [[cell for cell in range(CELLS) if word >> cell & 1] for word in range(1 << CELLS)]
        self._count = np.array([len(cells) for cells in left], np.int32)
        self._cell: Cells = np.array([cells + [0] * (CELLS - len(cells)) for cells in left]).ravel()

    def choose(self, mask: NDArray[np.int8]) -> Cells:
        """Return a cell for each board, [B] int64, from masks [B, 9] int8; no mask may be all zeros."""
        packed = np.packbits(mask, bitorder="little").astype(np.uint16)
        two_bytes = packed.take(self._byte) | packed.take(self._byte + 1) << 8
        word = two_bytes >> self._shift & (1 << CELLS) - 1
        sampled = self._rng.integers(COLUMNS, size=len(word), dtype=np.uint16)
        number = sampled * self._count.take(word) // COLUMNS
        return self._cell.take(word * np.int32(CELLS) + number)

    def advance(self, ended: Flags, idle: Flags | None) -> None:
        """Do nothing: the next masks say all."""


def sampled_cell(mask: NDArray[np.int8], rng: np.random.Generator) -> int:
    """Return one of the cells that a mask [A] leaves, all equally likely."""
    cells = mask.nonzero()[0]
    return int(cells[int(rng.random() * len(cells))])


def one_board_from_mask(env: gymnasium.Env[Any, Any], plies: int, rng: np.random.Generator) -> Chunk:
    """Play games whose cells are sampled from the delivered masks."""

    def chunk() -> int:
        done = 0
        while done < plies:
            _observation, info = env.reset()
            terminated = False
            while not terminated:
                cell = sampled_cell(info["action_mask"], rng)
                _observation, _reward, terminated, _truncated, info = env.step(cell)
                done += 1
        return done

    return chunk


def one_board(env: gymnasium.Env[Any, Any], games: Games) -> Chunk:
    """Play each order of cells until its game ends."""

    def chunk() -> int:
        plies = 0
        for cells in next(games):
            env.reset()
            for ply, cell in enumerate(cells, 1):
                _observation, _reward, terminated, _truncated, _info = env.step(cell)
                if terminated:
                    plies += ply
                    break
        return plies

    return chunk


def against_opponent(env: gymnasium.Env[Any, Any], games: Games) -> Chunk:
    """Play each order of cells but for those that the opponent inside took; a ply is one `step`."""

    def chunk() -> int:
        plies = 0
        for cells in next(games):
            _, info = env.reset()
            for cell in cells:
                if info["action_mask"][cell]:
                    _observation, _reward, terminated, _truncated, info = env.step(cell)
                    plies += 1
                    if terminated:
                        break
        return plies

    return chunk


def cart_pole(steps: int, rng: np.random.Generator) -> Chunk:
    """Play Gymnasium's CartPole with random actions."""
    env, actions = gymnasium.make("CartPole-v1"), rng.integers(2, size=steps).tolist()

    def chunk() -> int:
        env.reset()
        for action in actions:
            _observation, _reward, terminated, truncated, _info = env.step(action)
            if terminated or truncated:
                env.reset()
        return len(actions)

    return chunk


def two_agents(env: Any, games: Games) -> Chunk:
    """Play a PettingZoo AEC environment as its documentation does; the steps with None after the end are no plies."""

    def chunk() -> int:
        plies = 0
        for cells in next(games):
            env.reset()
            order = iter(cells)
            for _agent in env.agent_iter():
                _observation, _reward, terminated, _truncated, _info = env.last()
                if terminated:
                    env.step(None)
                else:
                    env.step(next(order))
                    plies += 1
        return plies

    return chunk


def vector(env: Any, chooser: Presampled | FromMask, steps: int) -> Chunk:
    """Step all boards of a Gymnasium vector environment; a step that only resets a board is no ply of it.

    Where the environment resets nothing by itself, the loop resets the boards that have ended after each step.
    """
    mode = env.metadata["autoreset_mode"]
    mask = env.reset(seed=0)[1]["action_mask"]
    idle = None  # boards that the next step only resets

    def chunk() -> int:
        nonlocal mask, idle
        plies = 0
        for _ in range(steps):
            _observation, _reward, ended, _truncated, info = env.step(chooser.choose(mask))
            plies += env.num_envs - (0 if idle is None else int(np.count_nonzero(idle)))
            chooser.advance(ended, idle)
            if mode == AutoresetMode.NEXT_STEP:
                idle = ended
            elif mode == AutoresetMode.DISABLED and ended.any():
                _observation, info = env.reset(options={"reset_mask": ended})
            mask = info["action_mask"]
        return plies

    return chunk
