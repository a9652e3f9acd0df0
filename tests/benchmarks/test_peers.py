"""The other libraries' learners learn, and what is judged of each is what it plays itself."""

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from benchmarks.measuring.turns import INSTALL
from benchmarks.peers import __main__ as peers
from benchmarks.peers.judging import Training, versus_random
from benchmarks.training.cleanrl_style import QNetwork
from selfplay.agent import Agent
from selfplay.dqn.player import QPlayer
from selfplay.proof.judge import Judge
from tictactoe import Rules, batch, solve

RULES = Rules()
Planes = NDArray[np.int8]


def load(name: peers.Name) -> Any:
    """Import a learner's file, or skip the test with how to install what it needs."""
    learner = peers.LEARNERS[name]
    if lacking := peers.missing(learner):
        pytest.skip(f"no {' and no '.join(lacking)} here: {INSTALL}")
    return importlib.import_module(f"benchmarks.peers.{learner.module}")


def decision_states() -> tuple[Planes, Planes]:
    """Return the mover's view [S, 3, 3, 3] and the legal cells [S, 9] of every decision state."""
    tree = solve(RULES).tree
    mover, opponent = (marks[tree.decisions].astype(np.int64) for marks in (tree.mover, tree.opponent))
    observations = batch.observe(RULES, batch.State(mover, opponent, ply=np.zeros_like(mover)), "mover")
    return observations, observations[..., 0].reshape(-1, 9)


def choices(player: Agent) -> NDArray[np.integer[Any]]:
    """Return what the evaluation sees the player choose in every decision state."""
    tree = solve(RULES).tree
    return Judge(player, RULES).cells(tree.mover[tree.decisions], tree.opponent[tree.decisions])


def untrained(name: peers.Name, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Training]:
    module = load(name)
    if hasattr(module, "TRIAL_STEPS"):
        monkeypatch.setattr(module, "TRIAL_STEPS", 300)
    return module, module.make(1000, 0.01)


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
def test_a_learner_learns_until_told_to_stop(
    name: peers.Name, steps: int, updates: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, training = untrained(name, monkeypatch)
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


def test_the_player_of_stable_baselines3_plays_its_own_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    module, training = untrained("stable-baselines3", monkeypatch)
    model = module.make_model(1001, 100)
    assert isinstance(training.player, QPlayer)
    training.player.networks = (model.q_net,)
    observations, _ = decision_states()
    predicted, _ = model.predict(observations, deterministic=True)
    assert np.array_equal(choices(training.player), predicted)
    assert len(predicted) == 4_520
    assert len(set(predicted.tolist())) > 1


def test_stable_baselines3_explores_over_the_steps_that_it_is_told() -> None:
    model = load("stable-baselines3").make_model(1000, exploration_steps=200)
    epsilons = [model.exploration_schedule(1 - steps / 10**9) for steps in (0, 100, 200, 10_000)]
    assert epsilons == pytest.approx([1, 0.52, 0.04, 0.04])


def test_the_player_in_cleanrls_manner_plays_the_arg_max_of_flat_observations(monkeypatch: pytest.MonkeyPatch) -> None:
    _, training = untrained("cleanrl-style", monkeypatch)
    assert isinstance(training.player, QPlayer)
    network = training.player.networks[0]
    assert isinstance(network, QNetwork)
    observations, _ = decision_states()
    with torch.no_grad():
        greedy = network(torch.as_tensor(observations.reshape(-1, 27))).argmax(dim=1).numpy()
    assert np.array_equal(choices(training.player), greedy)
    seen, _ = versus_random().reset(seed=1000)
    assert seen.shape == (3, 3, 3)


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
    observations, legal = decision_states()
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
