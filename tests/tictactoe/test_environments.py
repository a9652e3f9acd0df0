"""Every environment API follows the rule book in the games that `driver.py` plays, and keeps what all APIs promise."""

import inspect
from dataclasses import asdict, fields
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec

from tests.tictactoe.driver import APIS, SETTINGS, TURN, VERSUS, Drive, first_empty, play_sampled_games
from tests.tictactoe.rule_book import empty_cells
from tests.variants import InventedRules
from tictactoe import (
    Rewards,
    Rules,
    TicTacToeEnv,
    TicTacToeVectorEnv,
    TicTacToeVersusEnv,
    TicTacToeVersusVectorEnv,
    batch,
    tictactoe_v0,
)
from tictactoe.gym import base_vector, position_graph
from tictactoe.opponents import OPPONENTS


def test_every_action_in_every_state_follows_the_rule_book() -> None:
    played = Drive("turn", Rules(), "mover")
    boards = [board for board in played.book.histories() if not played.book.finished(board)]
    assert len(boards) == 4520
    for number, board in enumerate(boards):
        for cell in {*empty_cells(board), number % 9}:
            played.start(board)
            played.step(cell)


@pytest.mark.parametrize("number", range(SETTINGS))
@pytest.mark.parametrize("api", APIS)
def test_games_follow_the_rule_book(api: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if number % 2:  # games soon leave the positions that are kept, and no vector has a table
        monkeypatch.setattr(position_graph, "KEPT_POSITIONS", number)
        monkeypatch.setattr(base_vector, "TABLE_CELLS", 0)
        position_graph.position_graph.cache_clear()
    play_sampled_games(api, number, games=10)


SINGLE, MANY = (TicTacToeEnv, TicTacToeVersusEnv, tictactoe_v0.env), (TicTacToeVectorEnv, TicTacToeVersusVectorEnv)
CONSTRUCTORS = (*SINGLE, *MANY)
NO_CELLS = [9, -1, 10**30, 1.0, float("nan"), "1", None, np.array([1]), True, np.True_]
NO_CELLS += [torch.tensor(True), torch.tensor([[1]])]
NO_CELLS_OF_MANY = [np.zeros(2), np.zeros(2, bool), np.zeros(1, int), [0, 9], [0, -7], [0, 2**64 - 1], 4, None]


@pytest.mark.parametrize("make", CONSTRUCTORS)
def test_what_is_no_cell_is_refused_and_changes_nothing(make: Any) -> None:
    env = make(2, render_mode="ansi") if make in MANY else make(render_mode="ansi")
    env.reset(seed=5)
    env.step([4, 4] if make in MANY else 4)
    before = env.render()
    for action in NO_CELLS_OF_MANY if make in MANY else NO_CELLS:
        with pytest.raises(gymnasium.error.InvalidAction):
            env.step(action)
        assert env.render() == before


@pytest.mark.parametrize(
    ("env_id", "settings"),
    [(TURN, {"cols": 4, "perspective": "mover"}), (VERSUS, {"opponent": "heuristic", "rules": Rules(3, 4, 3)})],
    ids=str,
)
@pytest.mark.parametrize("make", [gymnasium.make, partial(gymnasium.make_vec, num_envs=2, autoreset_mode="SameStep")])
def test_a_specification_survives_json(make: Any, env_id: str, settings: dict[str, Any]) -> None:
    env = make(env_id, **settings, rewards=Rewards(illegal=2.5), dict_observation=True)

    def play(played: Any) -> str:
        actions = played.action_space.sample() * 0 + 4
        return str([played.reset(seed=3), played.step(actions), played.step(actions)])

    expected = play(env)
    if env_id == VERSUS:
        env.unwrapped.set_opponent(first_empty)
    spec: Any = EnvSpec.from_json(env.spec.to_json())
    assert play(spec.make() if make is gymnasium.make else gymnasium.make_vec(spec)) == expected
    assert "2.5" in expected


@pytest.mark.parametrize("make", CONSTRUCTORS)
def test_a_constructor_lists_the_settings_of_the_board_with_their_defaults(make: Any) -> None:
    listed = inspect.signature(make).parameters
    assert {field.name: listed[field.name].default for field in fields(Rules)} == asdict(Rules())


class Module:
    """What looks like a module of PyTorch, which takes no array."""

    __call__ = forward = print


OF_ALL: list[tuple[dict[str, Any], str]] = [
    ({"rows": 0}, "rows .* 0"),
    ({"k": 4}, "k=4 on a 3x3 board"),
    ({"rules": Rules(3, 4, 3), "cols": 4}, "rules"),
    ({"rules": (3, 4, 3)}, r"rules .*\(3, 4, 3\)"),
    ({"rewards": "sprase"}, r"'sprase'.* sparse\?"),
    ({"rewards": 1}, "rewards .* 1"),
    ({"perspective": "mine"}, "perspective 'mine'.*absolute, mover"),
    ({"render_mode": "braille"}, "render_mode 'braille'.*ansi"),
    ({"raws": 4}, "raws"),
    ({"rules": InventedRules(invented=True)}, "invented=True"),
]
OF_VERSUS: list[tuple[dict[str, Any], str]] = [
    ({"opponent": "me"}, f"opponent 'me'.*{', '.join(OPPONENTS)}"),
    ({"opponent": None}, "opponent None"),
    ({"opponent": Module()}, "opponent .*Module.*lambda"),
    ({"seat": 2}, "seat 2"),
    ({"seat": "first"}, "seat 'first'"),
    ({"opponent": "optimal", "rows": 5, "cols": 13}, "64 cells"),
    ({"seat": 1, "k": 1}, "seat=0"),
    ({"seat": "random", "k": 1}, "seat=0"),
]
OF_VECTOR: list[tuple[dict[str, Any], str]] = [
    ({"num_envs": 0}, "num_envs .* 0"),
    ({"autoreset_mode": "Never"}, "autoreset_mode 'Never'.*SameStep"),
    ({"max_episode_steps": 0}, "max_episode_steps .* 0"),
    ({"rows": 5, "cols": 13}, r"5x13 .*\b65\b"),
    ({"render_mode": "human"}, "render_mode 'human'.*ansi"),
]
BAD_SETTINGS: dict[Any, list[tuple[dict[str, Any], str]]] = {
    TicTacToeEnv: OF_ALL,
    TicTacToeVersusEnv: OF_ALL + OF_VERSUS,
    TicTacToeVectorEnv: OF_ALL + OF_VECTOR,
    TicTacToeVersusVectorEnv: OF_ALL + OF_VERSUS + OF_VECTOR,
    tictactoe_v0.env: [*OF_ALL, ({"dict_observation": False}, "dict_observation")],
    partial(batch.reset, num_boards=1, xp=np): [({"rules": Rules(5, 13, 5)}, r"5x13 .*\b65\b")],
}


@pytest.mark.parametrize(
    ("make", "keywords", "named"),
    [(make, *bad) for make, each in BAD_SETTINGS.items() for bad in each],
)
def test_a_bad_setting_is_named(make: Any, keywords: dict[str, Any], named: str) -> None:
    of_no_such_type = keywords in ({"raws": 4}, {"rewards": 1})
    with pytest.raises(TypeError if of_no_such_type else ValueError, match=named):
        make(**keywords)
