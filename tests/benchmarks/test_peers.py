"""The comparison with other libraries: evaluated at equal times, searched for alike, and playing what was learned."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from benchmarks.peers import __main__ as peers, cleanrl_dqn, evaluations, our_dqn, report, tuning
from benchmarks.peers.evaluations import Evaluation, score
from benchmarks.peers.opponents import COPIES, Games, decision_states
from benchmarks.peers.player import Greedy
from selfplay import DQNConfig, evaluate
from tictactoe import Rules

SETTINGS = (
    "learning_rate=0.01 learning_rate_hold=1000 batch_size=32 hidden=64x64 updates_per_step=0.25 target=copied "
    "target_every=40 soft_update=0.05 epsilon_end=0.5 epsilon_steps=1000 gamma=0.95 memory_size=10000 "
    "learning_starts=100 rewards=sparse opponent=self copy_every=100 opponent_random=0.1 boards=4 train_every=16"
)
SAMPLED: Mapping[str, Any] = {
    "learning_rate": 0.01, "learning_rate_hold": 1_000, "batch_size": 32, "hidden": "64x64", "updates_per_step": 0.25,
    "target": "copied", "target_every": 40, "soft_update": 0.05, "epsilon_end": 0.5, "epsilon_steps": 1_000,
    "gamma": 0.95, "memory_size": 10_000, "learning_starts": 100, "rewards": "sparse", "opponent": "self",
    "copy_every": 100, "opponent_random": 0.1, "boards": 4, "train_every": 16,
}  # fmt: skip
"""The same settings, which a search may sample."""


def load(name: str) -> Any:
    """Import a learner's module, or skip the test."""
    try:
        return evaluations.load(name)
    except ModuleNotFoundError as error:
        pytest.skip(f"no {error.name} here")


def line(bad: int, seconds: float = 1.0, player: str = "ours", seed: int = 1000) -> Evaluation:
    return Evaluation(player, seed, seconds, 10, bad, 0, 0, 0, 4_000, 0.5 * (bad > 0), bad == 0)


def history(*bad: int) -> list[Evaluation]:
    return [line(each, seconds) for seconds, each in enumerate(bad, start=1)]


# Evaluation at set times


def test_the_clock_stops_during_evaluations() -> None:
    now = 0.0

    def first_empty(observation: Any) -> Any:  # takes a hundred seconds
        nonlocal now
        now += 100
        return observation[..., 0].argmax()

    answers = []

    def train(tick: evaluations.Tick) -> None:
        nonlocal now
        for updates in range(5):
            now += 1
            answers.append(tick(updates, first_empty))

    found = evaluations.measure("ours", train, 7, [2, 4.5], lambda: now)
    assert answers == [True, True, True, True, False]
    assert [(each.seconds, each.updates) for each in found] == [(2, 1), (5, 4)]
    expected = evaluate(first_empty, Rules(), perspective="mover")
    assert (found[0].first_losses, found[0].second_losses) == (expected.first.losses, expected.second.losses)
    assert found[0].bad_games == expected.ways_to_beat > 0


def test_a_measurement_can_be_made_in_pieces(tmp_path: Path) -> None:
    earlier = [line(7, 0.25, seed=1000), line(7, 0.25, seed=1001), line(7, 0.25, "tianshou")]
    report.write(tmp_path, earlier)
    with pytest.raises(SystemExit, match=r"peers\.csv"):
        peers.main(players=("ours",), seconds=2.0, docs=tmp_path)
    peers.main(players=("ours",), seeds=(1001,), seconds=0.2, evaluations=2, docs=tmp_path)
    first, *trained, last = evaluations.read(tmp_path / "peers.csv")
    assert [first, last] == [earlier[0], earlier[2]]
    assert [one.seed for one in trained] == [1001, 1001]
    assert trained[-1].seconds >= 0.2


def make_own(seed: int) -> evaluations.Train | None:
    """Return a learner as somebody else would write one, which plays the first cell; four seeds show a mistake."""

    def train(tick: evaluations.Tick) -> None:
        while tick(0, lambda board: board[9] if seed == 1 else 0) or seed == 2:
            if seed == 3:
                return

    return train if seed < 4 else None


