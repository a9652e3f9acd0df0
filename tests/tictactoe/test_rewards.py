"""The reward presets, field by field, and the refusal of everything else."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from tictactoe import Rewards
from tictactoe.rewards import named_rewards

DEFAULTS = {"win": 1.0, "illegal": -10.0, "allow": -1.0, "draw": 0.0, "loss": 0.0}
DIFFERENCES: dict[str, dict[str, float]] = {
    "shaped": {},
    "article": {"draw": 1.0},
    "sparse": {"allow": 0.0, "loss": -1.0},
}
"""What each preset changes in the defaults."""


@pytest.mark.parametrize("name", DIFFERENCES)
def test_each_preset_has_its_values(name: str) -> None:
    assert DEFAULTS.items() <= asdict(Rewards()).items()
    assert asdict(named_rewards(name)) == asdict(Rewards()) | DIFFERENCES[name]


@pytest.mark.parametrize(
    ("rewards", "error", "named"),
    [
        ("shapd", ValueError, "'shapd'.*shaped, article, sparse"),
        ({"wins": 1.0}, ValueError, r"'wins'.* win\?"),
        (["shaped"], TypeError, r"\['shaped'\]"),
    ],
    ids=repr,
)
def test_what_names_no_rewards_is_named(rewards: Any, error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        named_rewards(rewards)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, True], ids=repr)
def test_a_field_that_is_no_finite_number_is_named(value: Any) -> None:
    with pytest.raises(ValueError, match=f"allow .* {value!r}"):
        Rewards(allow=value)


def test_a_mapping_of_fields_is_what_a_json_file_makes_of_rewards() -> None:
    rewards = Rewards(win=2, draw=0.5)
    assert named_rewards(json.loads(json.dumps(asdict(rewards)))) == rewards
    assert named_rewards({"draw": 0.5}) == Rewards(draw=0.5)
