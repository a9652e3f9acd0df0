"""Both vector environments equal Gymnasium's vector of single ones at every ply, on every backend and in every mode."""

import random
import re
from collections import Counter
from dataclasses import asdict
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from tests.tictactoe.driver import (
    BOARDS,
    EXACT,
    SETTINGS,
    TURN,
    VERSUS,
    Drive,
    Opponent,
    assert_same,
    first_empty,
    last_empty_or_illegal,
    random_actions,
    random_boards,
)
from tictactoe import Rewards, Rules, TicTacToeVectorEnv, TicTacToeVersusVectorEnv
from tictactoe.gym import base_vector
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import PRESETS
from tictactoe.rules import WORD_BITS

DISABLED = AutoresetMode.DISABLED
NUMBER = 16
"""Number of boards of a vector."""
FRACTIONS = Rewards(**{name: value / 11 for name, value in asdict(EXACT).items()})
"""Rewards that single precision rounds."""


def on_both_backends(patched: pytest.MonkeyPatch, number: int, env_id: str, **settings: Any) -> list[Any]:
    """Return a vector with its own backend, a table on small boards, and one that computes every ply."""
    vectors = [gymnasium.make_vec(env_id, num_envs=number, **settings)]
    with patched.context() as changes:
        changes.setattr(base_vector, "TABLE_CELLS", 0)
        vectors.append(gymnasium.make_vec(env_id, num_envs=number, **settings))
    return vectors


def test_a_vector_names_gymnasiums_class_among_its_bases() -> None:
    for vector in (TicTacToeVectorEnv, TicTacToeVersusVectorEnv):  # skrl looks for it there
        assert VectorEnv in vector.__bases__


def compare(reference: Any, vectors: list[Any], mode: AutoresetMode, plies: int) -> int:
    """Play the same cells everywhere, compare all that is returned, and return how many games ended."""
    number, rng = reference.num_envs, np.random.default_rng(0)
    expected: Any = reference.reset(seed=0)
    returned: list[Any] = [vector.reset(seed=0) for vector in vectors]
    endings = 0
    for _ in range(plies):
        for one in returned:
            for ours, theirs in zip(one, expected, strict=True):
                assert_same(ours, theirs)
        info = returned[0][-1]
        over = expected[2] | expected[3] if len(expected) == 5 else np.zeros(number, bool)
        endings += over.sum()
        drawn = [re.sub("[() ]", "", board) for board in reference.render()]  # a vector shows no last move
        for vector in vectors:
            np.testing.assert_array_equal(vector.unwrapped.action_masks(), info["action_mask"])
            assert [board.replace(" ", "") for board in vector.render()] == drawn
        restarted = over if mode is DISABLED else rng.random(number) < 0.1
        if restarted.any() and (mode is DISABLED or rng.random() < 0.2):
            # Gymnasium's takes the mask out of the options that it is given.
            started = [env.reset(options={"reset_mask": restarted.copy()}) for env in (reference, *vectors)]
            for seen, about in started[1:]:
                # Ours tells of every board, Gymnasium's of those that it has started.
                for key, value in started[0][1].items():
                    np.testing.assert_array_equal(about[key][restarted], value[restarted])
                assert_same(seen, started[0][0])
            returned, expected = started[1:], started[1]
        else:
            # The action of a board on which a game begins is ignored, even if it is no cell.
            ignored = over & (mode is AutoresetMode.NEXT_STEP)
            actions = np.where(ignored, rng.integers(-99, 99, number), random_actions(info["action_mask"], rng))
            expected, *returned = [env.step(actions) for env in (reference, *vectors)]
    return endings


