"""Training iterations as one CUDA graph: recorded once, then replayed with a single call.

On a GPU the networks that this game needs take less time than the CPU needs to launch their kernels one by one.
A graph launches them all at once. It always reads and writes the same memory, so the positions are copied into
it, and nothing in an iteration may wait for the GPU or depend on a value there.
"""

import sys
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from selfplay.dqn.agent import Update
from selfplay.errors import one_line
from tictactoe import batch

WARM_UP = 3
"""Iterations with updates done one kernel at a time before one is recorded: libraries set themselves up in them."""


class Positions(NamedTuple):
    """Hold the games in play and what their movers see."""

    boards: batch.State
    seen: Tensor
    """[B, 3A]: the network inputs."""
    symmetry: Tensor
    """[B] int64: which image of each board they are; 0 is the board itself."""


Iteration: TypeAlias = Callable[[Positions, float, bool], tuple[Positions, list[Update]]]
"""Plays one ply everywhere with that epsilon, learns from it if told to, and returns the next positions and the last
update of each agent."""
RecordableIteration: TypeAlias = Callable[[Positions, "float | Tensor", bool], tuple[Positions, list[Update]]]
"""The same, also with an epsilon that lies on the GPU, where it can change without a new recording."""


def recorded(iterate: RecordableIteration, generator: torch.Generator, device: torch.device) -> Iteration:
    """Return the iteration recorded and replayed on a GPU, and as it is on a CPU; the bits are the same.

    `generator` is where it draws from.
    """
    return Recorded(iterate, generator) if device.type == "cuda" else iterate


class _Recording(NamedTuple):
    """Hold a recorded iteration and the memory that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    positions: Positions
    """Where it finds the positions, and leaves the next ones."""
    epsilon: Tensor
    updates: list[Update]


class Recorded:
    """Do the iterations of a training run, from the fourth with updates on as replays of a recorded one.

    What is returned is overwritten by the next call. Where recording or replaying fails, a line says so, and all
    further iterations are done one kernel at a time, to the same bits.
    """

    def __init__(self, iterate: RecordableIteration, generator: torch.Generator) -> None:
        self._iterate = iterate
        self._generator = generator
        self._warm_up = WARM_UP
        self._recording: _Recording | None = None
        self._given_up = False

    def __call__(self, positions: Positions, epsilon: float, learning: bool) -> tuple[Positions, list[Update]]:
        """Do one iteration, as `Iteration` says."""
        if not learning or self._given_up:
            return self._iterate(positions, epsilon, learning)
        if self._warm_up:
            self._warm_up -= 1
            return self._on_another_stream(positions, epsilon)
        drawn = self._generator.get_state() if self._recording is None else None
        try:
            self._recording = recording = self._recording or self._record(positions)
            if positions is not recording.positions:
                _copy(positions, recording.positions)
            recording.epsilon.fill_(epsilon)
            recording.graph.replay()
        except RuntimeError as error:  # nothing of the iteration was done, so it can be done without a recording
            self._given_up, self._recording = True, None
            if drawn is not None:
                self._generator.set_state(drawn)
            why = str(error).partition("\n")[0]
            print(one_line(f"training goes on without a CUDA graph, one kernel at a time: {why}"), file=sys.stderr)
            return self._iterate(positions, epsilon, True)
        return recording.positions, recording.updates

    def _on_another_stream(self, positions: Positions, epsilon: float) -> tuple[Positions, list[Update]]:
        """Do an iteration as the recording will: it may not touch what belongs to the default stream."""
        current, other = torch.cuda.current_stream(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
        other.wait_stream(current)
        with torch.cuda.stream(other):
            done = self._iterate(positions, epsilon, True)
        current.wait_stream(other)
        return done

    def _record(self, positions: Positions) -> _Recording:
        """Record an iteration; recording does none of it."""
        kept, epsilon = _clone(positions), torch.zeros((), device=positions.seen.device)
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._generator)
        with torch.cuda.graph(graph):
            after, updates = self._iterate(kept, epsilon, True)
            _copy(after, kept)
        return _Recording(graph, kept, epsilon, updates)


def _clone(positions: Positions) -> Positions:
    boards, *others = positions
    return Positions(batch.State(*(field.clone() for field in boards)), *(tensor.clone() for tensor in others))


def _copy(source: Positions, destination: Positions) -> None:
    for old, new in zip((*destination.boards, *destination[1:]), (*source.boards, *source[1:]), strict=True):
        old.copy_(new)
