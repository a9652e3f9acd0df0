"""The DQN's training: it learns, each setting counts, the same seed gives the same bits, and a proof ends it."""

import dataclasses
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

import selfplay
from selfplay.dqn import standing
from selfplay.dqn.agent import DQNAgent, Update
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.dqn.interleaved import InterleavedAgents
from selfplay.dqn.schedules import linear
from selfplay.dqn.self_play import DQNLearner
from selfplay.errors import UserError
from selfplay.evaluation.evaluation import Evaluation
from selfplay.training import loop
from selfplay.training.loop import Record, proves, records
from tests.selfplay.dqn.scripted import CPU, config_with, iterations


def trained(config: DQNConfig) -> tuple[list[Record], dict[str, torch.Tensor]]:
    learner = DQNLearner(config, CPU)
    history = list(records(learner))
    weights = {
        f"{seat}.{name}": tensor.clone()
        for seat, agent in enumerate(learner.agents.seats)
        for name, tensor in agent.network.state_dict().items()
    }
    return history, weights


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"networks": "separate"},
        {"mask": True},
        {"target": "independent", "networks": "separate"},
        {"dueling": True, "double": True, "hard_update": 20},
        {"convolution": (16,)},
        {"lines": 2},
    ],
)
def test_a_short_run_learns(changes: dict[str, Any]) -> None:
    config = DQNConfig(seed=7, hidden=(64,), total_steps=25_600, eval_every=12_800, **changes)
    learner = DQNLearner(config, CPU)
    agents, player = learner.agents, learner.player()
    before = [tensor.clone() for tensor in agents.seats[0].network.state_dict().values()]
    start = selfplay.evaluate(player, config.rules)
    history = list(records(learner))
    end = history[-1].evaluation
    assert isinstance(end, Evaluation)
    assert [record.metrics["time/updates"] for record in history] == [47, 97]
    assert all(agent.updates == 97 for agent in agents.seats)
    after = agents.seats[0].network.state_dict().values()
    assert all(not torch.equal(old, new) for old, new in zip(before, after, strict=True))
    assert end.optimal_states > start.optimal_states + 500
    assert end.illegal_states < max(start.illegal_states, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"rewards": "sparse"},
        {"perspective": "absolute"},
        {"target": "article"},
        {"target": "independent"},
        {"mask": True},
        {"explore": "any"},
        {"dueling": True},
        {"double": True},
        {"gamma": 0.5},
        {"learning_rate": 1e-4},
        {"learning_rate_hold": 1},
        {"batch_size": 16},
        {"memory_size": 64},
        {"warmup": 512},
        {"soft_update": 0.5},
        {"hard_update": 7},
        {"updates_per_step": 2},
        {"symmetry": "none"},
        {"epsilon_start": 0.1, "epsilon_plies": 4_000},
        {"epsilon_end": 0.1, "epsilon_plies": 0},
        {"num_envs": 8},
    ],
    ids=str,
)
def test_every_setting_counts(change: dict[str, Any]) -> None:
    config = config_with(total_steps=2_000)
    _, weights = trained(config)
    history, others = trained(dataclasses.replace(config, **change))
    assert weights.keys() != others.keys() or not equal(weights, others)
    assert history[-1].metrics["time/updates"] > 90


def test_linear_goes_from_start_to_end_and_stays() -> None:
    expected = {0: 1.0, 1: 0.991, 50: 0.55, 99: 0.109, 100: 0.1, 101: 0.1, 10**12: 0.1}
    assert {plies: linear(1.0, 0.1, 100, plies) for plies in expected} == pytest.approx(expected, abs=1e-12)
    assert [linear(0.9, 0.2, 0, plies) for plies in (0, 1, 1000)] == [0.2, 0.2, 0.2]  # without duration
    assert linear(0.0, 1.0, 4, 3) == 0.75  # it may rise


def test_epsilon_follows_its_schedule() -> None:
    config = config_with(total_steps=160, epsilon_start=1.0, epsilon_end=0.0, epsilon_plies=80, warmup=0)
    learner = DQNLearner(config, CPU)
    epsilons = [learner.epsilon for _ in iterations(learner)]
    assert epsilons == pytest.approx([1, 0.8, 0.6, 0.4, 0.2, 0, 0, 0, 0, 0])


def test_stop_asks_for_what_it_names() -> None:
    history, _ = trained(config_with(total_steps=4_000))
    evaluation = history[-1].evaluation
    assert isinstance(evaluation, Evaluation)
    perfect = dataclasses.replace(evaluation, optimal_states=evaluation.decision_states)
    assert (proves(evaluation, "optimal"), proves(perfect, "optimal")) == (False, True)
    assert not proves(perfect, "never")


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
    (history, weights), (again_history, again) = trained(config), trained(config)
    assert equal(weights, again)
    assert [record.evaluation for record in history] == [record.evaluation for record in again_history]
    _, other = trained(dataclasses.replace(config, seed=1))
    assert not equal(weights, other)


