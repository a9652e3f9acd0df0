"""Recorded iterations: equal to those that are not, and without anything that a recording could not hold."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.autograd.graph import get_gradient_edge
from torch.utils._python_dispatch import TorchDispatchMode

from selfplay.dqn import cuda_graph, self_play, standing
from selfplay.dqn.agent import DQNAgent
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.cuda_graph import WARM_UP, Recorded
from selfplay.dqn.interleaved import InterleavedAgents
from selfplay.dqn.self_play import DQNLearner
from tests.selfplay.dqn import cuda_graph_on_cpu
from tests.selfplay.dqn.scripted import CPU, config_with, iterations
from tictactoe import batch, planes

CUDA = torch.device("cuda")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

KINDS: tuple[dict[str, object], ...] = (
    {},
    {"networks": "separate", "target": "independent"},
    {"mask": True, "target": "article", "double": True, "dueling": True, "perspective": "absolute"},
    {"hard_update": 3, "updates_per_step": 2, "explore": "any", "symmetry": "none", "rewards": "sparse"},
    {"rows": 4, "cols": 5, "k": 4, "networks": "separate", "hidden": ()},
    {"convolution": (4, 5), "dueling": True},
    {"lines": 2, "rule_weight": 0.5},
)
EVERY_KIND = pytest.mark.parametrize("changes", KINDS, ids=lambda changes: "-".join(changes) or "default")
ITERATIONS = 40


def small(changes: dict[str, object]) -> DQNConfig:
    """Return settings under which the ring wraps and epsilon changes within a few iterations."""
    return config_with(num_envs=8, memory_size=100, total_steps=8 * ITERATIONS, epsilon_plies=200, **changes)


def run(config: DQNConfig, device: torch.device) -> tuple[list[list[torch.Tensor]], dict[str, torch.Tensor]]:
    """Return the boards, losses and values after each iteration, and all that the agents are in the end."""
    learner = DQNLearner(config, device)
    for agent in learner.agents.distinct:
        agent.optimizer._in_numbers = False  # as on a GPU
    history = []
    for _ in iterations(learner):
        updates = [tensor for update in learner.last_updates for tensor in update]
        history.append([tensor.clone() for tensor in (*learner.positions.boards, *updates)])
    return history, learner.agents.state()


def same(one: list[list[torch.Tensor]], other: list[list[torch.Tensor]]) -> bool:
    return all(torch.equal(*pair) for two in zip(one, other, strict=True) for pair in zip(*two, strict=True))


def same_state(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Compare what agents are, but for the spare row of a memory: who is the last to write there is left to a GPU."""
    pairs = [(name, one[name], other[name]) for name in one]
    return all(torch.equal(*(side[:-1] if name.endswith(".memory") else side for side in two)) for name, *two in pairs)


@EVERY_KIND
def test_replays_give_the_bits_of_iterations_that_are_not_recorded(
    changes: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "array_module", lambda _: torch)
    history, state = run(small(changes), CPU)

    graphs = cuda_graph_on_cpu.install(monkeypatch)
    monkeypatch.setattr(self_play, "recorded", lambda iterate, generator, _: Recorded(iterate, generator))
    recorded_history, recorded_state = run(small(changes), CPU)

    (graph,) = graphs
    assert graph.replays == ITERATIONS - 64 // 8 - WARM_UP + 1  # the 8th iteration is the first with updates
    assert same(history, recorded_history)
    assert same_state(state, recorded_state)


def fail(*_: object) -> None:
    raise RuntimeError("CUDA error: operation not permitted\nand more lines")


def failing_replay(number: int) -> Callable[[cuda_graph_on_cpu.Graph], None]:
    """Return a replay that fails at the nth."""
    replay = cuda_graph_on_cpu.Graph.replay

    def replayed(graph: cuda_graph_on_cpu.Graph) -> None:
        if graph.replays == number:
            fail()
        replay(graph)

    return replayed


def failing_operation(number: int) -> Callable[..., Any]:
    """Return a recording that fails at the nth operation, when random numbers have been drawn."""
    dispatch = cuda_graph_on_cpu._Recording.__torch_dispatch__

    def dispatched(recording: cuda_graph_on_cpu._Recording, *args: Any, **kwargs: Any) -> Any:
        if len(recording.graph.operations) == number:
            fail()
        return dispatch(recording, *args, **kwargs)

    return dispatched


@contextlib.contextmanager
def failing_end(graph: cuda_graph_on_cpu.Graph) -> Iterator[None]:
    with cuda_graph_on_cpu._recording(graph):
        yield
    fail()


