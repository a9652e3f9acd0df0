"""Settings are checked one by one, and the published preset holds the published numbers."""

from typing import Any

import pytest

from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.errors import UserError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": -1}, "--seed must be 0 or more, got -1"),
        ({"seed": 2**63}, "--seed must be below 2^63"),
        ({"rows": 0}, "rows must be a positive integer, got 0"),
        ({"rows": 8, "cols": 9}, "a 8x9 board has 72 cells"),
        ({"k": 4}, "got k=4 on a 3x3 board"),
        ({"batch_size": 0}, "--batch-size must be at least 1, got 0"),
        ({"num_envs": 0}, "--num-envs must be at least 1, got 0"),
        ({"eval_every": 0}, "--eval-every must be at least 1, got 0"),
        ({"memory_size": 100}, "--memory-size must be at least --num-envs (256), got 100"),
        ({"memory_size": 300}, "--memory-size must be at least --batch-size (384), got 300"),
        ({"total_steps": 1000}, "--total-steps must be at least --warmup (1024), got 1000"),
        ({"memory_size": 10**30}, "--memory-size must be at most 1,000,000,000,000, got 1000"),
        ({"hidden": (10**20,)}, "--hidden must be widths of at most 1,000,000, got (1000"),
        ({"gamma": 1.5}, "--gamma must be between 0 and 1, got 1.5"),
        ({"gamma": float("nan")}, "--gamma must be between 0 and 1, got nan"),
        ({"epsilon_end": -0.1}, "--epsilon-end must be between 0 and 1, got -0.1"),
        ({"soft_update": 0.0}, "--soft-update must be above 0 and at most 1, got 0.0"),
        ({"learning_rate": float("inf")}, "--learning-rate must be above 0 and finite, got inf"),
        ({"learning_rate_hold": -1}, "--learning-rate-hold must be 0 or more, got -1"),
        ({"learning_rate": 0.0}, "--learning-rate must be above 0 and finite, got 0.0"),
        ({"hidden": (8, 0)}, "--hidden must be widths of at least 1, got (8, 0)"),
        ({"convolution": (0,)}, "--convolution must be channels of at least 1, got (0,)"),
        ({"convolution": (8, 10**7)}, "--convolution must be channels of at most 1,000,000, got (8, 10000000)"),
        ({"hidden": [8]}, "--hidden must be of type tuple, got [8]"),
        ({"target": "minimax"}, "--target must be one of negamax, independent, article, got 'minimax'"),
        ({"stop": "optimal", "rows": 5, "cols": 4}, "--stop must be unbeatable or never on a board of more than 16"),
        ({"mask": "yes"}, "--mask must be of type bool, got 'yes'"),
    ],
)
def test_a_bad_value_is_named_with_what_is_wanted(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        DQNConfig(**changes)
    assert message in str(caught.value)


def test_values_at_their_limits_are_taken() -> None:
    DQNConfig(gamma=0, epsilon_start=1, epsilon_end=0.0, soft_update=1.0, hidden=(), rows=8, cols=8, seed=2**63 - 1)


def test_the_article_preset_holds_the_published_numbers() -> None:
    article = PRESETS["article"]
    assert article.hidden == (27, 27, 27)
    assert (article.memory_size, article.warmup, article.batch_size) == (50_000, 100, 32)
    assert (article.updates_per_step, article.num_envs, article.total_steps) == (1, 1, 100_000)
    assert (article.soft_update, article.hard_update, article.double, article.gamma) == (1e-2, 0, True, 0.99)
    assert (article.learning_rate, article.learning_rate_hold) == (1e-3, 0)
    assert (article.epsilon_start, article.epsilon_end) == (0.2, 0.2)
    assert (article.rewards, article.target, article.perspective) == ("article", "article", "absolute")
    assert (article.mask, article.explore, article.symmetry, article.dueling) == (False, "any", False, False)
