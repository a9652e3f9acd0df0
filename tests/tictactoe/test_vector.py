"""Compare both vector environments with Gymnasium's vector of single ones, at every ply and in every mode."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import FlattenObservation

from tictactoe import Rewards
from tictactoe.rewards import PRESETS

NUM_ENVS = 16
TURN, VERSUS = "tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"
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


def assert_same(ours: Any, theirs: Any) -> None:
    """Compare observations, spaces' samples or infos; a part of an info counts only where its flag says so."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            flag = theirs.get(f"_{key}")
            if flag is None or isinstance(value, dict):
                assert_same(ours[key], value)
            else:
                assert ours[key].dtype == value.dtype
                assert_same(ours[key][flag], value[flag])
    elif theirs.dtype == object:
        assert [type(part) for part in ours] == [type(part) for part in theirs]
        for our_part, their_part in zip(ours, theirs, strict=True):
            assert_same(our_part, their_part)
    else:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def random_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a cell for each board, mostly but not always an empty one."""
    careless = rng.random((len(mask), 1)) < 0.05
    chosen: np.ndarray = np.where((mask == 1) | careless, rng.random(mask.shape), -1).argmax(axis=1)
    return chosen


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
            over = ours[2]
            ending = ours[-1].get("final_info", ours[-1])
            if over.any():
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
    rows, cols, k = size
    endings = compare_games(TURN, mode, first_empty, rows=rows, cols=cols, k=k, perspective=perspective)
    if size == (3, 3, 3):
        assert endings >= {(0, False), (1, False), (0, True), (1, True)}


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("opponent", [first_empty, last_empty_or_illegal])
@pytest.mark.parametrize("size", [(3, 3, 3), (3, 4, 3), (8, 8, 5)], ids=str)
@pytest.mark.parametrize(("seat", "perspective"), [(0, "absolute"), (1, "mover"), (1, "absolute")])
def test_versus_view_equals_single_environments(
    size: tuple[int, ...], opponent: Callable[..., Any], mode: AutoresetMode, seat: int, perspective: str
) -> None:
    rows, cols, k = size
    settings = {"rows": rows, "cols": cols, "k": k, "seat": seat, "perspective": perspective, "rewards": "sparse"}
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
    for asked in (mode, mode.value):
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
    rows, cols, k = size
    env = gymnasium.make_vec(env_id, num_envs=2, rows=rows, cols=cols, k=k)
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
    assert env.reset(seed=0)[0][..., 0].sum() >= 2 * (rows * cols - 1)


BAD_ACTIONS = {
    "float": np.zeros(3),
    "nan": np.full(3, np.nan),
    "flags": np.zeros(3, bool),
    "negative": np.array([0, -1, 0]),
    "too large": np.array([0, 9, 0]),
    "huge": [0, 2**200, 0],
    "huge unsigned": np.array([0, 2**64 - 1, 0], np.uint64),
    "one missing": np.zeros(2, int),
    "one axis too many": np.zeros((3, 1), int),
    "a number": 4,
    "ragged": [[0], [1, 2], 3],
    "none": None,
    "text": "abc",
}


@pytest.mark.parametrize("actions", BAD_ACTIONS.values(), ids=BAD_ACTIONS)
@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_what_is_no_cell_is_refused_and_changes_nothing(env_id: str, actions: Any) -> None:
    env, twin = (gymnasium.make_vec(env_id, num_envs=3) for _ in range(2))
    env.reset(seed=0), twin.reset(seed=0)
    with pytest.raises(gymnasium.error.InvalidAction, match="actions must be"):
        env.step(actions)
    for ours, theirs in zip(env.step([4, 4, 4]), twin.step([4, 4, 4]), strict=True):
        assert_same(ours, theirs)


def test_a_wrong_action_names_its_board() -> None:
    env = gymnasium.make_vec(TURN, num_envs=3)
    env.reset()
    with pytest.raises(gymnasium.error.InvalidAction, match="from 0 to 8, got -7 for board 2"):
        env.step([0, 1, -7])


def test_any_integer_will_do_where_a_new_game_starts() -> None:
    env = gymnasium.make_vec(TURN, num_envs=2)
    env.reset()
    env.step([0, 0])
    env.step([0, 1])  # ends the first board's game
    _, reward, terminated, _, info = env.step([-1, 2])
    assert (reward[0], terminated[0], info["action_mask"][0].sum()) == (0.0, False, 9)
    with pytest.raises(gymnasium.error.InvalidAction):
        env.step([-1, 3])


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_there_is_no_step_without_a_game(env_id: str) -> None:
    env = gymnasium.make_vec(env_id, num_envs=2, autoreset_mode="Disabled")
    assert env.unwrapped.action_masks().tolist() == [[1] * 9] * 2  # type: ignore[attr-defined]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0, 0])
    with pytest.raises(gymnasium.error.ResetNeeded, match="without a reset_mask"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(seed=0)
    taken = env.reset(options={"reset_mask": np.array([True, False])})[1]["action_mask"].argmin(axis=1)
    env.step([0, 0])
    env.step([0, 0]) if env_id == TURN else env.step([0, int(taken[1])])
    with pytest.raises(gymnasium.error.ResetNeeded, match="games are over, the first on board 0"):
        env.step([1, 1])


@pytest.mark.parametrize("mask", [[True, False], np.ones(2), np.ones(3, bool), np.zeros(2, bool)], ids=repr)
def test_a_wrong_reset_mask_is_refused(mask: Any) -> None:
    env = gymnasium.make_vec(TURN, num_envs=2)
    env.reset()
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_envs": 0}, "num_envs must be a positive integer, got 0"),
        ({"num_envs": 2, "autoreset_mode": "Never"}, "unknown autoreset_mode 'Never': choose from NextStep, SameStep"),
        ({"num_envs": 2, "rows": 9, "cols": 9}, "81 cells; only the faces of a single board take it"),
        ({"num_envs": 2, "perspective": "god"}, "unknown perspective"),
    ],
)
@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_settings_that_do_not_exist_are_refused(env_id: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gymnasium.make_vec(env_id, **settings)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_reset_of_all_boards_starts_them_all_at_once(mode: str) -> None:
    env = gymnasium.make_vec(TURN, num_envs=2, autoreset_mode=mode)
    env.reset()
    env.step([0, 0])
    env.step([0, 1])  # ends the first board's game
    env.reset()
    _, _, _, _, info = env.step([4, 4])
    assert info["action_mask"].tolist() == [[1, 1, 1, 1, 0, 1, 1, 1, 1]] * 2


def test_seats_are_drawn_for_boards_that_start_alone() -> None:
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
        changed += int((after != before).sum())
    assert changed > 50


def test_an_opponent_that_answers_no_cell_is_named_and_nothing_changes() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=2)
    env.reset(seed=0)
    before = env.unwrapped.action_masks()
    env.unwrapped.set_opponent(lambda observation, action_mask: np.full(len(observation), 9.5))  # noqa: ARG005
    with pytest.raises(gymnasium.error.InvalidAction, match="the opponent's actions must be 2 integers"):
        env.step([0, 0])
    np.testing.assert_array_equal(env.unwrapped.action_masks(), before)


def test_an_opponent_that_fails_to_begin_a_game_leaves_every_game_as_it_was() -> None:
    env: Any = gymnasium.make_vec(VERSUS, num_envs=20, seat="random", autoreset_mode="Disabled")
    env.unwrapped.set_opponent(lambda *_: "none")
    with pytest.raises(gymnasium.error.InvalidAction):
        env.reset(seed=0)
    with pytest.raises(gymnasium.error.ResetNeeded):  # or the agent would move in the opponent's place
        env.step([0] * 20)
    env.unwrapped.set_opponent("random")
    env.reset(seed=0)
    before, seats = env.unwrapped.action_masks(), env.unwrapped.seats
    env.unwrapped.set_opponent(lambda *_: "none")
    with pytest.raises(gymnasium.error.InvalidAction):
        env.reset()
    np.testing.assert_array_equal(env.unwrapped.action_masks(), before)
    np.testing.assert_array_equal(env.unwrapped.seats, seats)


@pytest.mark.parametrize("opponent", ["random", "heuristic", "optimal"])
def test_versus_draws_from_its_seed_alone(opponent: str) -> None:
    def games(seed: int) -> bytes:
        env = gymnasium.make_vec(VERSUS, num_envs=50, opponent=opponent, seat="random")
        np.random.seed(seed % 7)  # noqa: NPY002 (the global stream must not matter)
        observation, info = env.reset(seed=seed)
        seen = [observation]
        for _ in range(20):
            observation, *_, info = env.step(info["action_mask"].argmax(axis=1))
            seen.append(observation)
        return np.stack(seen).tobytes()

    assert games(1) == games(1)
    assert games(1) != games(2)


@pytest.mark.parametrize(("opponent", "seat"), [("random", 0), ("random", 1), ("heuristic", 0), ("optimal", 1)])
def test_versus_replies_are_spread_like_those_of_single_environments(opponent: str, seat: int) -> None:
    """Compare how often each result comes up when the agent plays its first empty cell."""
    games = 4000
    vector = gymnasium.make_vec(VERSUS, num_envs=games, opponent=opponent, seat=seat, autoreset_mode="SameStep")
    _, info = vector.reset(seed=1)
    first_game, winner = np.ones(games, bool), np.zeros(games, int)
    for _ in range(5):
        *_, info = vector.step(info["action_mask"].argmax(axis=1))
        if "final_info" in info:
            ended = first_game & info["_final_info"]
            winner[ended] = info["final_info"]["winner"][ended]
            first_game &= ~ended
    assert not first_game.any()

    single = gymnasium.make(VERSUS, opponent=opponent, seat=seat)
    single.reset(seed=2)
    expected = []
    for _ in range(games):
        _, info = single.reset()
        terminated = False
        while not terminated:
            _, _, terminated, _, info = single.step(int(info["action_mask"].argmax()))
        expected.append(info["winner"])
    # Five standard deviations of the difference of two frequencies.
    frequencies, others = (np.bincount(np.array(seats) + 1, minlength=3) / games for seats in (winner, expected))
    np.testing.assert_allclose(frequencies, others, atol=5 * np.sqrt(0.5 / games))


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
