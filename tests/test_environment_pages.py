"""The pages and docstrings of the environments say what the code does; `docs.tables` fills in the pages' tables."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces

from docs import tables
from tictactoe import TicTacToeEnv, batch, tictactoe_v0
from tictactoe.gym import base_vector, turn

EACH = pytest.mark.parametrize(
    ("page", "environment"), [(page, one) for page, several in tables.ENVIRONMENTS.items() for one in several]
)
IN_DOCSTRINGS = [
    "Action space",
    "Observation space",
    "Rewards",
    "Starting state",
    "Episode end",
    "Information",
    "Arguments",
]


def section(page: str, heading: str) -> str:
    """Return the text under a heading of a page."""
    return Path(tables.FOLDER, f"{page}.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]


def docstring(environment: Callable[..., Any]) -> str:
    return inspect.getdoc(environment) or ""


def test_the_tables_of_the_pages_are_those_of_the_code() -> None:
    tables.main(check=True)


@pytest.mark.parametrize(
    ("page", "right", "changed"),
    [
        ("turn", "| `rows` | `3` |", "| `rows` | `4` |"),
        ("turn", "| `allow` | ", "| `allows` | "),
        ("turn", '    rewards="shaped",\n', ""),
        ("vector", "| `winner` | `int64` | `(N,)` |\n", ""),
        ("pettingzoo", "| Action values | `Discrete(9)` |", "| Action values | `Discrete(8)` |"),
        ("batch", "`play(rules, state, actions)`", "`play(rules, state)`"),
    ],
)
def test_a_table_out_of_date_is_noticed(page: str, right: str, changed: str) -> None:
    text = Path(tables.FOLDER, f"{page}.md").read_text()
    assert right in text
    assert right in tables.filled(page, text.replace(right, changed))


@EACH
def test_each_docstring_has_its_headings_and_all_arguments_and_options(
    page: str, environment: Callable[..., Any]
) -> None:
    text = docstring(environment)
    single = page in ("turn", "versus")
    headings = re.findall(r"^([A-Z][a-z ]+):", text, re.MULTILINE)
    assert headings == [*IN_DOCSTRINGS, *(["Vectorised use"] if single else []), "Raises"]
    assert text.count("\n") < 40
    listed = text.split("Arguments:\n")[1].split("\n\n")[0]
    named = [name for names in re.findall(r"^    ([a-z_, ]+):", listed, re.MULTILINE) for name in names.split(", ")]
    of_turn_view = [] if page == "turn" else tables.defaults(TicTacToeEnv)  # "The others: as in `TicTacToeEnv`"
    assert {*named, *of_turn_view} == {*tables.defaults(environment)}
    options = text.split("reset(options=...)`:")[1].split("\nEpisode end")[0]
    assert tuple(re.findall(r"`(\w+)`", options)) == (base_vector.OPTIONS if page == "vector" else turn.OPTIONS)


@EACH
def test_the_formulas_of_spaces_hold_on_another_board(page: str, environment: Callable[..., Any]) -> None:
    many = {"num_envs": tables.BOARDS} if page == "vector" else {}
    game = environment(**tables.BOARD, **many, dict_observation=True)
    observed = game.observation_space("player_1") if page == "pettingzoo" else game.observation_space
    parts = {tables.formula(part) for part in observed.values()}
    actions = game.action_space("player_1") if page == "pettingzoo" else game.action_space
    kind = "MultiDiscrete" if isinstance(actions, spaces.MultiDiscrete) else "Discrete(rows * cols)"
    assert kind == "MultiDiscrete" or tables.formula(actions) == f"`{kind}`"
    for text in (docstring(environment), section(page, "Observation space")):
        boxes = re.findall(r"Box\(0, 1, \([^()]*\), int8\)", text)
        assert boxes
        assert {f"`{box}`" for box in boxes} <= parts
    for text in (docstring(environment), section(page, "Action space")):
        assert re.findall(r"Discrete\(rows \* cols\)|MultiDiscrete", text) == [kind]


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="before 1.27 its own games are made in another way")
def test_what_differs_from_pettingzoos_own_game_is_as_its_table_says() -> None:
    rows = [line.strip("|").split("|") for line in section("pettingzoo", "Description").splitlines() if line[:1] == "|"]
    _, ours, theirs = zip(*([cell.strip() for cell in row] for row in rows), strict=True)
    likened = tictactoe_v0.env(rewards="sparse", perspective="mover")
    for column, game in ((ours, likened), (theirs, pettingzoo.make("aec", "classic/tictactoe_v3"))):
        _, _, counted, planes, taken, masks = column
        game.reset()
        assert str(game.observe("player_1")["observation"].shape) in planes
        game.step(1)
        [place] = np.argwhere(game.observe("player_1")["observation"][..., -2]).tolist()
        row, col = reversed(place) if "columns first" in planes else place
        assert counted == {(0, 1): "along the rows", (1, 0): "down the columns"}[row, col]
        game.step(1)
        assert taken.split(",")[0] == f"{game.rewards['player_2']:g}"
        mask = game.observe("player_1")["action_mask"].tolist()
        assert masks == ("all ones" if all(mask) else "the cells that are still empty")
        assert mask == ([1] * 9 if all(mask) else [1, 0, *[1] * 7])


def test_the_fields_of_an_outcome_are_named() -> None:
    outcome = section("batch", "What they hold").split("An `Outcome` holds")[1].split("which")[0]
    assert tuple(re.findall(r"`(\w+)`", outcome)) == batch.Outcome._fields
