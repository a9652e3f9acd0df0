"""Compare both vector environments with Gymnasium's vector of single ones, at every ply and in every mode."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import FlattenObservation

from tests.tictactoe.shared import TURN, VERSUS, assert_same, random_actions, sized
from tictactoe import Rewards
from tictactoe.rewards import PRESETS

NUM_ENVS = 16
# Boards that are looked up in a table, and boards that are computed, one of them of exactly 64 cells.
BOARDS = [(3, 3, 3), (1, 1, 1), (1, 4, 2), (3, 4, 3), (4, 4, 4), (7, 7, 5), (8, 8, 5)]


def first_empty(observation: np.ndarray, action_mask: np.ndarray) -> Any:  # noqa: ARG001 (an opponent's signature)
    """Play the first empty cell, on one board or on many."""
    return action_mask.argmax(axis=-1)


def last_empty_or_illegal(observation: np.ndarray, action_mask: np.ndarray) -> Any:
    """Play the last empty cell, but a taken one as soon as the first cell is X's."""
    last = action_mask.shape[-1] - 1 - action_mask[..., ::-1].argmax(axis=-1)
    return np.where(observation[..., 0, 0, 1] == 1, 0, last)


def make_both(env_id: str, mode: AutoresetMode, opponent: Callable[..., Any], **settings: Any) -> tuple[Any, VectorEnv]:
    plain = SyncVectorEnv([lambda: gymnasium.make(env_id, **settings)] * NUM_ENVS, autoreset_mode=mode)
    vector = gymnasium.make_vec(env_id, num_envs=NUM_ENVS, autoreset_mode=mode, **settings)
    if env_id == VERSUS:
        vector.unwrapped.set_opponent(opponent)  # type: ignore[attr-defined]
        for env in plain.envs:
            env.unwrapped.set_opponent(lambda *seen: int(opponent(*seen)))  # type: ignore[attr-defined]
    return plain, vector


def compare_games(
    env_id: str, mode: AutoresetMode, opponent: Callable[..., Any], **settings: Any
) -> set[tuple[int, bool]]:
    plain, vector = make_both(env_id, mode, opponent, **settings)
    rng = np.random.default_rng(0)
    theirs: Any = plain.reset(seed=0)
    ours: Any = vector.reset(seed=0)
    endings: set[tuple[int, bool]] = set()
    for _ in range(30 + vector.single_action_space.n):  # type: ignore[attr-defined]
        for our_part, their_part in zip(ours, theirs, strict=True):
            assert_same(our_part, their_part)
        mask = ours[-1]["action_mask"]
        np.testing.assert_array_equal(vector.unwrapped.action_masks(), mask)  # type: ignore[attr-defined]
        over = np.zeros(NUM_ENVS, bool)
        if len(ours) == 5:
            over = ours[2] | ours[3]
            ending = ours[-1].get("final_info", ours[-1])
        if len(ours) == 5 and over.any():
            endings |= set(zip(ending["winner"][over].tolist(), ending["illegal"][over].tolist(), strict=True))
        restarted = over if mode is AutoresetMode.DISABLED else rng.random(NUM_ENVS) < 0.1
        if restarted.any() and (mode is AutoresetMode.DISABLED or rng.random() < 0.2):
            # Gymnasium's takes the mask out of the options that it is given.
            theirs, ours = (env.reset(options={"reset_mask": restarted.copy()}) for env in (plain, vector))
            # Ours tells of every board, theirs of those that it has started.
            for key in theirs[1]:
                np.testing.assert_array_equal(ours[1][key][restarted], theirs[1][key][restarted])
            theirs = theirs[0], ours[1]
        else:
            actions = random_actions(mask, rng)
            theirs, ours = plain.step(actions), vector.step(actions)
    return endings


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("size", BOARDS, ids=str)
@pytest.mark.parametrize("perspective", ["absolute", "mover"])
def test_turn_view_equals_single_environments(size: tuple[int, ...], mode: AutoresetMode, perspective: str) -> None:
    endings = compare_games(TURN, mode, first_empty, **sized(size), perspective=perspective)
    if size == (3, 3, 3):
        assert endings >= {(0, False), (1, False), (0, True), (1, True)}


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("opponent", [first_empty, last_empty_or_illegal])
@pytest.mark.parametrize("size", [(3, 3, 3), (3, 4, 3), (8, 8, 5)], ids=str)
@pytest.mark.parametrize(("seat", "perspective"), [(0, "absolute"), (1, "mover"), (1, "absolute")])
def test_versus_view_equals_single_environments(
    size: tuple[int, ...], opponent: Callable[..., Any], mode: AutoresetMode, seat: int, perspective: str
) -> None:
    settings = {**sized(size), "seat": seat, "perspective": perspective, "rewards": "sparse"}
    endings = compare_games(VERSUS, mode, opponent, **settings)
    assert (seat, True) not in endings or opponent is last_empty_or_illegal
    assert (1 - seat, True) in endings


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
@pytest.mark.parametrize("rewards", [*PRESETS, Rewards(win=0.1, illegal=-0.3, allow=-0.7, draw=0.9, loss=-1.1)])
def test_rewards_are_those_of_single_environments_to_the_last_bit(env_id: str, rewards: str | Rewards) -> None:
    compare_games(env_id, AutoresetMode.NEXT_STEP, first_empty, rewards=rewards)


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_dict_observations_are_those_of_single_environments(env_id: str, mode: AutoresetMode) -> None:
    compare_games(env_id, mode, first_empty, dict_observation=True)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("size", [(3, 3, 3), (3, 4, 3)], ids=str)
