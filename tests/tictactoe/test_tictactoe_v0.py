"""The PettingZoo view keeps PettingZoo's contract; `test_faces.py` plays games in it beside the others."""

from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test

from tictactoe import tictactoe_v0

WIN_OF_X = [0, 3, 1, 4, 2]
DRAW = [0, 1, 2, 4, 3, 5, 7, 6, 8]


def played(cells: list[int], **settings: Any) -> Any:
    game = tictactoe_v0.env(**settings)
    game.reset()
    for cell in cells:
        game.step(cell)
    return game


@pytest.mark.parametrize(
    "settings", [{}, {"rows": 4, "cols": 5, "k": 4}, {"perspective": "mover", "rewards": "sparse"}]
)
@pytest.mark.parametrize("make", [tictactoe_v0.env, tictactoe_v0.raw_env])
# The test wants a plain observation or an environment from its own list, but PettingZoo's documentation wants
# the mask beside the observation, and zeros in it for the agent that is not to move.
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
def test_pettingzoos_own_tests_pass(make: Any, settings: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    api_test(make(**settings), num_cycles=200)
    seed_test(lambda: make(**settings), num_cycles=100)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cells", "rewards", "first", "second"),
    [
        (WIN_OF_X, "shaped", 1.0, -1.0),  # the -1 for allowing the line, and nothing more for losing
        (WIN_OF_X, "sparse", 1.0, -1.0),
        (DRAW, "shaped", 0.0, 0.0),
        (DRAW, "article", 1.0, 0.0),
        ([4, 4], "shaped", 0.0, -10.0),
        ([4, 0, 4], "sparse", -10.0, 0.0),
    ],
)
def test_last_tells_each_seat_what_it_got_at_the_end(
    cells: list[int], rewards: str, first: float, second: float
) -> None:
    game = played(cells, rewards=rewards)
    found = {}
    for agent in game.agent_iter():
        _, reward, terminated, _, _ = game.last()
        assert terminated
        found[agent] = reward
        game.step(None)
    assert found == {"player_1": first, "player_2": second}
    assert game.agents == []


def test_only_the_selected_agents_mask_shows_the_empty_cells_until_the_game_is_over() -> None:
    game = played([0])
    assert game.observe("player_2")["action_mask"].tolist() == [0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert game.observe("player_1")["action_mask"].tolist() == [0] * 9
    over = played(WIN_OF_X)
    for agent in tictactoe_v0.AGENTS:
        assert over.observe(agent)["action_mask"].tolist() == [1] * 9
        assert over.observe(agent)["action_mask"].dtype == np.int8


def test_each_agent_sees_its_own_marks_in_plane_1_of_the_mover_perspective() -> None:
    game = played([0], perspective="mover")
    assert game.observe("player_1")["observation"][0, 0].tolist() == [0, 1, 0]
    assert game.observe("player_2")["observation"][0, 0].tolist() == [0, 0, 1]


@pytest.mark.parametrize("make", [tictactoe_v0.env, tictactoe_v0.raw_env])
def test_calls_out_of_order_are_refused(make: Any) -> None:
    game = make()
    for call in (lambda: game.step(0), game.agent_iter, lambda: game.observe("player_1"), game.last):
        with pytest.raises((gymnasium.error.ResetNeeded, AttributeError), match=r"reset\(\)"):
            call()
    for name in ("rewards", "infos", "terminations", "truncations"):
        with pytest.raises(AttributeError, match=rf"{name} cannot be read before reset\(\)"):
            getattr(game, name)
    game.reset()
    turns = iter(game.agent_iter())
    assert next(turns) == "player_1"
    with pytest.raises(RuntimeError, match="call step"):
        next(turns)
    for cell in WIN_OF_X:
        game.step(cell)
    with pytest.raises(ValueError, match="the only valid action is None"):
        game.step(5)
    game.step(None)
    game.step(None)
    with pytest.raises(gymnasium.error.ResetNeeded):
        game.step(None)
    assert list(game.agent_iter()) == []
    game.reset()
    assert next(iter(game.agent_iter())) == "player_1"


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has a registry since 1.27")
def test_pettingzoos_registry_knows_it() -> None:
    game = pettingzoo.make("aec", "tictactoe_v0", rows=4, cols=4, k=4)
    game.reset()
    assert game.observe("player_1")["observation"].shape == (4, 4, 3)


def test_an_unknown_agent_is_named() -> None:
    with pytest.raises(ValueError, match="unknown agent 'player_3': choose from player_1, player_2"):
        played([]).observe("player_3")


def test_the_mask_is_always_in_the_observation() -> None:
    assert set(played([], dict_observation=True).observe("player_1")) == {"observation", "action_mask"}
    with pytest.raises(ValueError, match="dict_observation must be True"):
        tictactoe_v0.env(dict_observation=False)
