"""Every environment API follows the rule book in the games that `driver.py` plays, and keeps what all APIs promise."""

import copy
import functools
import inspect
import pickle
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec

from tests.tictactoe.driver import SETTINGS, TURN, VERSUS, Drive, first_empty, play_sampled_games
from tests.tictactoe.rule_book import empty_cells
from tests.variants import InventedRules
from tictactoe import (
    Rewards,
    Rules,
    TicTacToeEnv,
    TicTacToeVectorEnv,
    TicTacToeVersusEnv,
    TicTacToeVersusVectorEnv,
    tictactoe_v0,
)
from tictactoe.gym import position_graph

CONSTRUCTORS = [TicTacToeEnv, TicTacToeVersusEnv, tictactoe_v0.env, TicTacToeVectorEnv, TicTacToeVersusVectorEnv]


def test_every_action_in_every_state_follows_the_rule_book() -> None:
    played = Drive("turn", Rules(), "mover")
    boards = [board for board in played.book.histories() if not played.book.finished(board)]
    assert len(boards) == 4520
    for number, board in enumerate(boards):
        for cell in {*empty_cells(board), number % 9}:
            played.start(board)
            played.step(cell)


@pytest.mark.parametrize("number", range(SETTINGS))
@pytest.mark.parametrize("api", ["turn", "PettingZoo", "versus"])
def test_games_follow_the_rule_book(api: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if number % 2:  # games soon leave the positions that are kept
        monkeypatch.setattr(position_graph, "KEPT_POSITIONS", number)
        position_graph.position_graph.cache_clear()
    play_sampled_games(api, number, games=20)


@pytest.mark.parametrize("kept", [1, 20_000])
def test_a_copy_of_an_environment_continues_by_itself(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position_graph, "KEPT_POSITIONS", kept)
    position_graph.position_graph.cache_clear()
    env = gymnasium.make(TURN)
    env.reset()
    env.step(4)
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        observation, *_ = copied.step(0)
        assert observation.argmax(axis=-1).ravel().tolist() == [2, 0, 0, 0, 1, 0, 0, 0, 0]
    assert env.step(8)[0].argmax(axis=-1).ravel().tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 2]


NO_CELLS = [9, -1, 10**30, 1.0, float("nan"), "1", None, np.array([1]), True, np.True_]
NO_CELLS += [torch.tensor(True), torch.tensor([[1]])]
NO_CELLS_OF_MANY = [np.zeros(2), np.zeros(2, bool), np.zeros(1, int), [0, 9], [0, -7], [0, 2**64 - 1], 4, None]
ONE, MANY = gymnasium.make, functools.partial(gymnasium.make_vec, num_envs=2)


def pettingzoo_env(_: str, **settings: Any) -> Any:
    return tictactoe_v0.env(**settings)


@pytest.mark.parametrize(
    ("make", "env_id"), [(ONE, TURN), (ONE, VERSUS), (MANY, TURN), (MANY, VERSUS), (pettingzoo_env, "PettingZoo")]
)
def test_what_is_no_cell_is_refused_and_changes_nothing(make: Any, env_id: str) -> None:
    env = make(env_id, render_mode="ansi")
    env.reset(seed=5)
    env.step([4, 4] if make is MANY else 4)
    before = env.render()
    for action in NO_CELLS_OF_MANY if make is MANY else NO_CELLS:
        with pytest.raises(gymnasium.error.InvalidAction):
            env.step(action)
        assert env.render() == before


