"""Measure plies per second of many boards on a GPU: `tictactoe.batch` on torch tensors, beside pgx.

The figures of docs/results.md, on a machine with a GPU:

    python -m benchmarks.environment.gpu --docs docs

Every row plays random legal games, and each ply makes observation, mask, rewards and end. All of it stays on the GPU,
where a learner needs it; the clock, on the wall, stops when the GPU has finished. The cells to play come from random
orders sampled before it starts, and both choose them on the GPU. Ours is called from Python, or captured once as a CUDA
graph of one step and replayed; pgx plays jitted steps, or one `lax.scan` over all of them.
"""

import importlib
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import tyro

from benchmarks import harness
from benchmarks.environment import speed
from benchmarks.environment.libraries import PgxDelivery, pgx_call
from benchmarks.environment.loops import CELLS, Chunk, Played, Presampled
from tictactoe import Rewards, Rules, batch

TITLE = "Speed on a GPU"
BOARDS = (1_024, 65_536, 1_048_576)
STEPS = 64
"""Steps of a chunk."""
WARM_UP = 3
"""Steps that are played before one is captured."""
Device = Literal["cuda", "cpu"]


def ours(num_boards: int, device: Device, rng: np.random.Generator, *, graph: bool) -> Chunk:
    """Play with the functions of `tictactoe.batch`, called one by one or as a captured graph."""
    advance = in_place(num_boards, device, rng)
    call = captured(advance) if graph else advance

    def chunk() -> Played:
        for _ in range(STEPS):
            call()
        if device == "cuda":
            torch.cuda.synchronize()
        return Played(num_boards * STEPS, 0)

    return chunk


def in_place(num_boards: int, device: Device, rng: np.random.Generator) -> Callable[[], Any]:
    """Return a function that plays one ply on every board and returns what it delivers."""
    rules, rewards, sampled = Rules(), Rewards(), Presampled(CELLS, num_boards, rng)
    cells, next_order, cursor = (
        torch.from_numpy(each).to(device) for each in (sampled.cells, sampled.next_order, sampled.cursor)
    )
    state = batch.reset(rules, num_boards, torch, device)

    def advance() -> Any:
        played = batch.step(rules, rewards, state, cells[cursor])
        after = batch.restart(played.state, played.terminated)
        cursor.copy_(torch.where(played.terminated, next_order[cursor], cursor + 1))
        for field, new in zip(state, after, strict=True):
            field.copy_(new)
        mask = batch.action_mask(rules, state)
        return batch.observe(rules, state), mask, played.reward, played.other_reward, played.terminated

    return advance


def captured(function: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that replays on the GPU what `function` does there, and returns the same tensors each time.

    It keeps `function`, which holds the tensors that the graph works on: the graph itself does not keep them.
    """
    stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # as PyTorch asks for: what is made only once must not be captured
        for _ in range(WARM_UP):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        delivered = function()
    return partial(_replay, graph, function, delivered)


def _replay(graph: torch.cuda.CUDAGraph, _kept: Callable[[], Any], delivered: Any) -> Any:
    graph.replay()
    return delivered


def pgx(num_boards: int, device: Device, rng: np.random.Generator, *, delivery: PgxDelivery) -> Chunk:
    """Play pgx's tic-tac-toe."""
    backend = "gpu" if device == "cuda" else "cpu"
    call, carry = pgx_call(num_boards, STEPS, rng, delivery, backend=backend)
    wait: Any = importlib.import_module("jax").block_until_ready

    def chunk() -> Played:
        nonlocal carry
        for _ in range(1 if delivery == "scan" else STEPS):
            carry, delivered = call(carry)
        wait((carry, delivered))
        return Played(num_boards * STEPS, 0)

    return chunk


def group(num_boards: int, device: Device) -> speed.Group:
    """Return ours and pgx with that many boards."""
    called, graph = "tictactoe.batch", "tictactoe.batch, a CUDA graph"
    steps, scan = "pgx, jitted steps", "pgx, one lax.scan"
    rows = {
        called: partial(ours, num_boards, device, graph=False),
        steps: partial(pgx, num_boards, device, delivery="step"),
        scan: partial(pgx, num_boards, device, delivery="scan"),
    }
    ratios = [(called, steps)]
    if device == "cuda":
        rows[graph] = partial(ours, num_boards, device, graph=True)
        ratios += [(graph, steps), (graph, scan)]
    return speed.Group(f"boards: {num_boards:,}", rows, ratios)


def main(
    device: Device = "cuda",
    boards: tuple[int, ...] = BOARDS,
    rounds: int = 5,
    seconds: float = 0.5,
    docs: Path | None = None,
) -> None:
    """Measure plies per second of many boards on a GPU.

    Args:
        device: Where; "cpu" only to try the script.
        boards: Sizes of the batches.
        rounds: Turns of each row.
        seconds: Time of a turn.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch needs some of the memory as well
    measured_on = harness.start(TITLE, ("pgx", "jax"))
    for num_boards in boards:
        speed.run(TITLE, group(num_boards, device), rounds, seconds, measured_on, docs, time.perf_counter)


if __name__ == "__main__":
    tyro.cli(main)
