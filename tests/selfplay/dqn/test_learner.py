"""The DQN as a learner: it learns, each setting counts, the same seed gives the same bits, and its state is whole."""

from typing import Any

import pytest
import torch

import selfplay
from selfplay.dqn import learner as dqn_learner
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.dqn import BOOTSTRAPS, DQNAgent, exploration
from selfplay.dqn.learner import DQNLearner, check_memory, learned_tensors, least_bytes
from selfplay.runs.loop import Record, train
from tests.runs import refused
from tests.selfplay.dqn.scripted import CPU, config_with, iterations


def trained(config: DQNConfig) -> tuple[list[Record], dict[str, torch.Tensor]]:
    learner = DQNLearner(config)
    history = list(train(learner, config))
    weights = {
        f"{seat}.{name}": tensor.clone()
        for seat, agent in enumerate(learner.self_play.agents)
        for name, tensor in agent.network.state_dict().items()
    }
    return history, weights


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def usual() -> dict[str, torch.Tensor]:
    """Return the weights of a run with the usual settings."""
    return trained(config_with(total_steps=1_200))[1]


@pytest.mark.parametrize(
    "change",
    [
        {"perspective": "absolute"},
        {"learning_rate": 1e-4},
        {"learning_rate_hold": 1},
        {"batch_size": 16},
        {"memory_size": 64},
        {"num_envs": 8},
        {"seed": 1},
    ],
    ids=str,
)
def test_settings_count_that_no_other_test_holds(change: dict[str, Any], usual: dict[str, torch.Tensor]) -> None:
    _, others = trained(config_with(total_steps=1_200, **change))
    assert not equal(usual, others)


def test_epsilon_follows_its_schedule() -> None:
    config = config_with(total_steps=160, epsilon_start=1.0, epsilon_end=0.0, epsilon_plies=80, warmup=0)
    learner = DQNLearner(config)
    epsilons = [learner.self_play.epsilon for _ in iterations(learner)]
    assert epsilons == pytest.approx([1, 0.8, 0.6, 0.4, 0.2, 0, 0, 0, 0, 0])
    assert exploration(config_with(epsilon_plies=0), 0) == 0.9


@pytest.mark.parametrize(
    ("config", "updates"),
    [
        (config_with(total_steps=160, warmup=0, updates_per_step=3), 30),
        (DQNConfig(preset="article", total_steps=400, eval_every=400), 301),
        *((config_with(k=1, networks="separate", target=target, warmup=0, total_steps=64), 4) for target in BOOTSTRAPS),
    ],
)
def test_updates_are_counted_even_before_every_seat_has_moved(config: DQNConfig, updates: int) -> None:
    assert trained(config)[0][-1].metrics["time/updates"] == updates


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_run_on_cuda_learns_and_repeats() -> None:
    config = config_with(networks="separate", total_steps=25_600, eval_every=25_600, batch_size=256, device="cuda")
    results = []
    for _ in range(2):
        learner = DQNLearner(config)
        start = selfplay.evaluate(learner.player(), config.rules)
        (record,) = train(learner, config)
        assert (record.verdict.optimal_states or 0) > (start.optimal_states or 0)
        results.append(record.verdict)
    assert results[0] == results[1]


# Its state


def advanced(config: DQNConfig, steps: int) -> DQNLearner:
    learner = DQNLearner(config)
    for _ in range(steps):
        learner.advance(1)
    return learner


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["network.output.bias", "target_network.output.bias", "adam.0.exp_avg", "loss"])
def test_numbers_that_are_not_finite_are_refused(name: str, number: float) -> None:
    learner = advanced(config_with(networks="separate"), 5)
    learner.check_finite()
    tensors = learned_tensors(learner.self_play.agents[1]) | {"loss": learner.self_play.last_updates[1].loss[None]}
    tensors[name].detach()[-1] = number
    assert "learning_rate" in refused(learner.player)
    assert "learning_rate" in refused(learner.state)


@pytest.mark.parametrize("name", ["plies", "waiting.action", "agent_1.adam.0.exp_avg"])
def test_a_state_that_lacks_something_or_has_it_in_another_shape_is_refused(name: str) -> None:
    config = config_with(target="independent", networks="separate")
    state = advanced(config, 6).state()
    assert name in refused(DQNLearner(config).restore, state | {name: torch.zeros(3, dtype=torch.int8)})
    del state[name]
    assert name in refused(DQNLearner(config).restore, state)


class Copying(DQNAgent):
    """An agent that returns a copy, into which nothing can be restored."""

    def own_tensors(self) -> dict[str, torch.Tensor]:
        """Return a new tensor each time."""
        return {"copied": torch.zeros(2)}


def test_a_subclass_whose_state_could_not_be_restored_is_refused() -> None:
    assert "copied" in refused(DQNLearner, config_with(), None, Copying)


# The machine


def test_settings_that_need_more_memory_than_there_is_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_with(memory_size=100_000_000)
    monkeypatch.setattr(dqn_learner, "device_bytes", lambda _: least_bytes(config))
    check_memory(config, CPU)
    monkeypatch.setattr(dqn_learner, "device_bytes", lambda _: least_bytes(config) - 1)
    assert "memory_size" in refused(check_memory, config, CPU)
