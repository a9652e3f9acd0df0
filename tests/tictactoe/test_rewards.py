"""Check the reward presets, field by field, and the refusal of everything else."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from tictactoe import Rewards
from tictactoe.rewards import named_rewards

PRESETS = {
    "shaped": {"win": 1.0, "illegal": -10.0, "allow": -1.0, "draw": 0.0, "loss": 0.0},
    "article": {"win": 1.0, "illegal": -10.0, "allow": -1.0, "draw": 1.0, "loss": 0.0},
    "sparse": {"win": 1.0, "illegal": -10.0, "allow": 0.0, "draw": 0.0, "loss": -1.0},
}


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_has_its_values(name: str) -> None:
    assert asdict(named_rewards(name)) == PRESETS[name]
    assert Rewards() == named_rewards("shaped")


def test_an_unknown_name_is_answered_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"'shapd'.*shaped, article, sparse"):
        named_rewards("shapd")


@pytest.mark.parametrize("value", [None, 1, 1.0, ["shaped"], Rewards], ids=repr)
def test_what_is_neither_name_nor_rewards_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match="rewards must be"):
        named_rewards(value)


@pytest.mark.parametrize("field", PRESETS["shaped"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), "1", None, True, 1j], ids=repr)
def test_a_field_that_is_no_finite_number_is_named(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"{field} must be a finite number, got ") as error:
        Rewards(**{field: value})
    assert repr(value) in str(error.value)


def test_a_mapping_of_fields_is_what_a_json_file_makes_of_rewards() -> None:
    rewards = Rewards(win=2, draw=0.5)
    assert named_rewards(json.loads(json.dumps(asdict(rewards)))) == rewards
    assert named_rewards({"draw": 0.5}) == Rewards(draw=0.5)


def test_an_unknown_field_of_a_mapping_is_named() -> None:
    with pytest.raises(ValueError, match=r"unknown rewards field 'wins': choose from win, .* loss; did you mean win\?"):
        named_rewards({"wins": 1.0})