@pytest.mark.parametrize("networks", ["shared", "separate"])
@pytest.mark.parametrize("target", ["negamax", "independent"])
def test_boards_of_torch_tensors_give_the_same_bits_as_boards_of_numpy_arrays(
    networks: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with(networks=networks, target=target)
    _, weights = trained(config)
    monkeypatch.setattr(standing, "array_module", lambda _: torch)
    assert equal(weights, trained(config)[1])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("networks", ["shared", "separate"])
def test_a_run_on_cuda_learns_and_repeats(networks: str) -> None:
    config = config_with(networks=networks, total_steps=25_600, eval_every=25_600, batch_size=256)
    results = []
    for _ in range(2):
        learner = DQNLearner(config, torch.device("cuda"))
        start = selfplay.evaluate(learner.player(), config.rules)
        (record,) = records(learner)
        assert isinstance(record.evaluation, Evaluation)
        assert record.evaluation.optimal_states > start.optimal_states
        results.append(record.evaluation)
    assert results[0] == results[1]


def test_separate_networks_start_and_end_different() -> None:
    _, weights = trained(config_with(networks="separate"))
    assert not torch.equal(weights["0.advantage.weight"], weights["1.advantage.weight"])


def test_a_run_stops_when_the_proof_has_held_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_with(total_steps=64_000)
    proofs = iter([False, True, True, False, True, True, True, True])
    monkeypatch.setattr(loop, "proves", lambda *_: next(proofs))
    assert len(trained(config)[0]) == 7


def test_a_run_on_a_board_that_the_first_seat_wins_stops_when_it_cannot_be_exploited() -> None:
    history, _ = trained(config_with(rows=2, cols=3, k=2, total_steps=200_000, hidden=(64,)))
    end = history[-1].evaluation
    assert isinstance(end, Evaluation)
    assert (end.first.best_response, end.second.best_response) == (1, -1)
    assert not end.unbeatable
    assert end.unexploitable
    assert history[-1].steps < 200_000


def test_a_run_that_must_not_stop_spends_its_plies() -> None:
    history, _ = trained(config_with(rows=1, cols=3, k=3, stop="never", mask=True, total_steps=16_000))
    proofs = [isinstance(record.evaluation, Evaluation) and record.evaluation.unbeatable for record in history]
    assert sum(proofs[:-1]) >= 3
    assert history[-1].steps == 16_000


def test_the_last_evaluation_is_at_the_end_even_between_intervals() -> None:
    history, _ = trained(config_with(total_steps=4_000, eval_every=3_000, stop="never"))
    assert [record.steps for record in history] == [3_008, 4_000]


@pytest.mark.parametrize(
    ("proofs", "first"),
    [([], None), ([False], None), ([True], 0), ([True, False, True, True], 2), ([True, True, False], None)],
)
def test_the_proof_dates_from_the_evaluation_since_which_it_held(proofs: list[bool], first: int | None) -> None:
    assert loop.first_of_final_streak(proofs) == first


def test_of_many_updates_after_a_step_only_the_last_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    learn, made, most = InterleavedAgents.learn, [], 0

    def counted(agents: InterleavedAgents) -> list[Update]:
        nonlocal most
        updates = learn(agents)
        made.append(weakref.ref(updates[0].values))
        most = max(most, sum(values() is not None for values in made))
        return updates

    monkeypatch.setattr(InterleavedAgents, "learn", counted)
    learner = DQNLearner(config_with(updates_per_step=30, warmup=32), CPU)
    for _ in range(3):
        learner.advance()
    assert learner.updates == len(made) == 60
    assert most == 3  # the one before the step, the newest, and the one that it replaces


@pytest.mark.parametrize("name", ["weights", "target_weights", "adam_mean", "adam_square"])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_longer_finite_is_not_settled_though_the_loss_is(name: str, number: float) -> None:
    learner = DQNLearner(config_with(networks="separate"), CPU)
    for _ in range(10):
        learner.advance()
    learner.check_finite()
    learner.agents.seats[1].state()[name][-1] = number
    assert all(bool(update.loss.isfinite()) for update in learner.last_updates)
    with pytest.raises(UserError, match="the loss is no longer finite; lower --learning-rate"):
        learner.check_finite()


def test_a_loss_that_is_not_finite_is_not_settled_though_the_weights_are() -> None:
    learner = DQNLearner(config_with(networks="separate"), CPU)
    for _ in range(10):
        learner.advance()
    learner.last_updates[1].loss.fill_(float("inf"))
    with pytest.raises(UserError, match="the loss is no longer finite"):
        learner.check_finite()


def test_no_player_is_judged_or_kept_of_weights_that_are_not_finite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with(run_dir=tmp_path / "it")
    update = DQNAgent.update

    def overflow(agent: DQNAgent, *args: Any) -> Update:
        done = update(agent, *args)
        if int(agent.updates) == 122:  # the last before the first evaluation: every loss so far is finite
            agent.state()["weights"][0] = float("inf")
        return done

    monkeypatch.setattr(DQNAgent, "update", overflow)
    with pytest.raises(UserError, match="the loss is no longer finite; lower"):
        selfplay.train(config)
    assert (tmp_path / "it" / "metrics.jsonl").read_bytes() == b""
    assert not (tmp_path / "it" / "model.safetensors").exists()
    assert sorted(path.name for path in (tmp_path / "it" / "checkpoint").iterdir()) == ["1.json", "1.safetensors"]
