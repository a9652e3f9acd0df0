"""Gymnasium's own tests, with our environments in the place of its CartPole and of its list of environments.

Most of its tests name CartPole. It is registered anew with our classes, for one board and for many, and keeps the
wrappers that check actions and order; the tests that go over all of Gymnasium's environments go over ours.
Counted are the tests in which an environment of ours is made or reset.
Run it by `tests/interop/run gymnasium_suite`.
"""

import multiprocessing
import os
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium
from suites import Outcome, Reason, Watch, apart, fetch_tests, report

import tictactoe  # noqa: F401 (registers the environments)
from tictactoe.faces.turn import TicTacToeEnv
from tictactoe.faces.vector import TicTacToeVectorEnv
from tictactoe.faces.versus import TicTacToeVersusEnv
from tictactoe.faces.versus_vector import TicTacToeVersusVectorEnv

URL = "https://github.com/Farama-Foundation/Gymnasium"
IDS = ("TicTacToe-v0", "TicTacToeVersus-v0")
REPLACED = "CartPole-v1"
USES = (REPLACED, "all_testing", "make_env(", "ENV_ID")
"""What stands in a file of tests that has to do with an environment of a list or of a name."""

REASONS: tuple[Reason, ...] = ()


class InPlace:
    """Put an environment in the place of CartPole and of all others, before the tests are collected."""

    def __init__(self, env_id: str, folder: Path) -> None:
        spec = gymnasium.spec(env_id)
        del gymnasium.registry[REPLACED]
        gymnasium.register(REPLACED, spec.entry_point, vector_entry_point=spec.vector_entry_point)
        sys.path.insert(0, str(folder))
        from tests.envs import utils  # noqa: PLC0415 (Gymnasium's tests, which have just been fetched)

        utils.all_testing_env_specs[:] = [spec]
        utils.all_testing_initialised_envs[:] = [spec.make().unwrapped]

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out what has nothing to do with these environments."""
        if collection_path.suffix != ".py" or any(use in collection_path.read_text() for use in USES):
            return None
        return True


def outcomes_with(env_id: str, folder: Path) -> list[Outcome]:
    """Run the tests in a folder with one of our environments."""
    multiprocessing.set_start_method("fork", force=True)  # or the workers of a vector would find the old CartPole
    os.chdir(folder)
    os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
    watch = Watch((TicTacToeEnv, TicTacToeVersusEnv, TicTacToeVectorEnv, TicTacToeVersusVectorEnv))
    return watch.outcomes_of(["--ignore=tests/envs/mujoco", "tests"], InPlace(env_id, folder))


def main() -> int:
    """Run the tests of the installed version with each of our environments, and return the exit status."""
    tag = f"v{version('gymnasium')}"
    with TemporaryDirectory() as place:
        folder = Path(place) / "gymnasium"
        if not fetch_tests(URL, tag, ["tests"], folder):
            return 1
        print(f"Gymnasium's tests at {tag}, numpy {version('numpy')}, pytest {version('pytest')}")
        explained = [report(env_id, apart(outcomes_with, env_id, folder), REASONS) for env_id in IDS]
    return 0 if all(explained) else 1


if __name__ == "__main__":
    sys.exit(main())
