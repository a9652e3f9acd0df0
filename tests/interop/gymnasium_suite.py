"""Gymnasium's own tests, with our environments in the place of its CartPole and of its list of environments.

Most of its tests name CartPole. It is registered anew with our classes, for one board and for many, and keeps its time
limit and the wrappers that check actions and order. The tests that go over all of Gymnasium's environments go over
ours. Counted are the tests in which an environment of ours is made or reset.
Run it by `tests/interop/run gymnasium_suite`.
"""

import importlib
import multiprocessing
import os
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium
from suites import Reason, apart, fetch_tests, run_tests

import tictactoe  # noqa: F401 (registers the environments)
from tictactoe.envs.turn import TicTacToeEnv
from tictactoe.envs.vector import TicTacToeVectorEnv
from tictactoe.envs.versus import TicTacToeVersusEnv
from tictactoe.envs.versus_vector import TicTacToeVersusVectorEnv

URL = "https://github.com/Farama-Foundation/Gymnasium"
IDS = ("TicTacToe-v0", "TicTacToeVersus-v0")
REPLACED = "CartPole-v1"
USES = (REPLACED, "all_testing", "make_env(", "ENV_ID")
"""Texts of which a test file has one if it uses an environment of a list or of a name."""

OWN = "it asks for CartPole's class, settings or attributes"
SHAPE = "it wants CartPole's observation of four numbers"
MODES = "it wants CartPole's render modes, and one that does not exist to be no more than a warning"
GOES_ON = "it steps on after the end of a game, which is refused here"
LENGTH = "it wants an episode of more steps than a board has cells"
WAITS = "tests/utils/test_play.py::test_play_no_keys"
"""CartPole has no keys; a game that has some is shown, and waits for them."""
REASONS = (
    Reason(OWN, "CartPoleEnv)", ("test_full_integration", "test_no_arguments")),
    Reason(OWN, "cartpole:CartPoleEnv", ("test_env_spec_pprint",)),
    Reason(OWN, "CartPoleVectorEnv)", ("test_make_vec_env_id", "test_make_vec_vectorization_mode")),
    Reason(OWN, "unexpected keyword argument 'sutton_barto_reward'", ("test_make_vec_with_spec",)),
    Reason(OWN, "unknown option 'low' of reset", ("test_customizable_resets",)),
    Reason(
        OWN,
        "has no attribute 'gravity'",
        (
            "test_get_set_wrapper_attr",
            "test_call_async_vector_env",
            "test_call_sync_vector_env",
            "test_vector_env_wrapper_attributes",
        ),
    ),
    Reason(SHAPE, "more than one element is ambiguous", ("test_cartpole_vector_equiv",)),
    Reason(SHAPE, "== (3 + 1)", ("test_default",)),
    Reason(SHAPE, "all input arrays must have the same shape", ("test_padding_type",)),
    Reason(SHAPE, "Expected new_min.shape to be (3, 3, 3), got (4,)", ("test_vector_wrapper_equivalence",)),
    Reason(SHAPE, "could not broadcast input array from shape", ("test_vectorize_dict_to_box_obs",)),
    Reason(MODES, "'no-render-mode'", ("test_make_with_render_mode",)),
    Reason(MODES, "unknown render_mode 'rgb_array_list'", ("test_render_modes",)),
    # Which tests these are depends on the actions that are drawn.
    Reason(GOES_ON, "call reset() before step()", ()),
    Reason(GOES_ON, "self._autoreset_envs", ()),
    Reason(LENGTH, ".recording", ("test_video_length",)),
    Reason("it wants CartPole's reward of 1 for each step", "np.float64(0.0) ==", ("test_clip_reward_wrapper",)),
    Reason(
        "it wants another first observation from another seed, and every game begins with the empty board",
        "all([False, ",
        ("test_reset_async_vector_env",),
    ),
    Reason("it wants images to be drawn with pygame", "pygame.display must be", ("test_pygame_selective_init",)),
)


class InPlace:
    """Put an environment in the place of CartPole and of all others, before the tests are collected."""

    def __init__(self, env_id: str, folder: Path) -> None:
        TicTacToeEnv.metadata["render_fps"] = 50  # as of CartPole; the tests show hundreds of pictures
        spec = gymnasium.spec(env_id)
        replaced = gymnasium.registry.pop(REPLACED)
        gymnasium.register(
            REPLACED,
            spec.entry_point,
            vector_entry_point=spec.vector_entry_point,
            max_episode_steps=replaced.max_episode_steps,
            reward_threshold=replaced.reward_threshold,
        )
        sys.path.insert(0, str(folder))
        utils = importlib.import_module("tests.envs.utils")  # of Gymnasium's tests
        utils.all_testing_env_specs[:] = [spec]
        utils.all_testing_initialised_envs[:] = [spec.make().unwrapped]

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out what has nothing to do with these environments."""
        if collection_path.suffix != ".py" or any(use in collection_path.read_text() for use in USES):
            return None
        return True


def run_with(env_id: str, folder: Path) -> bool:
    """Run the tests in a folder with one of our environments; tell whether every failure is explained."""
    multiprocessing.set_start_method("fork", force=True)  # or the workers of a vector would find the old CartPole
    os.chdir(folder)
    os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
    ours = (TicTacToeEnv, TicTacToeVersusEnv, TicTacToeVectorEnv, TicTacToeVersusVectorEnv)
    chosen = ["--ignore=tests/envs/mujoco", f"--deselect={WAITS}", "tests"]
    explained: bool = run_tests(env_id, ours, chosen, InPlace(env_id, folder), REASONS)
    return explained


def main() -> int:
    """Run the tests of the installed version with each of our environments, and return the exit status."""
    tag = f"v{version('gymnasium')}"
    with TemporaryDirectory() as place:
        folder = Path(place) / "gymnasium"
        fetch_tests(URL, tag, ["tests"], folder)
        print(f"Gymnasium's tests at {tag}, numpy {version('numpy')}, pytest {version('pytest')}")
        explained = [apart(run_with, env_id, folder) for env_id in IDS]
    return 0 if all(explained) else 1


if __name__ == "__main__":
    sys.exit(main())
