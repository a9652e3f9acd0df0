"""Settings are checked by what their fields declare, and the presets and defaults hold the published numbers."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
import pytest
import torch

from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.settings import Bounds, Count, Device, Fraction, Seed, StepSize, check, machine_bytes
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from tests.runs import refused


@dataclass
class Declared:
    """Declare a field of each kind."""

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
    """Hold a folder, as a run does."""

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
    ("name", "value", "expected"),
    [
        ("count", 0, "between 1 and 1,000,000,000,000"),
        ("count", 10**12 + 1, "between 1 and 1,000,000,000,000"),
        ("count", 1.5, "of type int"),
        ("count", float("inf"), "of type int"),
        ("count", True, "of type int"),
        ("count", np.True_, "of type int"),
        ("count", None, "of type int"),
        ("count", [1], "of type int"),
        ("seed", 2**63, "between 0 and 9,223,372,036,854,775,807"),
        ("seed", "1", "of type int"),
        ("fraction", float("nan"), "between 0 and 1"),
        ("fraction", 10**400, "between 0 and 1"),
        ("fraction", False, "of type float"),
        ("step", 0, "above 0 and at most 1"),
        ("flag", 1, "of type bool"),
        ("choice", 2, "one of 0, 1, none"),
        ("choice", True, "one of 0, 1, none"),
        ("device", torch.device("cuda:1"), "one of auto, cpu, cuda"),
        ("path", 3, "of type Path"),
        ("sizes", "2", "values, each of type int"),
        ("sizes", (2, 9), "values, each between 2 and 8"),
        ("sizes", [2.5], "values, each of type int"),
        ("sizes", np.array([2, 2, 2, 2]), "between 0 and 3 values"),
    ],
)
def test_a_value_that_is_not_what_its_field_declares_is_named_as_it_was_typed(
    name: str, value: Any, expected: str
) -> None:
    assert refused(check, Declared(**{name: value})).startswith(f"{name}= must be {expected}, got {value!r}")


def test_values_at_their_bounds_are_taken() -> None:
    check(Declared(10**12, 2**63 - 1, 0, 1e-300, True, "none", Path("runs"), (2, 8, 2)))
    check(Declared(fraction=1))
    DQNConfig(gamma=0, epsilon_start=1, soft_update=1.0, hidden=(), rows=8, cols=8)
    MinimaxQConfig(epsilon=0, gamma=1, alpha=1, games=0, from_table=Path("table.csv"))
    AfterstateQConfig(exploration=1, draw_reward=-1, seat="none")
    TDBackupConfig(rows=1, cols=16, k=16)


@pytest.mark.parametrize("config", [DQNConfig, MinimaxQConfig, AfterstateQConfig, TDValueConfig, TDBackupConfig])
def test_every_number_but_those_of_the_board_has_bounds(config: Any) -> None:
    unbounded = {name for name, hint in get_type_hints(config, include_extras=True).items() if hint in (int, float)}
    assert unbounded <= {"rows", "cols", "k"}
    for name in ("seed", "eval_every"):
        assert f"{name}= must be between " in refused(config, **{name: -1})


@pytest.mark.parametrize(
    ("config", "changes", "message"),
    [
        (DQNConfig, {"rows": 0}, "rows must be a positive integer, got 0"),
        (DQNConfig, {"rows": 8, "cols": 9}, "a 8x9 board has 72 cells"),
        (DQNConfig, {"memory_size": 100}, "memory_size= must be at least num_envs= (256), got 100"),
        (DQNConfig, {"memory_size": 300}, "memory_size= must be at least batch_size= (384), got 300"),
        (DQNConfig, {"total_steps": 1000}, "total_steps= must be at least warmup= (1024), got 1000"),
        (DQNConfig, {"convolution": (8,) * 101}, "convolution= must be between 0 and 100 values, got (8, 8"),
        (DQNConfig, {"lines": 10**7}, "lines= must be between 0 and 1,000,000, got 10000000"),
        (DQNConfig, {"soft_update": 0.0}, "soft_update= must be above 0 and at most 1, got 0.0"),
        (DQNConfig, {"learning_rate": 1e308}, "learning_rate= must be above 0 and at most 3.4e+38, got 1e+308"),
        (DQNConfig, {"rule_weight": -1.0}, "rule_weight= must be between 0 and 3.4e+38, got -1.0"),
        (DQNConfig, {"stop": "optimal", "rows": 5, "cols": 4}, "stop= must be unbeatable or never on a board of more"),
        (MinimaxQConfig, {"games": 0}, "games= must be at least 1, or 0 with from_table=, got 0"),
        (AfterstateQConfig, {"draw_reward": 2.0}, "draw_reward= must be between -1 and 1, got 2.0"),
        (TDBackupConfig, {"greedy_games": 100_001}, "greedy_games= must be between 1 and 100,000, got 100001"),
        (TDBackupConfig, {"rows": 5, "cols": 5}, "a table for a 5x5 board holds 3^25 values of 8 bytes: choose rows="),
    ],
)
def test_a_bad_value_is_named_with_what_is_wanted(config: Any, changes: dict[str, Any], message: str) -> None:
    assert message in refused(config, **changes)


def test_memory_is_that_of_the_machine_in_use_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4_096, "SC_PHYS_PAGES": 1_000, "SC_AVPHYS_PAGES": 10}.get)
    assert machine_bytes() == 4_096_000


PUBLISHED: dict[Any, dict[str, Any]] = {
    PRESETS["article"]: {
        "hidden": (27, 27, 27),
        "memory_size": 50_000,
        "warmup": 100,
        "batch_size": 32,
        "updates_per_step": 1,
        "num_envs": 1,
        "total_steps": 100_000,
        "soft_update": 1e-2,
        "hard_update": 0,
        "double": True,
        "gamma": 0.99,
        "learning_rate": 1e-3,
        "learning_rate_hold": 0,
        "epsilon_start": 0.2,
        "epsilon_end": 0.2,
        "rewards": "article",
        "target": "article",
        "perspective": "absolute",
        "mask": False,
        "explore": "any",
        "symmetry": "none",
        "dueling": False,
    },
    MinimaxQConfig(): {"alpha": 0.1, "gamma": 0.9, "epsilon": 0.6, "games": 10_000_000, "tables": "shared"},
    AfterstateQConfig(): {"alpha": 0.2, "gamma": 0.8, "exploration": 0.1, "draw_reward": 0.1, "games": 10_000},
    TDValueConfig(): {"opponent": "random", "back_up_losses": True},
    TDBackupConfig(): {
        "alpha": 0.35,
        "gamma": 0.9,
        "exploit": 0.8,
        "draw_first": 0.1,
        "draw_second": 0.5,
        "games": 100_000,
        "greedy_games": 2_500,
        "rows": 3,
        "cols": 3,
        "k": 3,
    },
}


@pytest.mark.parametrize("config", PUBLISHED, ids=lambda config: config.algorithm)
def test_the_defaults_and_the_preset_hold_the_published_numbers(config: Any) -> None:
    assert PUBLISHED[config].items() <= dataclasses.asdict(config).items()
