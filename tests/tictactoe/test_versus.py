"""The versus view plays the turn view's games with the opponent's plies inside."""

import warnings
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from tests.tictactoe.shared import TURN, VERSUS, assert_same, sized
from tictactoe import Rewards, Rules, TicTacToeEnv, TicTacToeVersusEnv
from tictactoe.opponents import OPPONENTS


def scripted(*cells: int) -> Any:
    """Return an opponent that plays these cells in turn."""
    moves = iter(cells)
    return lambda *_: next(moves)


def versus(*replies: int, **settings: Any) -> TicTacToeVersusEnv:
    game = TicTacToeVersusEnv(**settings)
    game.set_opponent(scripted(*replies))
    return game


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_gymnasiums_checker_passes(opponent: str, seat: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The checker wants an environment made from its spec to try the render modes; that is done below.
        check_env(TicTacToeVersusEnv(opponent, seat), skip_render_check=True)


@pytest.mark.parametrize("perspective", ["absolute", "mover"])
@pytest.mark.parametrize("rewards", ["shaped", "article", "sparse", Rewards(win=2.5, loss=-0.3)], ids=str)
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("size", [(3, 4, 3), (1, 5, 2), (8, 8, 5)], ids=str)
def test_it_agrees_with_the_turn_view_at_every_step(
    size: tuple[int, int, int], seat: int, rewards: str | Rewards, perspective: str
) -> None:
    drawn = np.random.default_rng(3)
    turn = TicTacToeEnv(*size, rewards, perspective)
    game = TicTacToeVersusEnv("random", seat, **sized(size), rewards=rewards, perspective=perspective)
    replies: list[int] = []

    def opponent(observation: Any, mask: Any) -> int:
        assert np.array_equal(observation, turn.observe(1 - seat))
        taken = np.flatnonzero(mask == 0)
        cells = taken if len(taken) and drawn.random() < 0.05 else np.flatnonzero(mask)
        replies.append(int(drawn.choice(cells)))
        return replies[-1]

    game.set_opponent(opponent)
    endings: Counter[tuple[int, bool]] = Counter()
    for _ in range(1_800 // turn.rules.cells):
        _, info = turn.reset()
        replies.clear()
        observation, shown = game.reset()
        terminated = False
        if seat == 1:
            _, _, _, _, info = turn.step(replies.pop())
        while not terminated:
            assert np.array_equal(observation, turn.observe(seat))
            assert_same(shown, info)
            assert np.array_equal(game.action_masks(), info["action_mask"])
            assert shown["to_play"] == game.seat == seat
            action = int(drawn.choice(np.flatnonzero(info["action_mask"]))) if drawn.random() < 0.95 else 0
            _, expected, over, _, info = turn.step(action)
            observation, reward, terminated, truncated, shown = game.step(action)
            assert len(replies) == (not over)
            if replies:
                _, _, over, _, info = turn.step(replies.pop())
                expected += turn.rewards.loss if over and info["winner"] == 1 - seat else 0.0
            assert (reward, terminated, truncated) == (expected, over, False)
            assert type(reward) is float
        assert np.array_equal(observation, turn.observe(seat))
        assert_same(shown, info)
        endings[int(info["winner"]), bool(info["illegal"])] += 1
    assert len(endings) == 5 or size != (3, 4, 3)  # a line or a taken cell by either seat, and a draw


def test_a_random_seat_is_drawn_for_each_game_from_the_environments_generator() -> None:
    def seats(seed: int) -> list[int]:
        game = TicTacToeVersusEnv(seat="random")
        game.reset(seed=seed)
        found = []
        for _ in range(200):
            game.reset()
            found.append(game.seat)
        return found

    assert seats(1) == seats(1)
    assert seats(1) != seats(2)
    assert 70 < sum(seats(1)) < 130


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_the_same_seed_gives_the_same_games(opponent: str) -> None:
    def boards(seed: int) -> list[bytes]:
        game = TicTacToeVersusEnv(opponent, 1)
        found = []
        for number in range(30):
            observation, _ = game.reset(seed=seed if number == 0 else None)
            found.append(observation.tobytes())
            found.append(game.step(int(np.flatnonzero(game.action_masks())[0]))[0].tobytes())
        return found

    assert boards(4) == boards(4)
    assert boards(4) != boards(5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opponent": "perfect"}, "unknown opponent 'perfect': choose from random, heuristic, rule, optimal"),
        ({"seat": 2}, "unknown seat 2: choose 0, 1 or 'random'"),
        ({"opponent": "optimal", "rows": 5, "cols": 13}, "up to 64 cells"),
        ({"rewards": "none"}, "unknown rewards 'none'"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is checked below)
        TicTacToeVersusEnv(**settings)
    assert message in str(caught.value)


def test_an_unknown_opponent_leaves_the_old_one() -> None:
    game = versus(8)
    with pytest.raises(ValueError, match=r"unknown opponent 'nobody'"):
        game.set_opponent("nobody")
    game.reset()
    assert game.step(0)[0][2, 2].tolist() == [0, 0, 1]


@pytest.mark.parametrize("action", [9, -1, 1.5, "4", None, True, np.array([0])], ids=repr)
def test_what_is_no_cell_changes_nothing_and_asks_no_reply(action: Any) -> None:
    game = versus()
    game.reset()
    with pytest.raises(gymnasium.error.InvalidAction):
        game.step(action)
    assert game.action_masks().tolist() == [1] * 9


@pytest.mark.parametrize(("env_id", "own"), [(TURN, {}), (VERSUS, {"opponent": "heuristic", "seat": "random"})])
def test_a_specification_survives_json(env_id: str, own: dict[str, Any]) -> None:
    settings = {**own, "rewards": Rewards(win=2.5, draw=0.5), "dict_observation": True, "render_mode": "ansi"}
    env = gymnasium.make(env_id, rows=np.int64(3), cols=4, k=3, **settings)
    assert env.spec is not None
    spec = EnvSpec.from_json(env.spec.to_json())
    assert spec.kwargs.keys() == {"rows", "cols", "k", *settings}
    again = spec.make()
    assert again.observation_space == env.observation_space
    game: Any = getattr(again.unwrapped, "game", again.unwrapped)
    assert game.rewards == Rewards(win=2.5, draw=0.5)
    assert game.rules == Rules(3, 4, 3)
    drawings: list[Any] = []
    for made in (env, again):
        made.reset(seed=3)
        made.step(4)
        drawings.append(made.render())
    assert isinstance(drawings[0], str)
    assert drawings[0] == drawings[1]


def test_a_live_opponent_never_hides_in_the_specification() -> None:
    env = gymnasium.make("tictactoe:TicTacToeVersus-v0", opponent="heuristic")
    before = env.spec.to_json()  # type: ignore[union-attr]
    env.unwrapped.set_opponent(scripted())  # type: ignore[attr-defined]
    assert env.spec.to_json() == before  # type: ignore[union-attr]
    with pytest.raises(TypeError, match=r"pass a function to set_opponent\(\) instead"):
        gymnasium.make("tictactoe:TicTacToeVersus-v0", opponent=scripted())


@pytest.mark.parametrize("answer", [1.5, None, 9, "centre"])
def test_an_opponent_that_answers_no_cell_ends_the_game(answer: Any) -> None:
    game = TicTacToeVersusEnv()
    game.reset(seed=0)
    game.set_opponent(lambda *_: answer)
    with pytest.raises(gymnasium.error.InvalidAction, match="the opponent's action must be an integer from 0 to 8"):
        game.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):  # or the agent would move in the opponent's place
        game.step(1)


def test_an_opponent_that_fails_ends_the_game_and_is_heard() -> None:
    game = TicTacToeVersusEnv()
    game.reset(seed=0)
    game.set_opponent(scripted())
    with pytest.raises(StopIteration):
        game.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        game.step(1)


@pytest.mark.parametrize("seat", [1, "random"])
def test_a_game_that_the_first_move_wins_leaves_no_second_seat(seat: Any) -> None:
    with pytest.raises(ValueError, match="with k=1 the first move wins: seat must be 0"):
        TicTacToeVersusEnv(seat=seat, k=1)
    with pytest.raises(ValueError, match="with k=1 the first move wins: seat must be 0"):
        gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", num_envs=2, seat=seat, k=1)


@pytest.mark.parametrize("seat", [-1, 1.0, True, "first", None, np.array([0, 1])], ids=repr)
def test_a_seat_that_does_not_exist_is_refused(seat: Any) -> None:
    with pytest.raises(ValueError, match="unknown seat"):
        TicTacToeVersusEnv(seat=seat)


@pytest.mark.parametrize("opponent", [[1], None, "minimax"], ids=repr)
def test_an_opponent_that_does_not_exist_is_refused(opponent: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown opponent .*: choose from random, heuristic, rule, optimal"):
        TicTacToeVersusEnv().set_opponent(opponent)