STAGES: dict[str, tuple[object, str, object]] = {
    "a graph": (torch.cuda, "CUDAGraph", fail),
    "its generator": (cuda_graph_on_cpu.Graph, "register_generator_state", fail),
    "its beginning": (torch.cuda, "graph", fail),
    "an operation": (cuda_graph_on_cpu._Recording, "__torch_dispatch__", failing_operation(60)),
    "its end": (torch.cuda, "graph", failing_end),
    "the first replay": (cuda_graph_on_cpu.Graph, "replay", fail),
    "a later replay": (cuda_graph_on_cpu.Graph, "replay", failing_replay(5)),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("changes", KINDS[:2], ids=lambda changes: "-".join(changes) or "default")
def test_where_recording_fails_training_goes_on_to_the_same_bits_after_one_line(
    changes: dict[str, object], stage: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(standing, "array_module", lambda _: torch)
    history, state = run(small(changes), CPU)
    cuda_graph_on_cpu.install(monkeypatch)
    monkeypatch.setattr(self_play, "recorded", lambda iterate, generator, _: Recorded(iterate, generator))
    place, name, failing = STAGES[stage]
    monkeypatch.setattr(place, name, failing)
    without, without_state = run(small(changes), CPU)
    assert same(history, without)
    assert same_state(state, without_state)
    line = "training goes on without a CUDA graph, one kernel at a time: CUDA error: operation not permitted\n"
    assert capsys.readouterr().err == line


def test_other_positions_than_the_last_ones_are_copied_into_the_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda_graph_on_cpu.install(monkeypatch)

    def iterate(positions: cuda_graph.Positions, epsilon: float | torch.Tensor, _: bool) -> Any:
        boards, seen, symmetry = positions
        return cuda_graph.Positions(batch.State(*(field + 1 for field in boards)), seen + epsilon, symmetry + 2), []

    def positions(number: int) -> cuda_graph.Positions:
        return cuda_graph.Positions(
            batch.State(*torch.full((3, 2), number)), torch.full((2,), float(number)), torch.full((2,), number)
        )

    recorded = Recorded(iterate, torch.Generator())
    for number in (5, 50, 500, 5_000, 50_000):
        after, _ = recorded(positions(number), 0.5, True)
        after, _ = recorded(after, 0.25, True)
        assert after.boards.ply.tolist() == [number + 2] * 2
        assert after.seen.tolist() == [number + 0.75] * 2
        assert after.symmetry.tolist() == [number + 4] * 2


class _OneDevice(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuse operations between devices, for which a GPU would have to be waited for."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        places = {tensor.device.type for tensor in cuda_graph_on_cpu.tensors((args, kwargs, result))}
        assert len(places) <= 1, f"{func} works on {sorted(places)}"
        return result


@pytest.fixture
def no_tables_left() -> Iterator[None]:
    """Keep the tables that the batch makes of tensors without values from other tests."""
    caches = (batch._line_tables, planes._table_on)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("no_tables_left")
@EVERY_KIND
def test_no_iteration_waits_for_its_device(changes: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_play, "recorded", lambda iterate, *_: iterate)
    config = small(changes)
    # Tensors on this device have shapes but no values: whoever asks for one, as he would wait for a GPU, gets an error.
    meta = torch.device("meta")
    agents = [DQNAgent(config, meta, torch.Generator()) for _ in range(2)]
    seats = InterleavedAgents(agents if config.networks == "separate" else agents[:1] * 2)
    monkeypatch.setattr(self_play, "make_agents", lambda *_: seats)
    learner = DQNLearner(config, meta)
    for _ in range(ITERATIONS // 2):
        learner.advance()
    with _OneDevice():  # type: ignore[no-untyped-call]
        learner.advance()
    assert learner.updates == (ITERATIONS // 2 - 6) * config.updates_per_step
    assert learner.positions.boards.mover.device == meta


@EVERY_KIND
def test_nothing_that_an_iteration_leaves_keeps_its_autograd_graph(changes: dict[str, object]) -> None:
    """Nodes of a warm-up remember its stream, and recording a backward pass on another that meets one fails."""
    config = small(changes)
    learner = DQNLearner(config, CPU)
    for _ in range(ITERATIONS // 2):
        learner.advance()
    parameters = [parameter for agent in learner.agents.distinct for parameter in agent.network.parameters()]
    held: list[Any] = [get_gradient_edge(parameter).node for parameter in parameters]  # which backward passes now use
    for node in held:
        node.metadata["held"] = True
    learner.advance()
    assert learner.last_updates
    del held, node
    found: list[Any] = [get_gradient_edge(parameter).node for parameter in parameters]
    assert not any("held" in node.metadata for node in found)


@needs_gpu
@EVERY_KIND
def test_on_a_gpu_replays_give_the_bits_of_iterations_that_are_not_recorded(
    changes: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded_history, recorded_state = run(small(changes), CUDA)
    monkeypatch.setattr(self_play, "recorded", lambda iterate, *_: iterate)
    history, state = run(small(changes), CUDA)
    assert same(history, recorded_history)
    assert same_state(state, recorded_state)


@needs_gpu
@EVERY_KIND
def test_on_a_gpu_nothing_synchronizes(changes: dict[str, object]) -> None:
    config = small(changes)
    learner = DQNLearner(config, CUDA)
    for _ in range(ITERATIONS - 1):
        learner.advance()
    torch.cuda.set_sync_debug_mode("error")
    try:
        learner.advance()
        assert learner.steps == config.total_steps
    finally:
        torch.cuda.set_sync_debug_mode("default")
