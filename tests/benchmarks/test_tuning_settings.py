"""What a search draws for each contestant lies in ranges that all share, and becomes settings that it learns with."""

import json
import re
from dataclasses import replace

import pytest

from benchmarks.peers import ours
from benchmarks.peers.judging import Training
from benchmarks.peers.opponents import VERSUS_RANDOM, Games
from benchmarks.peers.tuning import ranges
from benchmarks.peers.tuning.record import Contestant, Ended
from selfplay import DQNConfig
from selfplay.sweep.search_space import Range
from tests.benchmarks.test_peers import choices, load, train_for
from tests.benchmarks.tuned import SMALL, history, job, need_optuna
from tests.runs import ROOT


def test_what_is_drawn_is_of_the_ranges_and_the_same_again() -> None:
    need_optuna()
    for contestant, among in ranges.RANGES.items():
        ended: list[Ended] = []
        for number in range(14):  # beyond those that are drawn without looking at others
            drawn = ranges.draw(contestant, number, ended)
            assert drawn == ranges.draw(contestant, number, ended)
            assert json.loads(json.dumps(drawn)) == drawn
            assert all(drawn != one.job.drawn for one in ended)
            for name, value in drawn.items():
                of_name = among[name]
                inside = of_name.low <= value <= of_name.high if isinstance(of_name, Range) else value in of_name
                assert inside, name
            assert set(drawn) == (set() if not number and contestant != "ours" else set(among))
            ended.append(Ended(job(contestant, number, drawn), [] if number == 3 else history(number % 3), 1.0))


def test_the_ranges_that_all_have_hold_the_settings_of_the_examples() -> None:
    among = ranges.ALL
    for name, values in {
        "learning_rate": (2.3e-3, 2.5e-4, DQNConfig().learning_rate),
        "batch_size": (64, 128, DQNConfig().batch_size),
        "updates_per_step": (128 / 256, 1 / 10, 1 / DQNConfig().num_envs),
        "target_every": (10, 500),
        "soft_update": (DQNConfig().soft_update,),
        "epsilon_end": (0.04, 0.05, DQNConfig().epsilon_end),
        "gamma": (0.99,),
        "memory_size": (100_000, 10_000, DQNConfig().memory_size),
        "learning_starts": (1_000, 10_000, DQNConfig().warmup),
    }.items():
        of_name = among[name]
        assert isinstance(of_name, Range)
        assert all(of_name.low <= value <= of_name.high for value in values), name
    assert {"256x256", "120x84", "256"} <= set(among["hidden"])


def test_the_documents_name_every_range() -> None:
    page = (ROOT / "docs" / "results.md").read_text()
    named = set(
        re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page.partition("### Settings searched for alike")[2], re.MULTILINE)
    )
    drawn = {
        (name, str(among) if isinstance(among, Range) else ", ".join(among))
        for of_contestant in ranges.RANGES.values()
        for name, among in of_contestant.items()
    }
    assert {pair for pair in named if pair[0] in dict(drawn)} == drawn


def test_what_was_drawn_becomes_settings_of_ours() -> None:
    settings = ours.drawn_settings({**SMALL, "boards": 100})
    changed = {"hidden": (64, 64), "updates_per_step": 25, "hard_update": 40, "warmup": 100, "num_envs": 100}
    assert changed.items() <= vars(settings).items()
    assert (settings.symmetry, settings.counterexamples) == (DQNConfig().symmetry, DQNConfig().counterexamples)
    assert ours.drawn_settings({**SMALL, "boards": 1, "target": "moved"}).hard_update == 0


def test_what_was_drawn_becomes_settings_of_stable_baselines3() -> None:
    module = load("stable-baselines3")
    settings = module.drawn_settings(SMALL)
    assert (settings.train_freq, settings.gradient_steps) == (4, 4)  # 16 steps of one board, a quarter of them updates
    assert (settings.tau, settings.target_update_interval, settings.net_arch) == (1.0, 40, (64, 64))
    moved = module.drawn_settings({**SMALL, "target": "moved", "boards": 32})
    assert (moved.tau, moved.target_update_interval, moved.train_freq, moved.gradient_steps) == (0.05, 32, 1, 8)


def test_what_was_drawn_becomes_settings_in_cleanrls_manner() -> None:
    module = load("cleanrl-style")
    loop = module.drawn_settings(SMALL).loop
    assert (loop.train_every, loop.tau, loop.target_every, loop.warmup, loop.hidden) == (4, 1.0, 40, 100, (64, 64))
    moved = module.drawn_settings({**SMALL, "target": "moved"}).loop
    assert (moved.tau, moved.target_every) == (0.05, 1)


@pytest.mark.parametrize("name", ["ours", "stable-baselines3", "cleanrl-style"])
def test_a_contestant_learns_with_what_was_drawn(name: Contestant) -> None:
    module = load(name)
    training: Training = module.make(1000, module.drawn_settings(SMALL))
    before = choices(training.player)
    assert train_for(training, 400)[-1] > 0
    assert (choices(training.player) != before).any()


def test_the_learning_rate_in_cleanrls_manner_falls_after_its_hold() -> None:
    module = load("cleanrl-style")
    settings = module.drawn_settings({**SMALL, "learning_rate_hold": 200}).loop
    learner = module.cleanrl_style.Learner(replace(settings, epsilon_steps=1), Games(VERSUS_RANDOM, 1000).make)
    learning = learner.learn(None)  # the scalars of this comparison are not written
    for steps, rate in ((201, 0.01), (200, 0.005)):
        for _ in range(steps):
            next(learning)
        assert learner.optimizer.param_groups[0]["lr"] == rate
