"""Settings are checked by what their fields declare, in every form in which they are given."""

import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
import torch
from pydantic import Field

from selfplay.dqn.config import PRESETS, Device, DQNConfig, Layers
from selfplay.runs.algorithms import ALGORITHMS
from selfplay.runs.folder import written
from selfplay.settings import (
    Count,
    CustomConfig,
    Fraction,
    Place,
    RunSettings,
    Seed,
    SettingsError,
    StepSize,
    checked,
    to_json,
)
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig
from tests.runs import refused
from tests.variants import InventedRules
from tictactoe import Rewards, Rules


@checked
class Declared:
    """A field of each kind."""

    count: Count = 1
    seed: Seed | None = None
    fraction: Fraction = 0.5
    step: StepSize = 1
    flag: bool = False
    choice: Literal[0, 1, "none"] = 0
    path: Place | None = None
    sizes: Annotated[Layers, Field(max_length=3)] = ()
    device: Device = "auto"


class Folded:
    """What has a folder, as a run does."""

    folder = Path("runs/b")


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
        ("device", "mps", "mps"),
        ("path", "runs/a", Path("runs/a")),
        ("path", "~/a", Path("/home/ada/a")),
        ("path", Folded(), Path("runs/b")),
        ("sizes", 4, (4,)),
        ("sizes", [4, 2], (4, 2)),
        ("sizes", np.array([4, 2]), (4, 2)),
        ("sizes", (np.int8(4), 2.0), (4, 2)),
        ("sizes", [], ()),
        *(("sizes", text, (64, 32)) for text in ("64x32", "64,32")),
    ],
)
def test_a_value_is_held_as_plain_python_however_it_is_typed(
    name: str, typed: Any, held: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    value = getattr(Declared(**{name: typed}), name)
    assert (value, type(value)) == (held, type(held))
    if isinstance(value, tuple):
        assert {type(each) for each in value} <= {int}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("count", value) for value in (0, 10**12 + 1, 1.5, float("inf"), True, "1", None)),
        *(("seed", value) for value in (2**63, -1, "1")),
        *(("fraction", value) for value in (float("nan"), 10**400, -0.1, False)),
        ("step", 0),
        ("flag", 1),
        *(("choice", value) for value in (2, "non")),
        ("device", "cuda:1"),
        ("path", 3),
        *(("sizes", value) for value in ("2y", (2, 0), [2.5], (2, 2, 2, 2))),
        ("invented", 3),
    ],
)
def test_a_value_that_is_not_what_its_field_declares_is_named_on_one_line(name: str, value: Any) -> None:
    with pytest.raises(SettingsError) as error:
        Declared(**{name: value})
    for message, typed in ((str(error.value), name), (str(error.value.as_flags), f"--{name}")):
        assert typed in message
        assert "\n" not in message
        odd = value[-1] if isinstance(value, list | tuple) else value
        assert name == "invented" or repr(odd) in message


def test_all_mistakes_are_named_at_once() -> None:
    message = refused(DQNConfig, seed=-1, batch_size="3", lr=1)
    assert [name for name in ("seed", "batch_size", "lr") if name not in message] == []


KINDS: list[Any] = [*ALGORITHMS.values(), CustomConfig]


@pytest.mark.parametrize("config", KINDS, ids=lambda kind: kind.algorithm)
def test_every_number_has_bounds(config: Any) -> None:
    for each in fields(config):
        if type(each.default) in (int, float):
            for value in (-(10**101), 10**101):
                assert each.name in refused(config, **{each.name: value})


