"""The pages of PettingZoo's face and of the batch say what their code does; `test_face_pages.py` asks of all faces."""

import inspect
import re
from typing import Any

import numpy as np
import pettingzoo
import pytest

from tests.pages import at_a_glance, code, section, table
from tictactoe import Rewards, Rules, batch, tictactoe_v0


def test_pettingzoos_table_is_that_of_the_environment() -> None:
    said = dict(at_a_glance("pettingzoo"))
    names: dict[str, Any] = {}
    exec(said["Import"], names)
    game = eval(said["Make"], names)
    actions, observed = game.action_space("player_1"), game.observation_space("player_1")["observation"]
    assert eval(said["Agents"]) == game.possible_agents
    assert said["Number of agents"] == str(game.max_num_agents)
    assert said["Actions"] == type(actions).__name__
    assert (said["Action shape"], said["Action values"]) == (str(actions.shape), str(actions))
    assert said["Observation shape"] == str(observed.shape)
    assert eval(said["Observation values"]) == [observed.low.min(), observed.high.max()]
    assert said["Parallel API"] == ("Yes" if game.metadata["is_parallelizable"] else "No")
    assert said["Manual control"] == ("Yes" if hasattr(tictactoe_v0, "manual_policy") else "No")


def test_the_infos_of_both_agents_are_as_the_page_says() -> None:
    game = tictactoe_v0.env()
    said = table("pettingzoo", "Information", "key")
    game.reset()
    for there, cells in (("always", (0, 0)), ("at the end", ())):
        keys = {key for key, row in said.items() if row["there"] in ("always", there)}
        for info in game.infos.values():
            assert info.keys() == keys
            assert info["action_mask"].dtype == code(said["action_mask"]["type"])
            assert info["action_mask"].shape == eval(code(said["action_mask"]["shape"]), {"rows": 3, "cols": 3})
            others = {key: f"`{type(info[key]).__name__}`" for key in keys - {"action_mask"}}
            assert others == {key: said[key]["type"] for key in others}
        for cell in cells:
            game.step(cell)


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="before 1.27 its own games are made in another way")
def test_what_differs_from_pettingzoos_own_game_is_as_its_table_says() -> None:
    said = table("pettingzoo", "Description", "")
    theirs = pettingzoo.make("aec", "classic/tictactoe_v3")
    ours = tictactoe_v0.env(rewards="sparse", perspective="mover")
    for column, game in (("here", ours), ("PettingZoo's `tictactoe_v3`", theirs)):
        game.reset()
        assert str(game.observe("player_1")["observation"].shape) in said["planes"][column]
        game.step(1)
        [place] = np.argwhere(game.observe("player_1")["observation"][..., -2]).tolist()
        row, col = reversed(place) if "columns first" in said["planes"][column] else place
        assert said["cells are counted"][column] == {(0, 1): "along the rows", (1, 0): "down the columns"}[row, col]
        game.step(1)
        assert said["a taken cell"][column].split(",")[0] == f"{game.rewards['player_2']:g}"
        mask = game.observe("player_1")["action_mask"].tolist()
        assert said["masks at the end"][column] == ("all ones" if all(mask) else "the cells that are still empty")
        assert mask == ([1] * 9 if all(mask) else [1, 0, *[1] * 7])


def test_the_functions_of_the_batch_are_those_of_its_page() -> None:
    public = [one for one in vars(batch).values() if inspect.isfunction(one) and one.__module__ == batch.__name__]
    signatures = set()
    for one in public:
        if not one.__name__.startswith(("_", "check_")):
            parts = [part.replace(annotation=part.empty) for part in inspect.signature(one).parameters.values()]
            signatures.add(f"{one.__name__}({', '.join(map(str, parts))})".replace("'", '"'))
    assert table("batch", "Functions", "function").keys() == signatures


def test_what_the_batch_holds_is_as_its_page_says() -> None:
    state = batch.reset(Rules(), 5, np)
    step = batch.step(Rules(), Rewards(), state, np.zeros(5, np.int64))
    for held in (state, step):
        said = table("batch", "What they hold", f"field of `{type(held).__name__}`")
        assert tuple(said) == held._fields
        for name, row in said.items():
            if name != "state":
                found = getattr(held, name)
                assert (found.shape, f"`{found.dtype}`") == ((5,), row["type"]), name
    outcome = section("batch", "What they hold").split("An `Outcome` holds")[1].split("which")[0]
    assert tuple(re.findall(r"`(\w+)`", outcome)) == batch.Outcome._fields
