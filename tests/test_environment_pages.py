"""The tables on the pages of the environments are those of the code, and the docstrings name every argument."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs import tables
from tictactoe import TicTacToeEnv
from tictactoe.gym import base_vector, turn


def test_the_tables_of_the_pages_are_those_of_the_code() -> None:
    tables.main(check=True)


@pytest.mark.parametrize(
    ("page", "right", "changed"),
    [
        ("turn", "| `rows` | `3` |", "| `rows` | `4` |"),
        ("batch", "`play(rules, state, actions)`", "`play(rules, state)`"),
    ],
)
def test_a_table_out_of_date_is_noticed(page: str, right: str, changed: str) -> None:
    text = Path(tables.FOLDER, f"{page}.md").read_text()
    assert right in text
    assert right in tables.filled(page, text.replace(right, changed))


@pytest.mark.parametrize(
    ("page", "environment"), [(page, one) for page, several in tables.ENVIRONMENTS.items() for one in several]
)
def test_each_docstring_names_all_arguments_and_options(page: str, environment: Callable[..., Any]) -> None:
    text = inspect.getdoc(environment) or ""
    listed = text.split("Arguments:\n")[1].split("\n\n")[0]
    named = [name for names in re.findall(r"^    ([a-z_, ]+):", listed, re.MULTILINE) for name in names.split(", ")]
    of_turn_view = [] if page == "turn" else tables.defaults(TicTacToeEnv)  # "The others: as in `TicTacToeEnv`"
    assert {*named, *of_turn_view} == {*tables.defaults(environment)}
    options = text.split("reset(options=...)`:")[1].split("\nEpisode end")[0]
    assert tuple(re.findall(r"`(\w+)`", options)) == (base_vector.OPTIONS if page == "vector" else turn.OPTIONS)