@pytest.mark.parametrize("number", range(2 * SETTINGS))
def test_vectors_equal_single_environments_and_ask_opponents_as_often(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their settings follow from the number."""
    choose, mode = random.Random(number).choice, list(AutoresetMode)[number % 3]
    opponent, versus = choose((first_empty, last_empty_or_illegal)), choose((False, True))
    settings = asdict(choose([rules for rules in BOARDS if rules.cells <= WORD_BITS and rules.k > 1])) | {
        "perspective": choose(("absolute", "mover")),
        "rewards": choose((*PRESETS, FRACTIONS)),
        "dict_observation": choose((False, True)),
        "max_episode_steps": choose((None, None, 2, 5)),
        "render_mode": "ansi",
    }
    if versus:
        settings["seat"] = choose((0, 1))
    env_id = VERSUS if versus else TURN
    single = SyncVectorEnv([lambda: gymnasium.make(env_id, **settings)] * NUMBER, autoreset_mode=mode)
    vectors = on_both_backends(monkeypatch, NUMBER, env_id, autoreset_mode=mode, **settings)
    asked: Counter[int] = Counter()

    def counted(asking: int) -> Opponent:
        def reply(observation: np.ndarray, action_mask: np.ndarray) -> Any:
            asked[asking] += action_mask.size
            return opponent(observation, action_mask)

        return reply

    for asking, envs in enumerate((single.envs, *zip(vectors)) if versus else ()):
        for env in envs:
            env.unwrapped.set_opponent(counted(asking))
    assert compare(single, vectors, mode, plies=60)
    # A board that is over is never shown to an opponent.
    assert asked[0] == asked[1] == asked[2]


@pytest.mark.parametrize("rules", [Rules(), Rules(3, 4, 3)], ids=str)
@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_each_chosen_board_starts_from_its_own_position(
    env_id: str, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Drive("versus", rules, "mover")
    boards = random_boards(played.book, 30)
    settings: dict[str, Any] = {**asdict(rules), "perspective": "mover"}
    single, *vectors = gymnasium.make(env_id, **settings), *on_both_backends(monkeypatch, 30, env_id, **settings)
    for env in (single, *vectors) if env_id == VERSUS else ():
        env.unwrapped.set_opponent(first_empty)
    chosen = np.arange(30) % 3 > 0
    position = np.array([played.book.one_hot(board, "mover") for board in boards])
    seats = np.array([played.seats(board)[-1 if env_id == VERSUS else 0] for board in boards])
    of_all = {"reset_mask": chosen, "position": position.copy(), "seat": seats}
    of_all["position"][~chosen] = 7  # nothing is asked of boards that start no game
    for vector in vectors:
        vector.reset()
        before, *_ = vector.step([4] * 30)
        seen, info = vector.reset(options=of_all)
        assert_same(seen[~chosen], before[~chosen])
        for board in np.flatnonzero(chosen):
            planes, about = single.reset(options={"position": position[board], "seat": seats[board]})
            assert_same(seen[board], planes)
            assert_same({key: info[key][board] for key in about}, about)


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("rules", [Rules(), Rules(2, 4, 2)], ids=str)
def test_built_in_opponents_play_the_same_games_on_both_backends(
    opponent: str, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = list(AutoresetMode)[(len(opponent) + rules.cols) % 3]
    settings = {**asdict(rules), "opponent": opponent, "seat": "random", "perspective": "mover", "render_mode": "ansi"}
    ours, theirs = on_both_backends(monkeypatch, 40, VERSUS, autoreset_mode=mode, **settings)
    assert compare(theirs, [ours], mode, plies=60)


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_there_is_no_step_and_no_picture_without_a_game(env_id: str) -> None:
    env: Any = gymnasium.make_vec(env_id, num_envs=2, autoreset_mode="Disabled", render_mode="ansi")
    assert env.unwrapped.action_masks().tolist() == [[1] * 9] * 2
    first, second = np.array([True, False]), np.array([False, True])
    for call in (env.render, lambda: env.step([0, 0]), lambda: env.reset(options={"reset_mask": first})):
        with pytest.raises(gymnasium.error.ResetNeeded):
            call()
    env.reset(seed=0)
    env.step([0, 0])
    env.step([0, 0])  # a taken cell
    for started in (first, second):
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step([1, 1])
        env.reset(options={"reset_mask": started})
    env.step([1, 1])


@pytest.mark.parametrize("mask", [[True, False], np.ones(2), np.ones(3, bool), np.zeros(2, bool)], ids=repr)
def test_a_wrong_reset_mask_is_refused(mask: Any) -> None:
    env = gymnasium.make_vec(TURN, num_envs=2)
    env.reset()
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("kind", [TicTacToeVectorEnv, TicTacToeVersusVectorEnv])
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"num_envs": 0}, "num_envs .* 0"),
        ({"autoreset_mode": "Never"}, "autoreset_mode 'Never'.*SameStep"),
        ({"max_episode_steps": 0}, "max_episode_steps .* 0"),
        ({"rows": 9, "cols": 9}, "81 cells"),
        ({"render_mode": "human"}, "render_mode 'human'.*ansi"),
    ],
)
def test_settings_that_do_not_exist_are_refused(kind: Any, settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        kind(**settings)


def test_seats_are_sampled_for_boards_that_start_alone() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=200, seat="random", autoreset_mode="SameStep")
    _, info = env.reset(seed=0)
    changed = 0
    for ply in range(12):
        before = env.unwrapped.seats
        if ply % 4 == 3:
            started = np.arange(200) % 3 == 0
            _, info = env.reset(options={"reset_mask": started})
        else:
            _, _, started, _, info = env.step(info["action_mask"].argmax(axis=1))
        after = env.unwrapped.seats
        np.testing.assert_array_equal(after[~started], before[~started])
        assert set(after.tolist()) == {0, 1}
        env.unwrapped.seats[:] = 7  # a copy
        changed += int((after != before).sum())
    assert changed > 50


def test_an_opponent_that_answers_no_cell_is_named_and_changes_nothing() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=20, seat="random", autoreset_mode="Disabled")
    env.reset(seed=0)
    before, seats = env.unwrapped.action_masks(), env.unwrapped.seats
    env.unwrapped.set_opponent(lambda observation, action_mask: np.full(len(observation), 9.5))  # noqa: ARG005
    for call in (env.reset, lambda: env.step(before.argmax(axis=1))):
        with pytest.raises(gymnasium.error.InvalidAction, match="opponent"):
            call()
        np.testing.assert_array_equal(env.unwrapped.action_masks(), before)
        np.testing.assert_array_equal(env.unwrapped.seats, seats)
