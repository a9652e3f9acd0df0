"""The defaults are the published numbers, and a bad setting is named with what is wanted."""

from typing import Any

import pytest

from selfplay.errors import UserError
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig


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
def test_a_bad_value_that_all_know_is_named(config: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        config(**changes)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("config", "changes", "message"),
    [
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
        (TDBackupConfig, {"k": 4}, "k must be at most the longer side of the board, got k=4 on a 3x3 board"),
        (
            TDBackupConfig,
            {"rows": 5, "cols": 5},
            "a table for a 5x5 board holds 3^25 values of 8 bytes: choose --rows and --cols with at most 16 cells",
        ),
    ],
)
def test_a_bad_value_is_named_with_what_is_wanted(config: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        config(**changes)
    assert str(caught.value) == message


def test_values_at_their_limits_are_taken() -> None:
    MinimaxQConfig(epsilon=0, gamma=1, alpha=1, games=1, seed=2**63 - 1)
    AfterstateQConfig(exploration=1, draw_reward=-1, seat="none")
    TDBackupConfig(rows=1, cols=16, k=16)
