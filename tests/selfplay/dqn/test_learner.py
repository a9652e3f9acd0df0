"""The DQN's training: it learns, each setting counts, the same seed gives the same bits, and a proof ends it."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import selfplay
from selfplay.dqn import learner as dqn_learner
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.dqn.dqn import DQNAgent, Update, linear
from selfplay.dqn.learner import DQNLearner, check_memory, learned_tensors, least_bytes
from selfplay.dqn.network import LINE_WIDTH
from selfplay.errors import UserError
from selfplay.learning.loop import Record, train
from tests.selfplay.dqn.scripted import CPU, config_with, iterations


def trained(config: DQNConfig) -> tuple[list[Record], dict[str, torch.Tensor]]:
    learner = DQNLearner(config)
    history = list(train(learner))
    weights = {
        f"{seat}.{name}": tensor.clone()
        for seat, agent in enumerate(learner.self_play.agents)
        for name, tensor in agent.network.state_dict().items()
    }
    return history, weights


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"target": "independent", "networks": "separate", "mask": True},
        {"dueling": True, "double": True, "hard_update": 20},
        {"convolution": (16,)},
        {"lines": 2},
    ],
)
def test_a_short_run_learns(changes: dict[str, Any]) -> None:
    config = DQNConfig(seed=7, device="cpu", hidden=(64,), total_steps=25_600, eval_every=12_800, **changes)
    learner = DQNLearner(config)
    start = selfplay.evaluate(learner.player(), config.rules)
    history = list(train(learner))
    end = history[-1].evaluation
    assert [record.metrics["time/updates"] for record in history] == [47, 97]
    assert (end.optimal_states or 0) > (start.optimal_states or 0) + 500
    assert (end.illegal_states or 0) < max(start.illegal_states or 0, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"rewards": "sparse"},
        {"perspective": "absolute"},
        {"dueling": True},
        {"learning_rate": 1e-4},
        {"learning_rate_hold": 1},
        {"batch_size": 16},
        {"memory_size": 64},
        {"num_envs": 8},
    ],
    ids=str,
)
def test_settings_count_that_no_other_test_holds(change: dict[str, Any]) -> None:
    config = config_with(total_steps=1_200)
    _, weights = trained(config)
    history, others = trained(dataclasses.replace(config, **change))
    assert weights.keys() != others.keys() or not equal(weights, others)
    assert history[-1].metrics["time/updates"] > 40


def test_epsilon_follows_its_schedule() -> None:
    config = config_with(total_steps=160, epsilon_start=1.0, epsilon_end=0.0, epsilon_plies=80, warmup=0)
    learner = DQNLearner(config)
    epsilons = [learner.self_play.epsilon for _ in iterations(learner)]
    assert epsilons == pytest.approx([1, 0.8, 0.6, 0.4, 0.2, 0, 0, 0, 0, 0])
    assert linear(0.9, 0.2, 0, 0) == 0.2


@pytest.mark.parametrize(
    ("config", "updates"),
    [
        (config_with(total_steps=160, warmup=0, updates_per_step=3), 30),
        (dataclasses.replace(PRESETS["article"], total_steps=400, eval_every=400), 301),
        *(
            (config_with(k=k, networks="separate", target=target, warmup=0, total_steps=64), 4)
            for k in (1, 3)
            for target in ("negamax", "independent", "article")
        ),
    ],
)
def test_updates_are_counted_even_before_every_seat_has_moved(config: DQNConfig, updates: int) -> None:
    assert trained(config)[0][-1].metrics["time/updates"] == updates


@pytest.mark.parametrize("networks", ["shared", "separate"])
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(networks: str) -> None:
    config = config_with(networks=networks)
    (_, weights), (_, again) = trained(config), trained(config)
    assert equal(weights, again)
    _, other = trained(dataclasses.replace(config, seed=1))
    assert not equal(weights, other)
    if networks == "separate":
        assert not torch.equal(weights["0.advantage.weight"], weights["1.advantage.weight"])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_run_on_cuda_learns_and_repeats() -> None:
    config = config_with(networks="separate", total_steps=25_600, eval_every=25_600, batch_size=256, device="cuda")
    results = []
    for _ in range(2):
        learner = DQNLearner(config)
        start = selfplay.evaluate(learner.player(), config.rules)
        (record,) = train(learner)
        assert (record.evaluation.optimal_states or 0) > (start.optimal_states or 0)
        results.append(record.evaluation)
    assert results[0] == results[1]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["weights", "target_weights", "adam_mean", "adam_square", "loss"])
def test_numbers_that_are_not_finite_are_refused(name: str, number: float) -> None:
    learner = DQNLearner(config_with(networks="separate"))
    for _ in range(5):
        learner.advance()
    learner.check_finite()
    tensors = learned_tensors(learner.self_play.agents[1]) | {"loss": learner.self_play.last_updates[1].loss[None]}
    tensors[name][-1] = number
    with pytest.raises(UserError, match="the loss is no longer finite; lower learning_rate="):
        learner.check_finite()


def test_a_damaged_state_of_the_generator_is_refused() -> None:
    learner = DQNLearner(config_with())
    state = learner.state()
    state.tensors["generator"].fill_(255)
    with pytest.raises(UserError, match="holds no state of a random generator"):
        learner.restore(state, {"device": "cpu"})


def test_on_another_device_random_numbers_start_again() -> None:
    learner = DQNLearner(config_with())
    state = learner.state()
    learner.advance()
    before = learner.self_play.generator.get_state()
    learner.restore(state, {"device": "cuda"})
    assert torch.equal(learner.self_play.generator.get_state(), before)


def test_the_memory_of_a_run_is_counted_by_its_settings() -> None:
    config = config_with(
        memory_size=1_000, batch_size=64, num_envs=16, hidden=(32, 10), convolution=(4, 5), lines=2, networks="separate"
    )
    of_lines = (9 + 1) * 2 * LINE_WIDTH + (2 * LINE_WIDTH + 1) * 6
    weights = 9 * (3 * 4 + 4 * 5) + 4 + 5 + of_lines + (7 * 9 + 1) * 32 + (32 + 1) * 10 + (10 + 1) * 9
    units = 9 * (4 + 5 + 2) + 32 + 10 + 9  # numbers of all layers for one board
    memories = 2 * (1_000 * 58 + 6 * weights)  # two networks with gradients, and two moments
    assert least_bytes(config) == 4 * (memories + 64 * (58 + units) + 16 * units)


def test_a_memory_is_as_large_as_it_is_said_to_be() -> None:
    config = config_with(memory_size=10_000, batch_size=1, num_envs=1, hidden=())
    transitions = DQNAgent(config, CPU, torch.Generator()).memory.transitions
    size = sum(field.nbytes for field in transitions)
    assert size < least_bytes(config) < 1.01 * size


def test_what_is_more_than_there_is_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_with(memory_size=100_000_000)  # 23 GB
    monkeypatch.setattr(dqn_learner, "device_bytes", lambda _: 24 * 10**9)
    check_memory(config, CPU)
    monkeypatch.setattr(dqn_learner, "device_bytes", lambda _: 22 * 10**9)
    with pytest.raises(UserError, match="need at least 23 GB of memory, and this machine has 22 GB; lower"):
        check_memory(config, CPU)
    with pytest.raises(UserError, match="and the GPU has 22 GB"):
        check_memory(config, torch.device("cuda"))


def test_the_memory_of_a_gpu_is_all_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(total_memory=7))
    assert dqn_learner.device_bytes(torch.device("cuda")) == 7


@pytest.mark.parametrize(
    ("name", "available", "expected"),
    [("auto", True, "cuda"), ("auto", False, "cpu"), ("cpu", True, "cpu"), ("cuda", True, "cuda")],
)
def test_auto_is_cuda_if_available(name: str, available: bool, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    assert dqn_learner.choose_device(name).type == expected


def test_the_metrics_are_the_means_over_the_last_updates() -> None:
    learner = DQNLearner(config_with())
    assert learner.metrics() == {"explore/epsilon": 0.5}
    learner.self_play.last_updates = [
        Update(torch.tensor(1.0), torch.tensor([1.0, 2.0])),
        Update(torch.tensor(3.0), torch.tensor([3.0, 6.0])),
    ]
    assert learner.metrics() == {"explore/epsilon": 0.5, "loss/td": 2.0, "q/mean": 3.0}
