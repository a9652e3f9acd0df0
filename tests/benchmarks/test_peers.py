"""The other libraries' learners learn, and what is judged of each is what it plays itself."""

import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from benchmarks.measuring.turns import INSTALL
from benchmarks.peers import learners
from benchmarks.peers.judging import Training
from benchmarks.peers.opponents import VERSUS_RANDOM, Games, decision_states
from benchmarks.training.cleanrl_style import QNetwork
from selfplay.agent import Agent
from selfplay.dqn.player import QPlayer
from selfplay.evaluation.agents import AgentPolicy
from tictactoe import Rules, solve

RULES = Rules()


def load(name: learners.Name) -> Any:
    """Import a learner's file, or skip the test with how to install what it needs."""
    if lacking := learners.missing(learners.LEARNERS[name]):
        pytest.skip(f"no {' and no '.join(lacking)} here: {INSTALL}")
    return learners.load(name)


def choices(player: Agent) -> NDArray[np.integer[Any]]:
    """Return what the evaluation sees the player choose in every decision state."""
    tree = solve(RULES).tree
    return AgentPolicy(player, RULES).cells(tree.mover[tree.decisions], tree.opponent[tree.decisions])


def train_for(training: Training, steps: int) -> list[int]:
    """Return the updates done by each of so many ticks."""
    ticks: list[int] = []

    def tick(updates: int) -> bool:
        ticks.append(updates)
        return len(ticks) < steps

    training.run(tick)
    return ticks


@pytest.mark.parametrize(
    ("name", "steps", "updates"),
    [
        ("ours", 12, 9),  # 256 plies a step, the first update at 1,024
        ("stable-baselines3", 1_100, 128),  # 128 updates after each 256 steps, first after 1,024
        ("cleanrl-style", 10_101, 10),  # an update in ten steps from 10,000 on
        ("open-spiel", 300, None),
        ("tianshou", 7, 4),  # the seats take turns
    ],
)
def test_a_learner_learns_until_told_to_stop(name: learners.Name, steps: int, updates: int | None) -> None:
    training = load(name).make(1000)
    assert isinstance(training.player, QPlayer)
    before = [weight.clone() for network in training.player.networks for weight in network.parameters()]
    choices_before = choices(training.player)
    ticks = train_for(training, steps)
    assert len(ticks) == steps
    after = [weight for network in training.player.networks for weight in network.parameters()]
    if updates is None:
        assert ticks[-1] > 0
    else:
        assert ticks[-1] == updates
    assert not any(map(torch.equal, before, after))
    assert (choices(training.player) != choices_before).any()


def test_the_player_of_stable_baselines3_plays_its_own_predictions() -> None:
    module = load("stable-baselines3")
    training = module.make(1000)
    model = module.make_model(1001, module.EXAMPLE, Games(VERSUS_RANDOM, 1001))
    assert isinstance(training.player, QPlayer)
    training.player.networks = (model.q_net,)
    observations, _ = decision_states()
    predicted, _ = model.predict(observations, deterministic=True)
    assert np.array_equal(choices(training.player), predicted)
    assert len(predicted) == 4_520
    assert len(set(predicted.tolist())) > 1


def test_stable_baselines3_explores_and_slows_down_over_the_steps_that_it_is_told() -> None:
    module = load("stable-baselines3")
    settings = replace(module.EXAMPLE, exploration_steps=200, learning_rate=0.5, learning_rate_hold=1_000)
    model = module.make_model(1000, settings, Games(VERSUS_RANDOM, 1000))
    epsilons = [model.exploration_schedule(1 - steps / 10**9) for steps in (0, 100, 200, 10_000)]
    assert epsilons == pytest.approx([1, 0.52, 0.04, 0.04])
    rates = [model.lr_schedule(1 - steps / 10**9) for steps in (0, 1_000, 2_000, 10_000)]
    assert rates == pytest.approx([0.5, 0.5, 0.25, 0.05])
    assert module.EXAMPLE.learning_rate_at(10**9) == 2.3e-3


def test_the_player_in_cleanrls_manner_plays_the_arg_max_of_flat_observations() -> None:
    training = load("cleanrl-style").make(1000)
    assert isinstance(training.player, QPlayer)
    network = training.player.networks[0]
    assert isinstance(network, QNetwork)
    observations, _ = decision_states()
    with torch.no_grad():
        greedy = network(torch.as_tensor(observations.reshape(-1, 27))).argmax(dim=1).numpy()
    assert np.array_equal(choices(training.player), greedy)


def test_the_player_of_open_spiel_plays_what_its_agents_do_when_they_are_evaluated() -> None:
    module = load("open-spiel")
    environment = module.rl_environment.Environment("tic_tac_toe")
    agents = module.make_agents(1000, environment)
    chosen = dict(zip(keys(), choices(module.player(agents)).tolist(), strict=True))
    compared = set()
    environment.reset()
    for state in every_decision(environment.get_state):
        environment.set_state(state.clone())
        moment = environment.get_time_step()
        mover = state.current_player()
        marks = np.array(state.observation_tensor()).reshape(3, 9)[1:]  # O, X
        key = (bits(marks[1 - mover]), bits(marks[mover]))
        assert agents[mover].step(moment, is_evaluation=True).action == chosen[key]
        compared.add(key)
    assert len(compared) == 4_520


def test_the_player_of_tianshou_plays_what_its_policies_do_without_exploration() -> None:
    module = load("tianshou")
    data = importlib.import_module("tianshou.data")
    space = module.make_game().action_space
    learners = [module.make_learner(space) for _ in range(2)]
    observations, _ = decision_states()
    legal = observations[..., 0].reshape(-1, 9)
    marks = observations[..., 1:].sum(axis=(1, 2))
    second = marks[:, 0] != marks[:, 1]
    chosen = choices(module.player(learners))
    for seat, of_seat in enumerate((~second, second)):
        seen = data.Batch(obs=observations[of_seat], mask=legal[of_seat] == 1)
        with torch.no_grad():
            played = learners[seat].policy(data.Batch(obs=seen, info=data.Batch())).act
        assert np.array_equal(chosen[of_seat], played)
    assert (second.sum(), (~second).sum()) == (2_097, 2_423)


def test_tianshous_game_shows_each_mover_its_own_marks_first_and_the_legal_cells() -> None:
    game = load("tianshou").make_game()
    seen, rewards, *_ = game.step(4)
    assert seen["obs"][..., 2].reshape(9).nonzero()[0].tolist() == [4]
    assert seen["obs"][..., 1].sum() == 0
    assert seen["mask"] == [cell != 4 for cell in range(9)]
    for cell in (0, 2, 1, 6):
        seen, rewards, *_ = game.step(cell)
    assert rewards == [1.0, -1.0]


def keys() -> Iterator[tuple[int, int]]:
    """Return the bits of the mover's and the opponent's marks of every decision state."""
    tree = solve(RULES).tree
    return ((int(tree.mover[state]), int(tree.opponent[state])) for state in tree.decisions)


def bits(marks: NDArray[np.float64]) -> int:
    return int(sum(1 << cell for cell in np.flatnonzero(marks)))


def every_decision(state: Any) -> Iterator[Any]:
    """Return every decision state of OpenSpiel's game that can be reached from one, once each."""
    waiting, known = [state], set()
    while waiting:
        state = waiting.pop()
        if state.is_terminal() or str(state) in known:
            continue
        known.add(str(state))
        yield state
        waiting += [state.child(cell) for cell in state.legal_actions()]
