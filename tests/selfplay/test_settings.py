"""Settings are checked by what their fields declare."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
import pytest
import torch

from selfplay.dqn.config import DQNConfig
from selfplay.runs.algorithms import ALGORITHMS
from selfplay.settings import (
    Bounds,
    Count,
    CustomConfig,
    Device,
    Fraction,
    RunSettings,
    Seed,
    StepSize,
    changed,
    check,
    flat,
    parse_value,
    setting_names,
    written,
)
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig
from tests.runs import refused
from tests.variants import UnknownRules
from tictactoe import Rewards, Rules


@dataclass
class Declared:
    """A field of each kind."""

    count: Count = 1
    seed: Seed | None = None
    fraction: Fraction = 0.5
    step: StepSize = 1
    flag: bool = False
    choice: Literal[0, 1, "none"] = 0
    path: Path | None = None
    sizes: Annotated[tuple[Annotated[int, Bounds(2, 8)], ...], Bounds(0, 3)] = ()
    device: Device = "auto"


@dataclass
class Folded:
    """What has a folder, as a run does."""

    folder: Path


@pytest.mark.parametrize(
    ("name", "typed", "held"),
    [
        ("count", np.int64(7), 7),
        ("count", 4e3, 4_000),
        ("count", np.float32(3), 3),
        ("count", torch.tensor(6), 6),
        ("fraction", 1, 1.0),
        ("fraction", np.float32(0.25), 0.25),
        ("flag", np.True_, True),
        ("choice", np.int64(0), 0),
        ("device", torch.device("cuda:0"), "cuda"),
        ("path", "runs/a", Path("runs/a")),
        ("path", "~/a", Path("/home/ada/a")),
        ("path", Folded(Path("runs/b")), Path("runs/b")),
        ("sizes", 4, (4,)),
        ("sizes", [4, 2], (4, 2)),
        ("sizes", np.array([4, 2]), (4, 2)),
        ("sizes", (np.int8(4), 2.0), (4, 2)),
        ("sizes", [], ()),
    ],
)
def test_a_value_is_held_as_plain_python_however_it_is_typed(
    name: str, typed: Any, held: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    declared = Declared(**{name: typed})
    check(declared)
    value = getattr(declared, name)
    assert (value, type(value)) == (held, type(held))
    if isinstance(value, tuple):
        assert {type(each) for each in value} <= {int}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("count", value) for value in (0, 10**12 + 1, 1.5, float("inf"), True, np.True_, None, [1])),
        *(("seed", value) for value in (2**63, -1, "1")),
        *(("fraction", value) for value in (float("nan"), 10**400, -0.1, False)),
        ("step", 0),
        ("flag", 1),
        *(("choice", value) for value in (2, True, ["none"])),
        ("device", torch.device("cuda:1")),
        ("path", 3),
        *(("sizes", value) for value in ("2", (2, 9), [2.5], np.array([2, 2, 2, 2]))),
    ],
)
def test_a_value_that_is_not_what_its_field_declares_is_named(name: str, value: Any) -> None:
    message = refused(check, Declared(**{name: value}))
    assert name in message
    assert repr(value) in message


KINDS: list[Any] = [*ALGORITHMS.values(), CustomConfig]


@pytest.mark.parametrize("config", KINDS, ids=lambda kind: kind.algorithm)
def test_every_number_has_bounds(config: Any) -> None:
    hints = get_type_hints(config, include_extras=True)
    assert {name for name in setting_names(config) if hints.get(name) in (int, float)} == set()
    for name in ("seed", "eval_every"):
        assert name in refused(config, **{name: -1})


@pytest.mark.parametrize(
    ("config", "changes", "named"),
    [
        (DQNConfig, {"rows": 0}, ["rows", "0"]),
        (DQNConfig, {"rows": 8, "cols": 9}, ["72"]),
        (DQNConfig, {"memory_size": 100}, ["memory_size", "num_envs", "256", "100"]),
        (DQNConfig, {"memory_size": 300, "batch_size": 384}, ["memory_size", "batch_size", "384"]),
        (DQNConfig, {"total_steps": 1000}, ["total_steps", "warmup", "1024"]),
        (DQNConfig, {"hidden": (8,) * 101}, ["hidden", "100"]),
        (DQNConfig, {"message_width": 10**7}, ["message_width", "10000000"]),
        (DQNConfig, {"message_width": 0}, ["message_width", "0"]),
        (DQNConfig, {"learning_rate": 1e308}, ["learning_rate", "1e+308"]),
        (DQNConfig, {"counterexample_margin": -1.0}, ["counterexample_margin", "-1"]),
        (DQNConfig, {"stop": "optimal", "rows": 5, "cols": 4}, ["stop", "optimal"]),
        (DQNConfig, {"target": "negmax"}, ["target", "negamax"]),
        (DQNConfig, {"rewards": "sprase"}, ["sprase", "sparse"]),
        (DQNConfig, {"rewards": "ilegal=-5"}, ["ilegal", "illegal"]),
        (DQNConfig, {"rewards": "allow=0,loss=-1"}, ["allow", "0,loss=-1"]),
        (DQNConfig, {"rewards": {"win": 10**400}}, ["win"]),
        (DQNConfig, {"rewards": None}, ["rewards", "None"]),
        (MinimaxQConfig, {"games": 0}, ["games", "from_table"]),
        (AfterstateQConfig, {"draw_reward": 2.0}, ["draw_reward", "2.0"]),
        (TDBackupConfig, {"greedy_games": 100_001}, ["greedy_games"]),
        (TDBackupConfig, {"rows": 5, "cols": 5}, ["25"]),
    ],
)
def test_a_bad_value_is_named_with_what_is_wanted(config: Any, changes: dict[str, Any], named: list[str]) -> None:
    message = refused(changed, config(), changes)
    assert [name for name in named if name not in message] == []


@pytest.mark.parametrize(("typed", "meant"), [("lr", "learning_rate"), ("batchsize", "batch_size")])
def test_the_setting_that_was_meant_is_suggested_alone(typed: str, meant: str) -> None:
    message = refused(changed, DQNConfig(), {typed: 1})
    assert meant in message
    assert "warmup" not in message


OWN_REWARDS = Rewards(illegal=-5, draw=0.25)


@pytest.mark.parametrize(
    ("typed", "held", "shown"),
    [
        ("sparse", "sparse", "sparse"),
        (Rewards(allow=0, loss=-1), "sparse", "sparse"),
        ("allow=0:loss=-1", "sparse", "sparse"),
        (OWN_REWARDS, OWN_REWARDS, "illegal=-5.0:draw=0.25"),
        ({"illegal": -5, "draw": 0.25}, OWN_REWARDS, "illegal=-5.0:draw=0.25"),
        ("illegal=-5:draw=0.25", OWN_REWARDS, "illegal=-5.0:draw=0.25"),
    ],
    ids=str,
)
def test_rewards_are_a_preset_or_numbers_however_they_are_typed(typed: Any, held: Any, shown: str) -> None:
    rewards = changed(DQNConfig(), {"rewards": typed}).rewards
    assert (rewards, type(rewards), written(rewards)) == (held, type(held), shown)
    assert changed(DQNConfig(), {"rewards": shown}).rewards == held


def test_a_file_holds_a_preset_by_name_and_other_rewards_by_their_numbers() -> None:
    assert flat(DQNConfig(rewards="sparse"))["rewards"] == "sparse"
    numbers = flat(DQNConfig(rewards=OWN_REWARDS))["rewards"]
    assert numbers == asdict(Rewards()) | {"illegal": -5.0, "draw": 0.25}


@pytest.mark.parametrize(
    "config",
    [DQNConfig(rules=Rules(4, 5, 3), mask=True), DQNConfig(rewards=OWN_REWARDS), *(kind() for kind in KINDS)],
)
def test_settings_are_made_again_from_their_flat_form(config: RunSettings) -> None:
    flattened = json.loads(json.dumps(flat(config)))
    assert {"rules", "run_dir"}.isdisjoint(flattened)
    assert changed(type(config)(), flattened) == config
    assert {*flattened, "run_dir"} == {*setting_names(type(config))}


def test_the_board_is_changed_in_parts_or_whole_and_not_both_ways() -> None:
    base = DQNConfig(rules=Rules(4, 4, 4))
    assert changed(base, {"rows": 5}).rules == Rules(5, 4, 4)
    assert changed(base, {"rules": Rules(3, 3, 3)}).rules == Rules(3, 3, 3)
    assert changed(base, {"rules": None, "k": 3}).rules == Rules(4, 4, 3)
    assert changed(base, {"rules": None}) == base
    for rules in (Rules(), None):
        assert changed(MinimaxQConfig(), {"rules": rules}) == MinimaxQConfig()
    assert "rows" in refused(changed, base, {"rules": Rules(), "rows": 3})


def test_a_rule_that_an_algorithm_does_not_know_is_refused() -> None:
    assert "gravity" in refused(TDBackupConfig, rules=UnknownRules(gravity=True))


@pytest.mark.parametrize("value", [True, 3, 0.5, 1e-05, (64, 32), (), "sparse"])
def test_a_value_is_read_as_it_is_shown(value: object) -> None:
    shown = parse_value(written(value))
    assert (tuple(shown) if isinstance(shown, list) else shown) == value