@pytest.mark.parametrize("make", [ONE, MANY])
@pytest.mark.parametrize("board", [{"cols": 4, "k": 3}, {"rules": Rules(3, 4, 3)}], ids=str)
@pytest.mark.parametrize(("env_id", "own"), [(TURN, {}), (VERSUS, {"opponent": "heuristic", "seat": "random"})])
def test_a_specification_survives_json(make: Any, env_id: str, own: dict[str, Any], board: dict[str, Any]) -> None:
    settings = {**own, "rewards": Rewards(illegal=2.5), "dict_observation": True, "render_mode": "ansi"}
    mode = {"autoreset_mode": "SameStep"} if make is MANY else {}
    env = make(env_id, **board, **settings, **mode)
    assert env.observation_space["observation"].shape[-3:] == (3, 4, 3)

    def play(played: Any) -> list[str]:
        played.reset(seed=3)
        returned = [played.step([4, 4] if make is MANY else 4) for _ in range(2)]
        return [str(returned), played.render()]

    expected = play(env)
    if env_id == VERSUS:
        env.unwrapped.set_opponent(first_empty)
    spec = EnvSpec.from_json(env.spec.to_json())
    again: Any = gymnasium.make_vec(spec) if make is MANY else spec.make()
    assert play(again) == expected
    assert "2.5" in expected[0]


@pytest.mark.parametrize("make", CONSTRUCTORS)
def test_a_constructor_lists_the_settings_of_the_board_with_their_defaults(make: Any) -> None:
    listed = inspect.signature(make).parameters
    assert {field.name: listed[field.name].default for field in fields(Rules)} == asdict(Rules())


@pytest.mark.parametrize(
    ("keywords", "error", "named"),
    [
        ({"rows": 0}, ValueError, "rows .* 0"),
        ({"k": 4}, ValueError, "k=4 on a 3x3 board"),
        ({"rules": Rules(3, 4, 3), "cols": 4}, ValueError, "rules"),
        ({"rules": (3, 4, 3)}, ValueError, r"rules .*\(3, 4, 3\)"),
        ({"rewards": "sprase"}, ValueError, r"'sprase'.* sparse\?"),
        ({"rewards": 1}, TypeError, "rewards .* 1"),
        ({"perspective": "mine"}, ValueError, "perspective 'mine'.*absolute, mover"),
        ({"render_mode": "braille"}, ValueError, "render_mode 'braille'.*ansi"),
        ({"raws": 4}, TypeError, "raws"),
        ({"rules": InventedRules(invented=True)}, ValueError, "invented=True"),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", CONSTRUCTORS)
def test_a_bad_setting_is_named(make: Any, keywords: dict[str, Any], error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        make(**keywords)


def arrays_in(part: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in what an environment returns, final observations among them."""
    if isinstance(part, np.ndarray) and part.dtype != object:
        yield part
    elif isinstance(part, tuple | dict | np.ndarray):
        for one in part.values() if isinstance(part, dict) else part:
            yield from arrays_in(one)


@pytest.mark.parametrize("board", [{}, {"cols": 4}], ids=["table", "computed"])
@pytest.mark.parametrize("settings", [{}, {"perspective": "mover", "dict_observation": True}], ids=str)
@pytest.mark.parametrize("env_id", [TURN, VERSUS])
@pytest.mark.parametrize("mode", [None, "NextStep", "SameStep"])
def test_arrays_are_fresh_at_every_call_and_writing_into_them_changes_no_game(
    mode: str | None, env_id: str, settings: dict[str, Any], board: dict[str, Any]
) -> None:
    settings = {**settings, **board}
    env: Any = MANY(env_id, autoreset_mode=mode, **settings) if mode else ONE(env_id, **settings)
    given = []
    games = []
    for writes in (False, True, True):  # the second time shows what the first has written into an environment's tables
        returned, game = env.reset(seed=0), []
        for _ in range(9):
            action = returned[-1]["action_mask"].argmax(axis=-1)
            arrays = list(arrays_in((*returned, env.unwrapped.action_masks())))
            game += [array.tolist() for array in arrays]
            given += arrays
            for array in arrays if writes else []:
                array[...] = 1
            if not mode and returned[2:] and returned[2]:
                break
            returned = env.step(action)
        games.append(str(game))
    assert games[0] == games[1] == games[2]
    for number, array in enumerate(given):
        assert not any(np.may_share_memory(array, other) for other in given[:number])
