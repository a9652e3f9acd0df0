"""The page and the docstring of each face say what its code does: arguments, spaces, rewards, infos."""

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

import tictactoe
from tests.pages import at_a_glance, code, headings, section, snippets, table
from tictactoe import (
    Rewards,
    TicTacToeEnv,
    TicTacToeVectorEnv,
    TicTacToeVersusEnv,
    TicTacToeVersusVectorEnv,
    batch,
    tictactoe_v0,
)
from tictactoe.envs import base_vector, turn
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import PRESETS

Face = Callable[..., Any]

FACES: list[tuple[str, Face]] = [
    ("turn", TicTacToeEnv),
    ("versus", TicTacToeVersusEnv),
    ("vector", TicTacToeVectorEnv),
    ("vector", TicTacToeVersusVectorEnv),
    ("pettingzoo", tictactoe_v0.raw_env),
]
EACH_FACE = pytest.mark.parametrize(("page", "face"), FACES)
EACH_PAGE = pytest.mark.parametrize("page", sorted({page for page, _ in FACES}))
IN_DOCSTRINGS = [
    "Action space",
    "Observation space",
    "Rewards",
    "Starting state",
    "Episode end",
    "Information",
    "Arguments",
]
ON_PAGES = ["Description", *IN_DOCSTRINGS, "Vectorised use", "Rendering", "Errors", "Version history"]
"""PettingZoo's face has no vectorised use."""
SIZES = {"rows": 4, "cols": 5, "N": 3}
"""What the names in formulas are tested with: no two numbers of a shape are the same."""
BOARD: dict[str, Any] = {"rows": 4, "cols": 5}
NAMES = {
    "rewards": list(PRESETS),
    "perspective": list(batch.PERSPECTIVES),
    "opponent": list(OPPONENTS),
    "autoreset_mode": [mode.value for mode in AutoresetMode],
    "seat": ["random"],
    "render_mode": TicTacToeEnv.metadata["render_modes"],
}
"""The names that arguments take, by the code."""


def docstring(face: Face) -> str:
    return inspect.getdoc(face) or ""


def arguments(face: Face) -> dict[str, Any]:
    """Return the arguments of a face with their defaults, modes by their names."""
    defaults = {name: one.default for name, one in inspect.signature(face).parameters.items()}
    return {name: one.value if isinstance(one, AutoresetMode) else one for name, one in defaults.items()}


def space(said: str) -> spaces.Space[Any]:
    """Return the space that a text describes."""
    found: spaces.Space[Any] = eval(said, {"Box": spaces.Box, "Discrete": spaces.Discrete, "int8": np.int8, **SIZES})
    return found


@EACH_PAGE
def test_each_page_has_the_same_headings_in_the_same_order(page: str) -> None:
    assert headings(page) == [one for one in ON_PAGES if page != "pettingzoo" or one != "Vectorised use"]


@EACH_FACE
def test_each_docstring_has_them_too_and_fits_a_screen(page: str, face: Face) -> None:
    said = re.findall(r"^([A-Z][a-z ]+):", docstring(face), re.MULTILINE)
    single = page in ("turn", "versus")
    assert said == [*IN_DOCSTRINGS, *(["Vectorised use"] if single else []), "Raises"]
    assert docstring(face).count("\n") < 40


@EACH_FACE
def test_all_arguments_and_their_defaults_are_told(page: str, face: Face) -> None:
    listed = docstring(face).split("Arguments:\n")[1].split("\n\n")[0]
    named = [name for names in re.findall(r"^    ([a-z_, ]+):", listed, re.MULTILINE) for name in names.split(", ")]
    assert sorted(named) == sorted(arguments(face))

    calls = [one for text in snippets(page, "Arguments") for one in ast.walk(ast.parse(text))]
    given = [[(one.arg, one.value) for one in call.keywords] for call in calls if isinstance(call, ast.Call)]
    assert list(arguments(face).items()) in [[(name, ast.literal_eval(value)) for name, value in one] for one in given]

    pages = ["turn", "versus", page] if "opponent" in arguments(face) else ["turn", page]
    rows = {name: row for one in pages for name, row in table(one, "Arguments", "argument").items()}
    assert {name: ast.literal_eval(code(row["default"])) for name, row in rows.items()} == arguments(face)


@EACH_FACE
def test_what_an_argument_allows_is_taken_and_nothing_beside_it(page: str, face: Face) -> None:
    for name, row in table(page, "Arguments", "argument").items():
        allowed = re.findall(r"`([^`]*)`", row["allowed"])
        known = base_vector.RENDER_MODES if (page, name) == ("vector", "render_mode") else NAMES.get(name, [])
        assert [value.strip('"') for value in allowed if '"' in value] == known, name
        values = [ast.literal_eval(value) for value in allowed if value != "tictactoe.Rewards"]
        for value in [*values, 1] if "integers from 1" in row["allowed"] else values:
            face(**{name: value}).close()
        for wrong in ("nonsense", 0.5, -1, *([0] if "from 1" in row["allowed"] else [])):
            with pytest.raises((ValueError, TypeError)):
                face(**{name: wrong})


