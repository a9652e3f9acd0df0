"""A stand-in for CUDA graphs on a CPU: what is recorded is not done, and a replay does the same on the same memory.

It records below autograd, so a backward pass is recorded too. Python does not run in a replay: whatever an iteration
keeps in a Python number or binds to a new tensor stays what it was at the recording, as on a GPU.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def install(monkeypatch: pytest.MonkeyPatch) -> list["Graph"]:
    """Put the stand-ins in their places, and return where every new graph will be listed."""
    graphs: list[Graph] = []

    def new_graph() -> Graph:
        graphs.append(Graph())
        return graphs[-1]

    monkeypatch.setattr(torch.cuda, "CUDAGraph", new_graph)
    monkeypatch.setattr(torch.cuda, "graph", _recording)
    monkeypatch.setattr(torch.cuda, "Stream", _Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", _Stream)
    monkeypatch.setattr(torch.cuda, "stream", contextlib.nullcontext)
    return graphs


class _Stream:
    def wait_stream(self, other: "_Stream") -> None:
        """Do nothing: on a CPU one thing is done after the other."""


class Graph:
    """Keep operations with the very tensors they were recorded with."""

    def __init__(self) -> None:
        self.operations: list[tuple[Any, Any, Any, Any]] = []
        self.generators: list[torch.Generator] = []
        self.replays = 0

    def register_generator_state(self, generator: torch.Generator) -> None:
        self.generators.append(generator)

    def replay(self) -> None:
        self.replays += 1
        with torch.no_grad():
            for function, args, kwargs, recorded in self.operations:
                again = function(*args, **kwargs)
                for old, new in zip(tensors(recorded), tensors(again), strict=True):
                    if storage(old) != storage(new):  # neither in place nor a view
                        old.copy_(new)


class _Recording(TorchDispatchMode):
    def __init__(self, graph: Graph) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.graph = graph
        self.known: dict[int, Tensor] = {}
        self.before: list[tuple[Tensor, Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for tensor in tensors((args, kwargs)):
            if storage(tensor) not in self.known:
                self.known[storage(tensor)] = tensor
                whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
                self.before.append((whole, whole.clone()))
        result = func(*args, **kwargs)
        for tensor in tensors(result):
            self.known.setdefault(storage(tensor), tensor)
        self.graph.operations.append((func, args, kwargs, result))
        return result


@contextlib.contextmanager
def _recording(graph: Graph) -> Iterator[None]:
    """Record what is done inside, and leave memory and generators as they were before."""
    states = [generator.get_state() for generator in graph.generators]
    recording = _Recording(graph)
    try:
        with recording:
            yield
    finally:
        for whole, before in recording.before:
            whole.copy_(before)
    for generator, state in zip(graph.generators, states, strict=True):  # where it fails, nobody knows how they stand
        generator.set_state(state)


def tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
