"""Settings are checked one by one, and the presets and defaults hold the published numbers."""

from typing import Any

import pytest

from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from tests.runs import refused


@pytest.mark.parametrize("config", [MinimaxQConfig, AfterstateQConfig, TDValueConfig, TDBackupConfig])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": -1}, "--seed must be 0 or more, got -1"),
        ({"seed": 1.5}, "--seed must be of type int, got 1.5"),
        ({"games": -1}, "--games must be at least 1, got -1"),
        ({"games": 10**13}, "--games must be at most 1,000,000,000,000, got 10000000000000"),
        ({"alpha": 0.0}, "--alpha must be above 0 and at most 1, got 0.0"),
        ({"alpha": float("nan")}, "--alpha must be above 0 and at most 1, got nan"),
        ({"alpha": "much"}, "--alpha must be of type float, got 'much'"),
    ],
)
def test_a_bad_value_that_all_tables_know_is_named(config: Any, changes: dict[str, Any], message: str) -> None:
    assert refused(config, **changes) == message


@pytest.mark.parametrize(
    ("config", "changes", "message"),
    [
        (DQNConfig, {"seed": -1}, "--seed must be 0 or more, got -1"),
        (DQNConfig, {"seed": 2**63}, "--seed must be below 2^63"),
        (DQNConfig, {"rows": 0}, "rows must be a positive integer, got 0"),
        (DQNConfig, {"rows": 8, "cols": 9}, "a 8x9 board has 72 cells"),
        (DQNConfig, {"k": 4}, "got k=4 on a 3x3 board"),
        (DQNConfig, {"batch_size": 0}, "--batch-size must be at least 1, got 0"),
        (DQNConfig, {"num_envs": 0}, "--num-envs must be at least 1, got 0"),
        (DQNConfig, {"eval_every": 0}, "--eval-every must be at least 1, got 0"),
        (DQNConfig, {"memory_size": 100}, "--memory-size must be at least --num-envs (256), got 100"),
        (DQNConfig, {"memory_size": 300}, "--memory-size must be at least --batch-size (384), got 300"),
        (DQNConfig, {"total_steps": 1000}, "--total-steps must be at least --warmup (1024), got 1000"),
        (DQNConfig, {"memory_size": 10**30}, "--memory-size must be at most 1,000,000,000,000, got 1000"),
        (DQNConfig, {"hidden": (10**20,)}, "--hidden must be widths of at most 1,000,000, got (1000"),
        (DQNConfig, {"gamma": 1.5}, "--gamma must be between 0 and 1, got 1.5"),
        (DQNConfig, {"gamma": float("nan")}, "--gamma must be between 0 and 1, got nan"),
        (DQNConfig, {"epsilon_end": -0.1}, "--epsilon-end must be between 0 and 1, got -0.1"),
        (DQNConfig, {"soft_update": 0.0}, "--soft-update must be above 0 and at most 1, got 0.0"),
        (DQNConfig, {"learning_rate": float("inf")}, "--learning-rate must be above 0 and at most 3.4e+38, got inf"),
        (DQNConfig, {"learning_rate": 1e308}, "--learning-rate must be above 0 and at most 3.4e+38, got 1e+308"),
        (DQNConfig, {"learning_rate_hold": -1}, "--learning-rate-hold must be 0 or more, got -1"),
        (DQNConfig, {"learning_rate": 0.0}, "--learning-rate must be above 0 and at most 3.4e+38, got 0.0"),
        (DQNConfig, {"hidden": (8, 0)}, "--hidden must be widths of at least 1, got (8, 0)"),
        (DQNConfig, {"lines": -1}, "--lines must be 0 or more, got -1"),
        (DQNConfig, {"lines": 10**7}, "--lines must be at most 1,000,000, got 10000000"),
        (DQNConfig, {"convolution": (0,)}, "--convolution must be channels of at least 1, got (0,)"),
        (DQNConfig, {"convolution": (8, 10**7)}, "--convolution must be channels of at most 1,000,000, got (8, 1000"),
        (DQNConfig, {"hidden": [8]}, "--hidden must be of type tuple, got [8]"),
        (DQNConfig, {"target": "minimax"}, "--target must be one of negamax, independent, article, got 'minimax'"),
        (DQNConfig, {"stop": "optimal", "rows": 5, "cols": 4}, "--stop must be unbeatable or never on a board of more"),
        (DQNConfig, {"mask": "yes"}, "--mask must be of type bool, got 'yes'"),
        (MinimaxQConfig, {"epsilon": 1.1}, "--epsilon must be between 0 and 1, got 1.1"),
        (MinimaxQConfig, {"gamma": -0.1}, "--gamma must be between 0 and 1, got -0.1"),
        (MinimaxQConfig, {"tables": "none"}, "--tables must be one of shared, separate, got 'none'"),
        (AfterstateQConfig, {"seat": 2}, "--seat must be one of 0, 1, none, got 2"),
        (AfterstateQConfig, {"seat": True}, "--seat must be one of 0, 1, none, got True"),
        (AfterstateQConfig, {"draw_reward": 2.0}, "--draw-reward must be between -1 and 1, got 2.0"),
        (AfterstateQConfig, {"exploration": 3}, "--exploration must be between 0 and 1, got 3"),
        (TDValueConfig, {"opponent": "me"}, "--opponent must be one of random, heuristic, optimal, self, got 'me'"),
        (TDValueConfig, {"exploration": -1.0}, "--exploration must be between 0 and 1, got -1.0"),
        (TDValueConfig, {"back_up_losses": 1}, "--back-up-losses must be of type bool, got 1"),
        (TDBackupConfig, {"exploit": 2.0}, "--exploit must be between 0 and 1, got 2.0"),
        (TDBackupConfig, {"draw_first": -1.0}, "--draw-first must be between 0 and 1, got -1.0"),
        (TDBackupConfig, {"greedy_games": 0}, "--greedy-games must be at least 1, got 0"),
        (TDBackupConfig, {"greedy_games": 100_001}, "--greedy-games must be at most 100,000, which are reported"),
        (MinimaxQConfig, {"games": 0}, "--games must be at least 1, or 0 with --from-table, got 0"),
        (TDBackupConfig, {"k": 4}, "k must be at most the longer side of the board, got k=4 on a 3x3 board"),
        (TDBackupConfig, {"rows": 5, "cols": 5}, "a table for a 5x5 board holds 3^25 values of 8 bytes: choose --rows"),
    ],
)
def test_a_bad_value_is_named_with_what_is_wanted(config: Any, changes: dict[str, Any], message: str) -> None:
    assert message in refused(config, **changes)


def test_values_at_their_limits_are_taken() -> None:
    DQNConfig(gamma=0, epsilon_start=1, epsilon_end=0.0, soft_update=1.0, hidden=(), rows=8, cols=8, seed=2**63 - 1)
    MinimaxQConfig(epsilon=0, gamma=1, alpha=1, games=1, seed=2**63 - 1)
    AfterstateQConfig(exploration=1, draw_reward=-1, seat="none")
    TDBackupConfig(rows=1, cols=16, k=16)


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
