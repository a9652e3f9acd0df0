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
    EXACT,
    SETTINGS,
    TURN,
    VERSUS,
    WORD_BOARDS,
    Given,
    Opponent,
    assert_same,
    first_empty,
    last_empty_or_illegal,
    random_actions,
)
from tictactoe import Rewards, Rules, TicTacToeVectorEnv, TicTacToeVersusVectorEnv
from tictactoe.gym import base_vector
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import PRESETS

DISABLED = AutoresetMode.DISABLED
NUMBER = 16
"""Number of boards of a vector."""
FRACTIONS = Rewards(**{name: value / 11 for name, value in asdict(EXACT).items()})
"""Rewards that single precision rounds."""


def on_both_backends(patched: pytest.MonkeyPatch, env_id: str, **settings: Any) -> list[Any]:
    """Return a vector with its own backend, a table on small boards, and one that computes every ply."""
    vectors = [gymnasium.make_vec(env_id, num_envs=NUMBER, **settings)]
    with patched.context() as changes:
        changes.setattr(base_vector, "TABLE_CELLS", 0)
        vectors.append(gymnasium.make_vec(env_id, num_envs=NUMBER, **settings))
    return vectors


@pytest.mark.parametrize("kind", [TicTacToeVectorEnv, TicTacToeVersusVectorEnv])
def test_a_vector_names_gymnasiums_class_among_its_bases(kind: type) -> None:
    assert VectorEnv in kind.__bases__  # skrl looks for it there


def compare(reference: Any, vectors: list[Any], mode: AutoresetMode) -> int:
    """Play the same cells everywhere, compare all that is returned, and return how many games ended."""
    rng, given = np.random.default_rng(0), Given()
    expected: Any = reference.reset(seed=0)
    returned: list[Any] = [vector.reset(seed=0) for vector in vectors]
    endings = 0
    for _ in range(60):
        mask = expected[-1]["action_mask"].copy()
        for one in returned:
            for ours, theirs in zip(one, expected, strict=True):
                assert_same(ours, theirs)
        over = expected[2] | expected[3] if len(expected) == 5 else np.zeros(NUMBER, bool)
        endings += over.sum()
        drawn = [re.sub("[() ]", "", board) for board in reference.render()]  # a vector shows no last move
        for vector in vectors:
            np.testing.assert_array_equal(vector.unwrapped.action_masks(), mask)
            assert [board.replace(" ", "") for board in vector.render()] == drawn
        given.spoil(tuple(returned))
        restarted = over if mode is DISABLED else rng.random(NUMBER) < 0.1
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
            actions = np.where(ignored, rng.integers(-99, 99, NUMBER), random_actions(mask, rng))
            expected, *returned = [env.step(actions) for env in (reference, *vectors)]
    return endings


@pytest.mark.parametrize("number", range(2 * SETTINGS))
def test_vectors_equal_single_environments_and_ask_opponents_as_often(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their settings follow from the number."""
    choose, mode = random.Random(number).choice, list(AutoresetMode)[number % 3]
    opponent, env_id = choose((first_empty, last_empty_or_illegal)), choose((TURN, VERSUS))
    settings = asdict(choose([rules for rules in WORD_BOARDS if rules.k > 1])) | {
        "perspective": choose(("absolute", "mover")),
        "rewards": choose((*PRESETS, FRACTIONS)),
        "dict_observation": choose((False, True)),
        "max_episode_steps": choose((None, None, 2, 5)),
        "render_mode": "ansi",
    }
    if env_id == VERSUS:
        settings["seat"] = choose((0, 1))
    single = SyncVectorEnv([lambda: gymnasium.make(env_id, **settings)] * NUMBER, autoreset_mode=mode)
    vectors = on_both_backends(monkeypatch, env_id, autoreset_mode=mode, **settings)
    asked: Counter[int] = Counter()

    def counted(asking: int) -> Opponent:
        def reply(observation: np.ndarray, action_mask: np.ndarray) -> Any:
            asked[asking] += action_mask.size
            return opponent(observation, action_mask)

        return reply

    for asking, envs in enumerate((single.envs, *zip(vectors)) if env_id == VERSUS else ()):
        for env in envs:
            env.unwrapped.set_opponent(counted(asking))
    assert compare(single, vectors, mode)
    # A board that is over is never shown to an opponent.
    assert asked[0] == asked[1] == asked[2]


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("rules", [Rules(), Rules(2, 4, 2)], ids=str)
def test_built_in_opponents_play_the_same_games_on_both_backends(
    opponent: str, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = list(AutoresetMode)[(len(opponent) + rules.cols) % 3]
    settings = {**asdict(rules), "opponent": opponent, "seat": "random", "perspective": "mover", "render_mode": "ansi"}
    ours, theirs = on_both_backends(monkeypatch, VERSUS, autoreset_mode=mode, **settings)
    assert compare(theirs, [ours], mode)


def test_there_is_no_step_and_no_picture_without_a_game() -> None:
    env: Any = gymnasium.make_vec(TURN, num_envs=2, autoreset_mode="Disabled", render_mode="ansi")
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


def test_seats_are_sampled_for_boards_that_start_alone() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=200, seat="random", autoreset_mode="SameStep")
    _, info = env.reset(seed=0)
    started = np.arange(200) % 3 == 0
    for _ in range(12):
        before = env.unwrapped.seats
        _, _, ended, _, info = env.step(info["action_mask"].argmax(axis=1))
        between = env.unwrapped.seats
        assert set(between[ended]) <= {0, 1}
        np.testing.assert_array_equal(between[~ended], before[~ended])
        _, info = env.reset(options={"reset_mask": started})
        after = env.unwrapped.seats
        np.testing.assert_array_equal(after[~started], between[~started])
        assert set(after[started]) == {0, 1}
        env.unwrapped.seats[:] = 7  # a copy
