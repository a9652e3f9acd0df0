"""Run Gymnasium's or PettingZoo's own tests with our environments in the place of theirs.

Most of Gymnasium's tests name CartPole. It is registered anew with our classes, for one board and for many, and keeps
its time limit and the wrappers that check actions and order. Tests over all of its environments go over ours.

PettingZoo's tests import its games, which need much else to be installed. Here its tic-tac-toe is ours, and its other
games are missing; a test over many games goes over our settings. `test_supersuit.py` is run with them.

Only tests in which an environment of ours is made or reset are counted.
Run it by `tests/interop/run gymnasium_suite` or `tests/interop/run pettingzoo_suite`.
"""

import importlib
import multiprocessing
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, TypeAlias

import gymnasium
import pytest

from tictactoe import tictactoe_v0
from tictactoe.envs.turn import TicTacToeEnv
from tictactoe.envs.vector import TicTacToeVectorEnv
from tictactoe.envs.versus import TicTacToeVersusEnv
from tictactoe.envs.versus_vector import TicTacToeVersusVectorEnv

Report: TypeAlias = pytest.TestReport | pytest.CollectReport

IDS = ("TicTacToe-v0", "TicTacToeVersus-v0")
REPLACED = "CartPole-v1"
USES = (REPLACED, "all_testing", "make_env(", "ENV_ID")
"""Texts of which a test file has one if it uses an environment of a list or of a name."""
WAITS = "tests/utils/test_play.py::test_play_no_keys"
"""CartPole has no keys; a game that has some is shown, and waits for them."""
FAMILIES = ("atari", "butterfly", "classic", "sisl")
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"perspective": "mover", "rewards": "sparse"},
    {"rows": 4, "cols": 5, "k": 4, "rewards": "article"},
)
OTHERS = ("doc_examples_test.py", "specific_env_test.py")
"""Tests of PettingZoo's documentation and of its chess."""

REASONS = {
    "it asks for CartPole's class, settings or attributes": (
        r"::(test_full_integration|test_no_arguments)\b.*CartPoleEnv\)"
        r"|::test_env_spec_pprint\b.*cartpole:CartPoleEnv"
        r"|::(test_make_vec_env_id|test_make_vec_vectorization_mode)\b.*CartPoleVectorEnv\)"
        r"|::test_make_vec_with_spec\b.*unexpected keyword argument 'sutton_barto_reward'"
        r"|::test_customizable_resets\b.*unknown option 'low' of reset"
        r"|::test_(get_set_wrapper_attr|call_a?sync_vector_env|vector_env_wrapper_attributes)\b"
        r".*has no attribute 'gravity'"
    ),
    "it wants CartPole's observation of four numbers": (
        r"::test_cartpole_vector_equiv\b.*more than one element is ambiguous"
        r"|::test_default\b.*== \(3 \+ 1\)"
        r"|::test_padding_type\b.*all input arrays must have the same shape"
        r"|::test_vector_wrapper_equivalence\b.*Expected new_min\.shape to be \(3, 3, 3\), got \(4,\)"
        r"|::test_vectorize_dict_to_box_obs\b.*could not broadcast input array from shape"
    ),
    "it wants CartPole's render modes, and one that does not exist to be no more than a warning": (
        r"::test_make_with_render_mode\b.*'no-render-mode'|::test_render_modes\b.*unknown render_mode 'rgb_array_list'"
    ),
    # Which tests these are depends on the actions that are drawn.
    "it steps on after the end of a game, which is refused here": (
        r"call reset\(\) before step\(\)|self\._autoreset_envs"
    ),
    "it wants an episode of more steps than a board has cells": r"::test_video_length\b.*\.recording",
    "it wants CartPole's reward of 1 for each step": r"::test_clip_reward_wrapper\b.*np\.float64\(0\.0\) ==",
    "it wants another first observation from another seed, and every game begins with the empty board": (
        r"::test_reset_async_vector_env\b.*all\(\[False, "
    ),
    "it wants images to be drawn with pygame": r"::test_pygame_selective_init\b.*pygame\.display must be",
    "the check takes no observation that has a mask beside it": (
        r"::test_bombardment\b.*'dict' object has no attribute 'shape'"
    ),
}
"""Why some tests fail though nothing is wrong with our environments: a pattern of the test's name and its message."""


class Family(ModuleType):
    """Hold our module under the name of PettingZoo's tic-tac-toe, and an empty one under that of any other game."""

    def __getattr__(self, name: str) -> ModuleType:
        if name.startswith("__"):
            raise AttributeError(name)
        return tictactoe_v0 if name.startswith("tictactoe") else ModuleType(name)


