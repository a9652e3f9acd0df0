"""Settings are checked by what their fields declare, and the presets and defaults hold the published numbers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import pytest

from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.settings import Bounds, Count, Fraction, Seed, StepSize, check
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "--count must be between 1 and 1,000,000,000,000, got 0"),
        ({"count": 10**12 + 1}, "--count must be between 1 and 1,000,000,000,000, got 1000000000001"),
        ({"count": 1.0}, "--count must be of type int, got 1.0"),
        ({"count": True}, "--count must be of type int, got True"),
        ({"count": None}, "--count must be of type int, got None"),
        ({"seed": 2**63}, "--seed must be between 0 and 9,223,372,036,854,775,807, got 9223372036854775808"),
        ({"seed": "1"}, "--seed must be of type int, got '1'"),
        ({"fraction": 1.01}, "--fraction must be between 0 and 1, got 1.01"),
        ({"fraction": float("nan")}, "--fraction must be between 0 and 1, got nan"),
        ({"fraction": False}, "--fraction must be of type float, got False"),
        ({"step": 0}, "--step must be above 0 and at most 1, got 0"),
        ({"step": "much"}, "--step must be of type float, got 'much'"),
        ({"flag": 1}, "--flag must be of type bool, got 1"),
        ({"choice": 2}, "--choice must be one of 0, 1, none, got 2"),
        ({"choice": True}, "--choice must be one of 0, 1, none, got True"),
        ({"path": "runs"}, "--path must be of type Path, got 'runs'"),
        ({"sizes": [2]}, "--sizes must be of type tuple, got [2]"),
        ({"sizes": (2, 9)}, "--sizes must be values between 2 and 8, got (2, 9)"),
        ({"sizes": (2.5,)}, "--sizes must be values of type int, got (2.5,)"),
        ({"sizes": (2, 2, 2, 2)}, "--sizes must be between 0 and 3 values, got (2, 2, 2, 2)"),
    ],
)
def test_a_value_that_is_not_what_its_field_declares_is_named(changes: dict[str, Any], message: str) -> None:
    assert refused(check, Declared(**changes)) == message


def test_values_at_their_bounds_are_taken() -> None:
    check(Declared(10**12, 2**63 - 1, 0, 1e-300, True, "none", Path("runs"), (2, 8, 2)))
    check(Declared(fraction=1))
    DQNConfig(gamma=0, epsilon_start=1, epsilon_end=0.0, soft_update=1.0, hidden=(), rows=8, cols=8, seed=2**63 - 1)
    MinimaxQConfig(epsilon=0, gamma=1, alpha=1, games=0, from_table=Path("table.csv"))
    AfterstateQConfig(exploration=1, draw_reward=-1, seat="none")
    TDBackupConfig(rows=1, cols=16, k=16)


@pytest.mark.parametrize("config", [DQNConfig, MinimaxQConfig, AfterstateQConfig, TDValueConfig, TDBackupConfig])
def test_every_number_but_those_of_the_board_has_bounds(config: Any) -> None:
    unbounded = {name for name, hint in get_type_hints(config, include_extras=True).items() if hint in (int, float)}
    assert unbounded <= {"rows", "cols", "k"}
    for name in ("seed", "eval_every"):
        assert f"--{name.replace('_', '-')} must be between " in refused(config, **{name: -1})


@pytest.mark.parametrize(
    ("config", "changes", "message"),
    [
        (DQNConfig, {"rows": 0}, "rows must be a positive integer, got 0"),
        (DQNConfig, {"rows": 8, "cols": 9}, "a 8x9 board has 72 cells"),
        (DQNConfig, {"memory_size": 100}, "--memory-size must be at least --num-envs (256), got 100"),
        (DQNConfig, {"memory_size": 300}, "--memory-size must be at least --batch-size (384), got 300"),
        (DQNConfig, {"total_steps": 1000}, "--total-steps must be at least --warmup (1024), got 1000"),
        (DQNConfig, {"hidden": (0,)}, "--hidden must be values between 1 and 1,000,000, got (0,)"),
        (DQNConfig, {"convolution": (8,) * 101}, "--convolution must be between 0 and 100 values, got (8, 8"),
        (DQNConfig, {"lines": 10**7}, "--lines must be between 0 and 1,000,000, got 10000000"),
        (DQNConfig, {"hidden": (10**5, 10**5)}, "--hidden must be layers with at most 100,000,000 weights in all"),
        (DQNConfig, {"gamma": 1.5}, "--gamma must be between 0 and 1, got 1.5"),
        (DQNConfig, {"soft_update": 0.0}, "--soft-update must be above 0 and at most 1, got 0.0"),
        (DQNConfig, {"learning_rate": 1e308}, "--learning-rate must be above 0 and at most 3.4e+38, got 1e+308"),
        (DQNConfig, {"rule_weight": -1.0}, "--rule-weight must be between 0 and 3.4e+38, got -1.0"),
        (DQNConfig, {"stop": "optimal", "rows": 5, "cols": 4}, "--stop must be unbeatable or never on a board of more"),
        (MinimaxQConfig, {"games": 0}, "--games must be at least 1, or 0 with --from-table, got 0"),
        (AfterstateQConfig, {"draw_reward": 2.0}, "--draw-reward must be between -1 and 1, got 2.0"),
        (TDBackupConfig, {"greedy_games": 100_001}, "--greedy-games must be between 1 and 100,000, got 100001"),
        (TDBackupConfig, {"k": 4}, "k must be at most the longer side of the board, got k=4 on a 3x3 board"),
        (TDBackupConfig, {"rows": 5, "cols": 5}, "a table for a 5x5 board holds 3^25 values of 8 bytes: choose --rows"),
    ],
)
def test_a_bad_value_is_named_with_what_is_wanted(config: Any, changes: dict[str, Any], message: str) -> None:
    assert message in refused(config, **changes)


def test_the_article_preset_holds_the_published_numbers() -> None:
    article = PRESETS["article"]
    assert article.hidden == (27, 27, 27)
    assert (article.memory_size, article.warmup, article.batch_size) == (50_000, 100, 32)
    assert (article.updates_per_step, article.num_envs, article.total_steps) == (1, 1, 100_000)
    assert (article.soft_update, article.hard_update, article.double, article.gamma) == (1e-2, 0, True, 0.99)
    assert (article.learning_rate, article.learning_rate_hold) == (1e-3, 0)
    assert (article.epsilon_start, article.epsilon_end) == (0.2, 0.2)
    assert (article.rewards, article.target, article.perspective) == ("article", "article", "absolute")
    assert (article.mask, article.explore, article.symmetry, article.dueling) == (False, "any", "none", False)


def test_the_defaults_are_the_published_numbers() -> None:
    minimax = MinimaxQConfig()
    assert (minimax.alpha, minimax.gamma, minimax.epsilon) == (0.1, 0.9, 0.6)
    assert (minimax.games, minimax.tables) == (10_000_000, "shared")
    afterstate = AfterstateQConfig()
    assert (afterstate.alpha, afterstate.gamma, afterstate.exploration) == (0.2, 0.8, 0.1)
    assert (afterstate.draw_reward, afterstate.games) == (0.1, 10_000)
    value = TDValueConfig()
    assert (value.opponent, value.back_up_losses) == ("random", True)
    backup = TDBackupConfig()
    assert (backup.alpha, backup.gamma, backup.exploit) == (0.35, 0.9, 0.8)
    assert (backup.draw_first, backup.draw_second) == (0.1, 0.5)
    assert (backup.games, backup.greedy_games) == (100_000, 2_500)
    assert str(backup.rules) == "3,3,3"