@pytest.mark.parametrize("page", ["turn", "versus", "vector"])
def test_the_spaces_at_a_glance_are_those_of_what_is_made(page: str) -> None:
    said = dict(at_a_glance(page))
    named = re.findall(r"tictactoe\.(\w+)", said.get("Class") or said["Classes"])
    made = [eval(value, {"gymnasium": gymnasium}) for name, value in at_a_glance(page) if name == "Make"]
    assert [type(one.unwrapped) for one in made] == [getattr(tictactoe, name) for name in named]
    for one in made:
        assert (str(one.action_space), str(one.observation_space)) == (said["Action space"], said["Observation space"])


@EACH_FACE
def test_the_formulas_of_spaces_hold_on_another_board(page: str, face: Face) -> None:
    number = {"num_envs": SIZES["N"]} if page == "vector" else {}
    plain, asked = (face(**BOARD, **number, dict_observation=one or page == "pettingzoo") for one in (False, True))
    if page == "pettingzoo":
        real = [asked.observation_space(agent) for agent in tictactoe_v0.AGENTS]
        actions = asked.action_space("player_2")
    else:
        real, actions = [plain.observation_space, asked.observation_space], plain.action_space
    parts = [part for one in real for part in (one.values() if isinstance(one, spaces.Dict) else [one])]
    for text in (section(page, "Observation space"), docstring(face)):
        said = re.findall(r"Box\(0, 1, \([^()]*\), int8\)", text)
        assert said
        assert all(space(one) in parts for one in said)
    for text in (section(page, "Action space"), docstring(face)):
        [formula] = re.findall(r"Discrete\(rows \* cols\)|MultiDiscrete", text)
        assert actions == (spaces.MultiDiscrete([20] * 3) if page == "vector" else space(formula))


@pytest.mark.parametrize("page", ["turn", "pettingzoo"])
def test_the_dict_of_an_observation_is_as_its_table_says(page: str) -> None:
    said = {key: space(code(row["space"])) for key, row in table(page, "Observation space", "key").items()}
    turn_space = TicTacToeEnv(**BOARD, dict_observation=True).observation_space
    agents_space = tictactoe_v0.env(**BOARD).observation_space("player_1")
    assert spaces.Dict(said) == (turn_space if page == "turn" else agents_space)


def test_the_rewards_are_those_of_the_presets() -> None:
    said = table("turn", "Rewards", "field")
    for name, preset in PRESETS.items():
        assert Rewards(**{field: float(row[f'"{name}"']) for field, row in said.items()}) == preset


@EACH_FACE
def test_the_options_of_reset_are_those_of_the_code(page: str, face: Face) -> None:
    known = base_vector.OPTIONS if page == "vector" else turn.OPTIONS
    assert tuple(table(page, "Starting state", "option")) == known
    told = docstring(face).split("reset(options=...)`:")[1].split("\nEpisode end")[0]
    assert tuple(re.findall(r"`(\w+)`", told)) == known


def check_info(page: str, info: dict[str, Any]) -> None:
    """Compare what was seen with the types and shapes on a page."""
    said = table(page, "Information", "key")
    assert said.keys() == {key for key in info if not key.startswith(("_", "final_"))}
    for key, row in said.items():
        found = np.asarray(info[key])
        assert found.shape == eval(code(row["shape"]), dict(SIZES)), key
        assert found.dtype == np.dtype(code(row["type"])), key


@pytest.mark.parametrize("face", [TicTacToeEnv, TicTacToeVersusEnv])
def test_infos_are_as_the_page_says(face: Face) -> None:
    game = face(**BOARD)
    infos = [game.reset()[1], game.step(0)[-1], game.step(0)[-1]]
    for info in infos:
        check_info("turn", info)
    assert infos[-1]["illegal"]


@pytest.mark.parametrize("face", [TicTacToeVectorEnv, TicTacToeVersusVectorEnv])
@pytest.mark.parametrize("mode", AutoresetMode)
def test_infos_of_many_boards_are_as_the_page_says(face: Face, mode: AutoresetMode) -> None:
    envs = face(num_envs=SIZES["N"], autoreset_mode=mode, **BOARD)
    infos = [envs.reset()[1], envs.step([0] * 3)[-1], envs.step([0] * 3)[-1]]
    for info in infos:
        check_info("vector", info)
        assert all(info[f"_{key}"].all() for key in table("vector", "Information", "key"))
    assert ("final_info" in infos[-1]) == (mode is AutoresetMode.SAME_STEP)