@pytest.mark.parametrize(("env_id", "limit"), [(TURN, 5), (VERSUS, 2)])
def test_a_limit_of_steps_is_that_of_single_environments(
    env_id: str, limit: int, size: tuple[int, ...], mode: AutoresetMode
) -> None:
    settings = {**sized(size), "max_episode_steps": limit}
    compare_games(env_id, mode, first_empty, **settings)
    compare_games(env_id, mode, first_empty, **settings, dict_observation=True, perspective="mover")
    env = gymnasium.make_vec(env_id, num_envs=2, autoreset_mode=mode, **settings)
    _, info = env.reset(seed=0)
    truncated = []
    for _ in range(limit):
        _, _, _, now, info = env.step(info["action_mask"].argmax(axis=1))
        truncated.append(bool(now.any()))
    assert truncated == [False] * (limit - 1) + [True]


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_gymnasiums_flattening_gives_27_numbers_a_board(env_id: str) -> None:
    env = FlattenObservation(gymnasium.make_vec(env_id, num_envs=4))
    plain = gymnasium.make_vec(env_id, num_envs=4)
    (flat, info), (planes, _) = env.reset(seed=0), plain.reset(seed=0)
    for _ in range(12):
        np.testing.assert_array_equal(flat, planes.reshape(4, 27))
        actions = info["action_mask"].argmax(axis=1)
        (flat, *_, info), (planes, *_) = env.step(actions), plain.step(actions)


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
@pytest.mark.parametrize("mode", AutoresetMode)
def test_mode_is_announced_where_frameworks_look(env_id: str, mode: AutoresetMode) -> None:
    for asked in (mode, mode.value, mode.name, mode.name.lower()):
        env = gymnasium.make_vec(env_id, num_envs=2, autoreset_mode=asked)
        assert env.metadata["autoreset_mode"] is mode
        assert env.unwrapped.autoreset_mode is mode  # type: ignore[attr-defined]


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_spaces_hold_what_is_handed_out(env_id: str) -> None:
    env = gymnasium.make_vec(env_id, num_envs=3, dict_observation=True)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert env.action_space.shape == (3,)
    assert env.single_observation_space["observation"].shape == (3, 3, 3)  # type: ignore[index]


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
@pytest.mark.parametrize("size", [(3, 3, 3), (3, 4, 3)], ids=str)
def test_arrays_are_fresh_at_every_call(env_id: str, size: tuple[int, ...]) -> None:
    env = gymnasium.make_vec(env_id, num_envs=2, **sized(size))
    observation, info = env.reset(seed=0)
    kept = []
    for _ in range(30):
        for array in (observation, *info.values()):
            assert array.flags.writeable
            kept.append((array, array.copy()))
        mask = info["action_mask"]
        observation, reward, terminated, truncated, info = env.step(mask.argmax(axis=1))
        kept += [(array, array.copy()) for array in (reward, terminated, truncated)]
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)
    for array, _ in kept:
        array[...] = 0  # must not reach into the environment's tables
    assert env.reset(seed=0)[0][..., 0].sum() >= 2 * (size[0] * size[1] - 1)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_reset_of_all_boards_starts_them_all_at_once(mode: str) -> None:
    env = gymnasium.make_vec(TURN, num_envs=2, autoreset_mode=mode)
    env.reset()
    env.step([0, 0])
    env.step([0, 1])  # ends the first board's game
    env.reset()
    _, _, _, _, info = env.step([4, 4])
    assert info["action_mask"].tolist() == [[1, 1, 1, 1, 0, 1, 1, 1, 1]] * 2


def test_a_specification_survives_json() -> None:
    env = gymnasium.make_vec(
        VERSUS, num_envs=3, autoreset_mode=AutoresetMode.SAME_STEP, opponent="heuristic", rewards=Rewards(win=2)
    )
    env.unwrapped.set_opponent(first_empty)  # type: ignore[attr-defined]
    assert env.spec is not None
    spec = EnvSpec.from_json(env.spec.to_json())
    again = gymnasium.make_vec(spec)
    assert again.num_envs == 3
    assert again.unwrapped.autoreset_mode is AutoresetMode.SAME_STEP  # type: ignore[attr-defined]
    again.reset(seed=0)
    for actions in ([0] * 3, [4] * 3, [8] * 3):
        assert again.step(actions)[1].dtype == np.float64
