"""Run Gymnasium's own tests with our environments in the place of theirs.

Most of them name CartPole. It is registered anew with our classes, for one board and for many, and keeps its time limit
and the wrappers that check actions and order. Tests over all of Gymnasium's environments go over ours. Only tests in
which an environment of ours is made or reset are counted.
Run it by `tests/interop/run gymnasium_suite`.
"""

import importlib
import multiprocessing
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import gymnasium
import pytest

from tictactoe import TicTacToeEnv, TicTacToeVectorEnv, TicTacToeVersusEnv, TicTacToeVersusVectorEnv

Report: TypeAlias = pytest.TestReport | pytest.CollectReport

IDS = ("TicTacToe-v0", "TicTacToeVersus-v0")
OURS = (TicTacToeEnv, TicTacToeVersusEnv, TicTacToeVectorEnv, TicTacToeVersusVectorEnv)
REPLACED = "CartPole-v1"
USES = (REPLACED, "all_testing", "make_env(", "ENV_ID")
"""A test file that uses an environment of a list or of a name holds one of these texts."""
WAITS = "tests/utils/test_play.py::test_play_no_keys"
"""CartPole has no keys; a game that has some is shown, and waits for them."""

REASONS = {
    "it asks for CartPole's class, settings or attributes": (
        r"::(test_full_integration|test_no_arguments)\b.*CartPoleEnv\)"
        r"|::test_env_spec_pprint\b.*cartpole:CartPoleEnv"
        r"|::(test_make_vec_env_id|test_make_vec_vectorization_mode)\b.*CartPoleVectorEnv\)"
        r"|::test_make_vec_with_spec\b.*unexpected keyword argument 'sutton_barto_reward'"
        r"|::test_customizable_resets\b.*unknown reset option 'low'"
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
}
"""Why some tests fail through no fault of our environments: a pattern of the test's name and its message."""


class Plugin:
    """Record the reports of the tests that make or reset an environment of ours."""

    def __init__(self) -> None:
        self.reports: dict[str, Report] = {}
        self._used = 0
        for owner in OURS:
            for method in ("__init__", "reset"):
                setattr(owner, method, self._counted(getattr(owner, method)))

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self._used += 1
            return method(*args, **kwargs)

        return counted

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


def run_tests(folder: Path, env_id: str) -> bool:
    """Put an environment in the place of CartPole and of all others, run the tests, and print how they ended.

    Returns:
        Whether a reason explains every failure.
    """
    multiprocessing.set_start_method("fork", force=True)  # or the workers of a vector would find the old CartPole
    os.chdir(folder)
    os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
    sys.path.insert(0, str(folder))
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
    plugin = Plugin()
    plain = f"--rootdir=. --noconftest -c {os.devnull} -p no:terminal -p no:cacheprovider"
    chosen = ["--continue-on-collection-errors", *ignored, f"--deselect={WAITS}", "tests"]
    pytest.main([*plain.split(), *chosen], plugins=[plugin])

    results = Counter(report.outcome for report in plugin.reports.values())
    print(f"{env_id}: {results['passed']} passed, {results['failed']} failed, {results['skipped']} skipped")
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


def main() -> int:
    """Run the tests of the installed version with each of our environments, and return the exit status."""
    tag, url = f"v{version('gymnasium')}", "https://github.com/Farama-Foundation/Gymnasium"
    with TemporaryDirectory() as place:
        folder = Path(place) / "Gymnasium"
        clone = ["git", "clone", "--quiet", "--depth", "1", "--no-checkout", "--branch", tag, url, str(folder)]
        for command in (clone, ["git", "-C", str(folder), "checkout", "--quiet", "HEAD", "--", "tests"]):
            if subprocess.run(command, check=False).returncode:
                sys.exit(f"git could not fetch the tests of {url} at {tag}")
        print(f"Gymnasium's tests at {tag}, numpy {version('numpy')}")
        explained = []
        for env_id in IDS:  # each in a process that may change anything
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                explained.append(pool.submit(run_tests, folder, env_id).result())
    return 0 if all(explained) else 1


if __name__ == "__main__":
    sys.exit(main())