def test_a_custom_learner_is_judged_and_each_run_that_fails_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{__name__}:make_own"
    with pytest.raises(SystemExit):
        peers.main(players=(name,), seeds=(1, 2, 3, 0, 4), seconds=0.01, evaluations=1, docs=tmp_path)
    saved = evaluations.read(tmp_path / "peers.csv")
    assert [(run.player, run.seed, run.first_illegal > 0) for run in saved] == [(name, 0, True)]
    assert f"| {name} | 0 of 5," in capsys.readouterr().out  # a run that fails was never unbeatable


# Learners and what they play


@pytest.mark.parametrize(
    ("name", "steps", "updates"),
    [
        ("stable-baselines3", 1_100, 128),  # 128 updates after each 256 steps, first after 1,024
        ("cleanrl-style", 10_101, 10),  # an update in ten steps from 10,000 on
        ("maskable-ppo", 2_049, 10),  # 10 passes after 2,048 steps of each board
        ("open-spiel", 300, None),
        ("tianshou", 7, 4),  # the seats take turns
    ],
)
def test_a_learner_learns_until_told_to_stop(name: str, steps: int, updates: int | None) -> None:
    ticks: list[int] = []
    chosen = []

    def tick(done: int, player: Greedy) -> bool:
        if not ticks or len(ticks) == steps - 1:
            chosen.append(player.act(decision_states()))
        ticks.append(done)
        return len(ticks) < steps

    load(name).make(1000)(tick)
    assert len(ticks) == steps
    assert (ticks[-1] > 0) if updates is None else (ticks[-1] == updates)
    assert (chosen[0] != chosen[1]).any()


def favourite(cell: int) -> Any:
    """Return a network whose highest value is that of one cell."""
    return lambda inputs: torch.eye(9)[cell].expand(len(inputs), 9)


def test_the_greedy_player_is_the_arg_max_of_its_seats_network() -> None:
    observations = decision_states()
    second = observations[..., 1].sum(axis=(1, 2)) != observations[..., 2].sum(axis=(1, 2))
    assert (second.sum(), (~second).sum()) == (2_097, 2_423)
    both = Greedy(favourite(4), favourite(7), masked=False).act(observations)
    assert (both == np.where(second, 7, 4)).all()
    empty = observations[..., 0].reshape(-1, 9) == 1
    masked = Greedy(favourite(4), masked=True).act(observations)
    assert (masked == np.where(empty[:, 4], 4, empty.argmax(axis=1))).all()


def test_a_learner_meets_its_latest_copies() -> None:
    games = Games(1000, opponent="self", copy_every=100, opponent_random=0.0)
    game = games.make()
    assert len(first_cells(game)) > 2  # still random
    games.update(100, favourite(4))
    games.update(199, favourite(7))
    assert first_cells(game) == {4}
    games.update(200, favourite(7))
    assert first_cells(game) == {4, 7}
    for number in range(COPIES):
        games.update(300 + 100 * number, favourite(2))
    assert first_cells(game) == {2}


def first_cells(game: gymnasium.Env[Any, Any]) -> set[int]:
    """Return where the opponent moves first, in games in which it does."""
    seen = set()
    for seed in range(60):
        observation, info = game.reset(seed=seed)
        if info["to_play"] == 1:
            seen.add(int(np.flatnonzero(observation[..., 2])[0]))
    return seen


def test_stable_baselines3_plays_its_own_predictions_and_follows_its_schedules() -> None:
    module = load("stable-baselines3")
    settings = {**module.EXAMPLE, "exploration_steps": 200, "learning_rate": 0.5, "learning_rate_hold": 1_000}
    model = module.make_model(1000, settings, Games(1000))
    predicted, _ = model.predict(decision_states(), deterministic=True)
    assert (Greedy(model.q_net, masked=False).act(decision_states()) == predicted).all()
    epsilons = [model.exploration_schedule(1 - steps / 10**9) for steps in (0, 100, 200, 10_000)]
    assert epsilons == pytest.approx([1, 0.52, 0.04, 0.04])
    rates = [model.lr_schedule(1 - steps / 10**9) for steps in (0, 1_000, 2_000, 10_000)]
    assert rates == pytest.approx([0.5, 0.5, 0.25, 0.05])