class Plugin:
    """Record the reports of the tests that make or reset an environment of ours."""

    def __init__(self, ours: Iterable[type]) -> None:
        self.reports: dict[str, Report] = {}
        self._used = 0
        for owner in ours:
            for method in ("__init__", "reset"):
                setattr(owner, method, self._counted(getattr(owner, method)))

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self._used += 1
            return method(*args, **kwargs)

        return counted

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Let a test that takes a module of PettingZoo's take ours, with each of our settings if it takes settings."""
        for mark in metafunc.definition.iter_markers("parametrize"):
            names, values = mark.args
            names = [names] if isinstance(names, str) else list(names)
            if "env_module" in names:
                ours = {"name": "classic/tictactoe_v0", "env_module": tictactoe_v0}
                rows = [{**ours, "kwargs": settings} for settings in (SETTINGS if "kwargs" in names else SETTINGS[:1])]
                values[:] = [[row[name] for name in names] if len(names) > 1 else row[names[0]] for row in rows]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Drop the report of a test that used nothing of ours."""
        before = self._used
        result = yield
        if self._used == before:
            self.reports.pop(item.nodeid, None)
        return result

    def pytest_runtest_logreport(self, report: Report) -> None:
        """Record the outcome of the test itself, or of a failure before or after it.

        A file that cannot be imported counts as one failure: its tests have not run.
        """
        if report.when == "call" or report.outcome != "passed":
            self.reports[report.nodeid] = report

    pytest_collectreport = pytest_runtest_logreport


def run_tests(name: str, ours: Iterable[type], arguments: Sequence[str]) -> bool:
    """Run tests with the settings of no project; print how many passed and why others failed.

    Returns:
        Whether a reason explains every failure.
    """
    plugin = Plugin(ours)
    plain = f"--rootdir=. --noconftest -c {os.devnull} -p no:terminal -p no:cacheprovider"
    pytest.main([*plain.split(), "--continue-on-collection-errors", *arguments], plugins=[plugin])
    results = Counter(report.outcome for report in plugin.reports.values())
    print(f"{name}: {results['passed']} passed, {results['failed']} failed, {results['skipped']} skipped")
    explained: Counter[str] = Counter()
    for failure in [report for report in plugin.reports.values() if report.failed]:
        told = f"{failure.nodeid}\n{failure.longreprtext}"
        reasons = [reason for reason, pattern in REASONS.items() if re.search(pattern, told, re.DOTALL)]
        explained.update(reasons[:1])
        if not reasons:
            message = [line for line in failure.longreprtext.splitlines() if line.startswith("E ")]
            print(f"  UNEXPLAINED {failure.nodeid}", *message, sep="\n    ")
    for reason, times in explained.most_common():
        print(f"  {times} failed: {reason}")
    return bool(results["passed"]) and explained.total() == results["failed"]


def enter(folder: Path) -> None:
    """Work in a folder of tests, where they can be imported."""
    os.chdir(folder)
    os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
    sys.path.insert(0, str(folder))


def run_gymnasiums(folder: Path, env_id: str) -> bool:
    """Put an environment in the place of CartPole and of all others, and run Gymnasium's tests."""
    multiprocessing.set_start_method("fork", force=True)  # or the workers of a vector would find the old CartPole
    enter(folder)
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
    utils = importlib.import_module("tests.envs.utils")  # of Gymnasium's tests
    utils.all_testing_env_specs[:] = [spec]
    utils.all_testing_initialised_envs[:] = [spec.make().unwrapped]
    files = [path for path in Path("tests").rglob("*.py") if not any(use in path.read_text() for use in USES)]
    ignored = [f"--ignore={path}" for path in [Path("tests/envs/mujoco"), *files]]
    ours = (TicTacToeEnv, TicTacToeVersusEnv, TicTacToeVectorEnv, TicTacToeVersusVectorEnv)
    return run_tests(env_id, ours, [*ignored, f"--deselect={WAITS}", "tests"])


def run_pettingzoos(folder: Path, name: str) -> bool:
    """Put our environment in the place of all others, and run PettingZoo's tests."""
    enter(folder)
    sys.modules.update({f"pettingzoo.{family}": Family(f"pettingzoo.{family}") for family in FAMILIES})
    every = ModuleType("pettingzoo.utils.all_modules")
    every.all_environments = {"classic/tictactoe_v0": tictactoe_v0}  # type: ignore[attr-defined]
    sys.modules[every.__name__] = every
    chosen = ["--override-ini", "python_files=*test*.py", *(f"--ignore=test/{other}" for other in OTHERS)]
    wrappers = str(Path(__file__).with_name("test_supersuit.py"))
    return run_tests(name, [tictactoe_v0.raw_env, TicTacToeEnv], [*chosen, "test", wrappers])


SUITES = {
    "gymnasium_suite": ("Gymnasium", "v", "tests", run_gymnasiums, IDS),
    "pettingzoo_suite": ("PettingZoo", "", "test", run_pettingzoos, ("tictactoe_v0",)),
}
"""The project, what its tags begin with, the folder of its tests, and how they are run with which of ours."""


def main() -> int:
    """Run the tests of the installed version with each of our environments, and return the exit status."""
    project, prefix, tests, run, ours = SUITES[sys.argv[1]]
    tag = prefix + version(project)
    with TemporaryDirectory() as place:
        folder = Path(place) / project
        url = f"https://github.com/Farama-Foundation/{project}"
        clone = ["git", "clone", "--quiet", "--depth", "1", "--no-checkout", "--branch", tag, url, str(folder)]
        for command in (clone, ["git", "-C", str(folder), "checkout", "--quiet", "HEAD", "--", tests]):
            if subprocess.run(command, check=False).returncode:
                sys.exit(f"git could not fetch {tests} of {url} at {tag}")
        print(f"{project}'s tests at {tag}, gymnasium {version('gymnasium')}, numpy {version('numpy')}")
        explained = []
        for name in ours:  # each in a process that may change anything
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                explained.append(pool.submit(run, folder, name).result())
    return 0 if all(explained) else 1


if __name__ == "__main__":
    sys.exit(main())