@pytest.mark.parametrize(
    ("config", "changes", "named"),
    [
        (DQNConfig, {"rows": 0}, ["rows", "0"]),
        (DQNConfig, {"rows": "3"}, ["rows", "3"]),
        (DQNConfig, {"rows": 8, "cols": 9}, ["72"]),
        (DQNConfig, {"memory_size": 100}, ["memory_size", "num_envs", "256", "100"]),
        (DQNConfig, {"memory_size": 300, "batch_size": 384}, ["memory_size", "batch_size", "384"]),
        (DQNConfig, {"total_steps": 1000}, ["total_steps", "warmup", "1024"]),
        (DQNConfig, {"hidden": (8,) * 101}, ["hidden", "100"]),
        (DQNConfig, {"message_width": 10**7}, ["message_width", "10000000"]),
        (DQNConfig, {"stop": "optimal", "rows": 5, "cols": 4}, ["stop", "optimal"]),
        (DQNConfig, {"target": "negmax"}, ["target", "negamax"]),
        (DQNConfig, {"preset": "larg"}, ["preset", "large"]),
        (DQNConfig, {"rewards": "sprase"}, ["sprase", "sparse"]),
        (DQNConfig, {"rewards": "ilegal=-5"}, ["ilegal", "illegal"]),
        (DQNConfig, {"rewards": "allow=0,loss=-1"}, ["rewards", "0,loss=-1"]),
        (DQNConfig, {"rewards": {"win": 10**400}}, ["win"]),
        (DQNConfig, {"rewards": None}, ["rewards", "None"]),
        (DQNConfig, {"lr": 1}, ["lr", "learning_rate"]),
        (DQNConfig, {"batchsize": 1}, ["batchsize", "batch_size"]),
        (DQNConfig, {"rules": (3, 3, 3)}, ["rules"]),
        (MinimaxQConfig, {"rows": 4}, ["rows"]),
        (MinimaxQConfig, {"rules": Rules(4, 4)}, ["rules"]),
        (MinimaxQConfig, {"games": 0}, ["games", "from_table"]),
        (DQNConfig, {"rules": InventedRules(invented=True), "explore": "any", "mask": True}, ["invented"]),
        (DQNConfig, {"rules": InventedRules(invented=True), "explore": "any", "take_wins": True}, ["invented"]),
        (AfterstateQConfig, {"draw_reward": 2.0}, ["draw_reward", "2.0"]),
        (TDBackupConfig, {"greedy_games": 100_001}, ["greedy_games"]),
        (TDBackupConfig, {"rows": 5, "cols": 5}, ["25"]),
        (TDBackupConfig, {"rules": InventedRules(invented=True)}, ["invented"]),
    ],
)
def test_a_mistake_is_named_with_what_is_wanted(config: Any, changes: dict[str, Any], named: list[str]) -> None:
    for message in (refused(replace, config(), **changes), refused(config, **changes)):
        assert [name for name in named if name not in message] == []
        assert "warmup" not in message or "warmup" in named


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
    rewards = DQNConfig(rewards=typed).rewards
    assert (rewards, type(rewards), written(rewards)) == (held, type(held), shown)
    assert DQNConfig(rewards=shown).rewards == held  # type: ignore[arg-type] # a text


def test_a_file_holds_a_preset_by_name_and_other_rewards_by_their_numbers() -> None:
    assert to_json(DQNConfig(rewards="sparse"))["rewards"] == "sparse"
    numbers = to_json(DQNConfig(rewards=OWN_REWARDS))["rewards"]
    assert numbers == asdict(Rewards()) | {"illegal": -5.0, "draw": 0.25}


@pytest.mark.parametrize(
    "config",
    [DQNConfig(rules=Rules(4, 5, 3), mask=True), DQNConfig(rewards=OWN_REWARDS), *(kind() for kind in KINDS)],
)
def test_settings_are_made_again_from_their_flat_form(config: RunSettings) -> None:
    written_out = json.loads(json.dumps(to_json(config)))
    assert "rules" not in written_out
    assert type(config)(**written_out) == config
    assert written_out == to_json(config)


@pytest.mark.parametrize(
    ("changes", "rules"),
    [({"rows": 5}, Rules(5, 4, 4)), ({"rules": Rules()}, Rules()), ({"rules": Rules(), "cols": 4}, Rules(3, 4, 3))],
)
def test_the_board_is_changed_in_parts_or_whole(changes: dict[str, Any], rules: Rules) -> None:
    assert replace(DQNConfig(rules=Rules(4, 4, 4)), **changes).rules == rules


@pytest.mark.parametrize(
    ("given", "rules", "preset", "others"),
    [
        ({}, Rules(), "default", {}),
        ({"rows": 2, "cols": 5}, Rules(2, 5, 3), "default", {}),
        ({"rows": 3, "cols": 4}, Rules(3, 4, 3), "large", {}),
        ({"rows": 4, "cols": 4}, Rules(4, 4, 3), "large", {}),
        ({"rules": Rules(5, 4, 4), "hidden": 8}, Rules(5, 4, 4), "large", {"hidden": (8,)}),
        ({"rows": 4, "cols": 4, "preset": "default"}, Rules(4, 4, 3), "default", {}),
        ({"rows": 5, "cols": 5, "k": 4}, Rules(5, 5, 4), "5x5", {"mask": True}),
        ({"preset": "large"}, Rules(4, 4, 4), "large", {}),
        ({"preset": "large", "k": 3}, Rules(4, 4, 3), "large", {}),
        ({"preset": "large", "rules": Rules()}, Rules(), "large", {}),
        ({"preset": "article", "rows": 4, "cols": 4}, Rules(4, 4, 3), "article", {}),
    ],
)
def test_the_board_chooses_the_preset_and_what_is_given_wins(
    given: dict[str, Any], rules: Rules, preset: str, others: dict[str, Any]
) -> None:
    expected = {**vars(DQNConfig()), **PRESETS[preset], "rules": rules, "preset": preset, **others}
    assert vars(DQNConfig(**given)) == expected


@pytest.mark.parametrize(
    ("value", "shown"), [(True, "true"), (3, "3"), (1e-05, "1e-05"), ((64, 32), "64x32"), ((), "[]"), ("a", "a")]
)
def test_a_value_is_shown_as_it_is_typed(value: object, shown: str) -> None:
    assert written(value) == shown