def test_the_learning_rate_in_cleanrls_manner_falls_after_its_hold() -> None:
    settings = cleanrl_dqn.Settings(learning_rate=0.01, learning_rate_hold=200, warmup=100, train_every=1)
    learner = cleanrl_dqn.CleanRL(settings, 1000, Games(1000).make)
    learning = learner.learn(writer=None)
    for steps, rate in ((201, 0.01), (200, 0.005)):
        for _ in range(steps):
            next(learning)
        assert learner.optimizer.param_groups[0]["lr"] == rate


def test_open_spiels_agents_play_what_they_do_when_they_are_evaluated() -> None:
    module = load("open-spiel")
    environment = module.rl_environment.Environment("tic_tac_toe")
    agents = module.make_agents(1000, environment)
    player = module.make_player(agents)
    moment = environment.reset()
    for cell in (4, 0, 2, 6, 3):
        mover = moment.observations["current_player"]
        marks = np.array(environment.get_state.observation_tensor()).reshape(3, 9)  # empty, O, X
        view = marks[[0, 2, 1] if mover == 0 else [0, 1, 2]].T.reshape(1, 3, 3, 3)
        assert agents[mover].step(moment, is_evaluation=True).action == player.act(view)[0]
        moment = environment.step([cell])


# The search for settings


def test_a_score_puts_the_earliest_lasting_proof_first_and_failures_last() -> None:
    best_first = [
        history(0, 0, 0, 0, 0, 0, 0, 0),
        history(9, 0, 0, 0, 0, 0, 0, 0),
        history(0, 0, 0, 0, 0, 0, 9, 0),  # an earlier proof that did not last is none
        history(0, 0, 0, 0, 0, 0, 0, 1),
        history(9, 9, 9, 9, 9, 9, 2, 2),
        history(0, 0, 0, 0, 0, 0, 3, 2),  # the fewest ever are not what counts
        [],
    ]
    assert [score(each) for each in best_first] == [1 / 8 - 1, 2 / 8 - 1, 0, 0.5, 2, 2.5, math.inf]
    for number, last in ((1, 1), (4, 1), (5, 2), (12, 3)):  # the mean of the last quarter
        assert score(history(*range(1, number + 1))) == number - (last - 1) / 2


def test_what_was_sampled_becomes_settings_of_each_library() -> None:
    assert tuning.sampled("stable-baselines3", SETTINGS) == SAMPLED
    settings = our_dqn.sampled_settings({**SAMPLED, "boards": 100})
    changed = {"hidden": (64, 64), "updates_per_step": 25, "hard_update": 40, "warmup": 100, "num_envs": 100}
    assert changed.items() <= vars(settings).items()
    assert (settings.symmetry, settings.counterexamples) == (DQNConfig().symmetry, DQNConfig().counterexamples)
    assert our_dqn.sampled_settings({**SAMPLED, "target": "moved"}).hard_update == 0
    plain = load("ours-plain").sampled_settings({**SAMPLED, "boards": 100})
    assert (plain.symmetry, plain.counterexamples) == ("augment", 0)
    assert replace(plain, symmetry=settings.symmetry, counterexamples=settings.counterexamples) == settings
    sb3 = load("stable-baselines3").sampled_settings
    of_steps = ("train_freq", "gradient_steps", "tau", "target_update_interval")
    assert [sb3(SAMPLED)["model"][name] for name in of_steps] == [4, 4, 1.0, 40]
    assert [sb3({**SAMPLED, "target": "moved", "boards": 32})["model"][name] for name in of_steps] == [1, 8, 0.05, 32]
    loop = cleanrl_dqn.sampled_settings(SAMPLED)[0]
    assert (loop.train_every, loop.tau, loop.target_every, loop.warmup, loop.hidden) == (4, 1.0, 40, 100, (64, 64))
    moved = cleanrl_dqn.sampled_settings({**SAMPLED, "target": "moved"})[0]
    assert (moved.tau, moved.target_every) == (0.05, 1)
