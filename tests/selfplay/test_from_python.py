"""From Python as from the command line: the same bits, your own loop, and custom networks."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import selfplay
from selfplay.cli.train import main
from tests.runs import DQN, Stopper, assert_same, refused, results
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import SMALL
from tictactoe import Rules

SIZES = {"hidden": (16,), "num_envs": 16, "batch_size": 32, "memory_size": 700, "warmup": 64}
SHORT: dict[str, Any] = {**SIZES, "total_steps": 2_400, "eval_every": 960, "seed": 1000, "device": "cpu"}
"""The settings that the flags `DQN` stand for."""
AS_TYPED = SHORT | {"hidden": 16, "num_envs": np.int64(16), "total_steps": 2.4e3, "device": torch.device("cpu")}
"""The same, in other types."""


@pytest.mark.usefixtures("stopper")
def test_train_does_what_the_command_does(tmp_path: Path) -> None:
    main([*DQN, "--preset", "article", "--run-dir", str(tmp_path / "command")])
    run = selfplay.train(run_dir=str(tmp_path / "python"), preset="article", **AS_TYPED)
    assert_same(tmp_path / "command", tmp_path / "python")
    assert run.folder == tmp_path / "python"
    assert [record.steps for record in run.records] == [960, 1_920, 2_400]
    assert run.proof == run.records[-1].evaluation == selfplay.evaluate(run) == selfplay.evaluate(selfplay.load(run))
    assert selfplay.open(run).folder == run.folder
    assert "is finished; total_steps= above 2400 continues it" in refused(selfplay.train, resume=run)
    assert "there is no such run folder; did you mean shipped?" in refused(selfplay.load, "shiped")
    assert results(run.folder)["metrics"][-1]["eval/games_lost"] == run.proof.games_lost


@pytest.mark.parametrize("config", [selfplay.DQNConfig(**SHORT), selfplay.TDBackupConfig(games=1_000, eval_every=400)])
def test_training_yields_what_train_records(config: Any, here: Path) -> None:
    torch.set_num_threads(2)
    try:
        history = [(record.steps, record.evaluation) for record in selfplay.training(config)]
        assert torch.get_num_threads() == 2  # as it was; in between there is one, or the bits would be others
    finally:
        torch.set_num_threads(1)
    assert not list(here.iterdir())
    run = selfplay.train(config)
    assert [(record.steps, record.evaluation) for record in run.records] == history
    assert run.folder.parent == Path("runs")


def test_the_board_can_be_given_by_its_rules() -> None:
    record = next(selfplay.training("td-backup", rules=Rules(2, 3, 2), games=1, greedy_games=1))
    assert record.player.rules == Rules(2, 3, 2)


def test_an_interrupted_run_is_returned_and_loses_nothing(tmp_path: Path, stopper: Stopper) -> None:
    stopper.left = 70  # Ctrl-C
    run = selfplay.train(run_dir=tmp_path / "it", **SHORT)
    assert run.interrupted
    assert [record.steps for record in run.records] == [960]
    asked = iter([False] * 20)
    assert selfplay.train(resume=run.folder, stop_when=lambda: next(asked, True)).interrupted
    assert not selfplay.train(resume=run.folder).interrupted
    selfplay.train(run_dir=tmp_path / "whole", **SHORT)
    assert_same(run.folder, tmp_path / "whole")
    begun = selfplay.train(run_dir=tmp_path / "begun", stop_when=lambda: True, **SHORT)
    for call in (begun.frame, begun.plot, lambda: begun.proof):
        assert "begun: holds no evaluation; the run was interrupted before, or recorded none" in refused(call)


@pytest.mark.parametrize(
    ("arguments", "gist"),
    [
        ({"hiden": 64}, "dqn has no setting hiden=; did you mean hidden=?"),
        ({"depth": 64}, "dqn has no setting depth=; it has seed, run_dir, preset"),
        ({"preset": "artcle"}, "preset= must be one of default, large, article, got 'artcle'; did you mean article?"),
        (
            {"rules": Rules(3, 4, 3), "k": 3},
            "rules= must be Rules(rows, cols, k), without rows=, cols= or k= beside it, got Rules",
        ),
        ({"rules": (3, 4, 3)}, "beside it, got (3, 4, 3)"),
        ({"algorithm": "td-value", "rules": Rules(2, 2, 2)}, "td-value has no setting rows="),
        ({"resume": 3}, "resume= must be of type Path, got 3"),
        ({"algorithm": "minimaxq"}, "there is no algorithm 'minimaxq'; choose one of dqn, minimax-q, afterstate-q"),
        ({"algorithm": {"seed": 3}}, "there is no algorithm "),
        ({"algorithm": "dqn", "learner": 3}, "dqn: does not have your own learner; leave out learner="),
        ({"algorithm": "td-value", "network": nn.Linear}, "td-value has no network that could be replaced"),
    ],
)
def test_a_mistake_is_one_line(arguments: dict[str, Any], gist: str) -> None:
    algorithm = arguments.pop("algorithm", None)
    assert gist in refused(selfplay.train, algorithm, **arguments)


def small_network(rules: Rules) -> nn.Module:
    """Return a network with what ours has not: another activation, normalization, dropout."""
    return nn.Sequential(
        nn.Linear(3 * rules.cells, 24), nn.LayerNorm(24), nn.Tanh(), nn.Dropout(0.5), nn.Linear(24, rules.cells)
    )


@pytest.mark.usefixtures("stopper")
def test_a_custom_network_is_trained_saved_loaded_and_proved(tmp_path: Path) -> None:
    settings = {**SHORT, "network": small_network, "networks": "separate"}
    place = tmp_path / "it"
    run = selfplay.train(**settings, run_dir=place)
    loaded = selfplay.load(place, network=small_network)
    assert (loaded.q_values(ABSOLUTE) == run.player.q_values(ABSOLUTE)).all()
    assert selfplay.evaluate(loaded, Rules()) == run.proof
    assert "its network is your own, " in refused(selfplay.load, place)
    assert ":small_network; name it " in refused(main, ["--resume", str(place), "--total-steps", "4800"])
    longer = selfplay.train(resume=place, network=small_network, total_steps=4_800)
    whole = selfplay.train(**settings | {"total_steps": 4_800}, run_dir=tmp_path / "whole")
    assert (longer.player.q_values(ABSOLUTE) == whole.player.q_values(ABSOLUTE)).all()
    assert "leave out network=" in refused(selfplay.load, "shipped", network=small_network)


def test_the_seed_decides_a_custom_networks_first_weights_and_pytorchs_generator_stays_as_it_was() -> None:
    first, again, other = (
        next(selfplay.training(selfplay.DQNConfig(**SHORT | {"seed": seed}), network=small_network)).player
        for seed in (1, 1, 2)
    )
    state = torch.get_rng_state()
    assert (first.q_values(ABSOLUTE) == again.q_values(ABSOLUTE)).all()
    assert not (first.q_values(ABSOLUTE) == other.q_values(ABSOLUTE)).any()
    next(selfplay.training(selfplay.DQNConfig(**SHORT), network=small_network))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("network", "gist"),
    [
        (lambda _: 3, "must return a torch.nn.Module, got int"),
        (lambda _: nn.Linear(9, 9), "must map [B, 27] to [B, 9] float32, and fails: "),
        (lambda _: nn.Linear(27, 5), "to [B, 9] float32, got (2, 5) torch.float32 for B = 2"),
        (lambda _: nn.LSTM(27, 9), "got tuple for B = 2"),
        (lambda _: nn.Linear(27, 9).requires_grad_(False), "must have parameters, all float32 and trainable"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(network: Callable[[Rules], Any], gist: str) -> None:
    assert gist in refused(next, selfplay.training(SMALL, network=network))


def test_every_record_has_the_player_that_was_evaluated() -> None:
    records = list(selfplay.training(selfplay.DQNConfig(**SHORT)))
    assert len({record.evaluation for record in records}) == 3
    assert [selfplay.evaluate(record.player, Rules()) for record in records] == [each.evaluation for each in records]


@pytest.mark.usefixtures("stopper")
def test_the_records_of_a_run_have_the_players_of_its_snapshots(tmp_path: Path) -> None:
    settings = {**SHORT, "eval_every": 480, "run_dir": tmp_path / "it"}
    run = selfplay.train(**settings)
    longer = selfplay.train(resume=run.folder, total_steps=2_880)
    for one in (run, longer):
        first, second, third, *_ = one.records
        assert [selfplay.evaluate(each.player, Rules()) for each in (first, second)] == [
            first.evaluation,
            second.evaluation,
        ]
        assert "has no snapshot at 1440 steps; it has 128, " in refused(lambda record: record.player, third)
    assert {*longer.snapshots} >= {480, 960, 1_920, 2_880}
    assert selfplay.evaluate(longer.snapshots[960], Rules()) == longer.records[1].evaluation
    assert 1_440 not in longer.snapshots
    assert selfplay.evaluate(longer.player, Rules()) == longer.proof


@pytest.mark.usefixtures("stopper")
def test_the_config_of_a_run_makes_the_same_bits_again_in_python_and_in_the_command(tmp_path: Path) -> None:
    run = selfplay.train("minimax-q", games=2_000, seed=3, run_dir=tmp_path / "it")
    content = json.loads((run.folder / "config.json").read_text())
    selfplay.train(**content, run_dir=tmp_path / "whole")
    selfplay.train("minimax-q", **content["config"], run_dir=tmp_path / "settings")
    main(["--config", str(run.folder / "config.json"), "--run-dir", str(tmp_path / "command")])
    for name in ("whole", "settings", "command"):
        assert_same(run.folder, tmp_path / name)
    main(["--config", str(run.folder), "--games", "1000", "--run-dir", str(tmp_path / "changed")])
    opened = selfplay.open(tmp_path / "changed")
    assert (opened.config.seed, opened.config.length, opened.records[-1].steps) == (3, 1_000, 1_000)
    assert "begins a new run: leave out" in refused(main, ["--config", str(run.folder), "--resume", str(run.folder)])
    assert "is a run of minimax-q, not of dqn" in refused(main, ["dqn", "--config", str(run.folder)])


@pytest.mark.usefixtures("stopper")
def test_a_folder_is_opened_as_what_train_returned(tmp_path: Path) -> None:
    run = selfplay.train(**SHORT, run_dir=tmp_path / "it")
    opened = selfplay.open(run.folder)
    assert type(opened) is type(run)
    assert opened.config == replace(run.config, run_dir=None)
    assert opened.records == run.records
    assert opened.proof == run.proof
    assert not opened.interrupted
    assert {*opened.snapshots} == {*run.snapshots} >= {960, 1_920, 2_400}
    assert (opened.player.q_values(ABSOLUTE) == run.player.q_values(ABSOLUTE)).all()
    assert "there is no such run folder" in refused(selfplay.open, tmp_path / "other")


def test_training_takes_settings_as_train_does() -> None:
    first = next(selfplay.training(selfplay.DQNConfig(**SHORT | {"seed": 3}), seed=1_000))
    assert first.evaluation == next(selfplay.training(selfplay.DQNConfig(**SHORT))).evaluation
