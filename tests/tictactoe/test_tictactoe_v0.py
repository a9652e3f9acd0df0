"""The PettingZoo environment keeps PettingZoo's contract; `test_environments.py` plays games in it."""

from functools import partial
from typing import Any

import gymnasium
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel

from tictactoe import Rules, TicTacToeEnv, tictactoe_v0


@pytest.mark.parametrize(
    "settings", [{}, {"rows": 4, "cols": 5, "k": 4}, {"perspective": "mover", "rewards": "sparse"}]
)
# The test wants a plain observation or an environment from its own list, but PettingZoo's documentation wants
# the mask next to the observation, and zeros in it for the agent that is not to move.
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
def test_pettingzoos_own_tests_pass(settings: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    api_test(tictactoe_v0.env(**settings), num_cycles=200)
    seed_test(lambda: tictactoe_v0.env(**settings), num_cycles=100)
    parallel_api_test(turn_based_aec_to_parallel(tictactoe_v0.env(**settings)), num_cycles=200)
    parallel_seed_test(lambda: turn_based_aec_to_parallel(tictactoe_v0.env(**settings)), num_cycles=100)
    assert "Passed" in capsys.readouterr().out


def test_seats_that_take_turns_are_not_taken_for_parallel_ones() -> None:
    with pytest.raises(AssertionError):
        aec_to_parallel(tictactoe_v0.env())


def test_agents_share_no_space() -> None:
    game = tictactoe_v0.env()
    for space in (game.action_space, game.observation_space):  # it holds a generator
        assert space("player_1") is not space("player_2")


def test_calls_out_of_order_are_refused() -> None:
    game = tictactoe_v0.env()
    for call in (partial(game.step, 0), game.last, game.agent_iter, partial(game.observe, "player_1")):
        with pytest.raises(gymnasium.error.ResetNeeded):
            call()
    game.reset()
    for cell in (0, 3, 1, 4, 2):
        game.step(cell)
    with pytest.raises(ValueError, match="None"):
        game.step(5)
    game.step(None)
    assert game.last()[2]  # the other's turn to learn of it
    game.step(None)
    with pytest.raises(gymnasium.error.ResetNeeded):
        game.step(None)
    assert (list(game.agent_iter()), game.num_agents) == ([], 0)
    assert game.observe("player_2")["observation"][0, :, 1].tolist() == [1, 1, 1]
    game.reset()
    assert next(iter(game.agent_iter())) == "player_1"


def test_metadata_is_not_shared_with_another_environment() -> None:
    assert tictactoe_v0.raw_env.metadata["render_modes"] == TicTacToeEnv.metadata["render_modes"]
    assert tictactoe_v0.raw_env.metadata["render_modes"] is not TicTacToeEnv.metadata["render_modes"]


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has a registry since 1.27")
def test_pettingzoos_registry_knows_it() -> None:
    game = pettingzoo.make("aec", "tictactoe_v0", rules=Rules(4, 4, 4))
    game.reset()
    assert game.observe("player_1")["observation"].shape == (4, 4, 3)
