"""What the scripts share that run another project's own tests with our environments in the place of its own."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import wraps
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Reason(NamedTuple):
    """Say why some tests fail with our environment though nothing is wrong with it."""

    why: str
    message: str
    """A part of what the failure says; one that says something else is not explained by this."""
    tests: tuple[str, ...]
    """The tests' functions; none mean any."""


class Outcome(NamedTuple):
    """Say how a test has ended."""

    test: str
    """The test's file, function and parameters."""
    result: str
    """`"passed"`, `"failed"` or `"skipped"`."""
    message: str


class Watch:
    """Note the outcomes of the tests that make or use an object of ours; a plugin of pytest."""

    def __init__(self, ours: Iterable[type]) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self._used = 0
        for owner in ours:
            for method in ("__init__", "reset"):
                setattr(owner, method, self._counted(getattr(owner, method)))

    def outcomes_of(self, arguments: Sequence[str], plugin: object) -> list[Outcome]:
        """Run tests in silence, with the settings of no project, and return how those with something of ours ended."""
        plain = f"--rootdir=. --noconftest -c {os.devnull} -p no:terminal -p no:cacheprovider"
        pytest.main([*plain.split(), "--continue-on-collection-errors", *arguments], plugins=[self, plugin])
        return list(self.outcomes.values())

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self._used += 1
            return method(*args, **kwargs)

        return counted

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Drop what a test without anything of ours has come to."""
        before = self._used
        result = yield
        if self._used == before:
            self.outcomes.pop(item.nodeid, None)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome of the test itself, or of what went wrong before or after it."""
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = Outcome(report.nodeid, report.outcome, report.longreprtext)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count a file that cannot be imported as one failure: what is in it has not been run."""
        if report.failed:
            self.outcomes[report.nodeid] = Outcome(report.nodeid, report.outcome, report.longreprtext)


def fetch_tests(url: str, tag: str, paths: Sequence[str], folder: Path) -> bool:
    """Put these paths of a repository, as they are at a tag, into an empty folder; tell whether that worked."""
    clone = ["git", "clone", "--quiet", "--depth", "1", "--no-checkout", "--branch", tag, url, str(folder)]
    checkout = ["git", "-C", str(folder), "checkout", "--quiet", "HEAD", "--", *paths]
    try:
        fetched = all(subprocess.run(command, check=False).returncode == 0 for command in (clone, checkout))
    except FileNotFoundError:
        fetched = False
    if not fetched:
        print(f"git could not fetch {', '.join(paths)} of {url} at {tag}", file=sys.stderr)
    return fetched


def apart(function: Callable[..., list[Outcome]], *args: Any) -> list[Outcome]:
    """Call a function in a process of its own, which may change there whatever it wants."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def report(name: str, outcomes: Sequence[Outcome], reasons: Sequence[Reason]) -> bool:
    """Print how many tests passed, and why the others failed; tell whether every failure is explained."""
    results = Counter(outcome.result for outcome in outcomes)
    print(f"{name}: {results['passed']} passed, {results['failed']} failed, {results['skipped']} skipped")
    failures = [outcome for outcome in outcomes if outcome.result == "failed"]
    explained: Counter[str] = Counter()
    unexplained = 0
    for failure in failures:
        why = explanation(failure, reasons)
        if why is None:
            unexplained += 1
            said = [line for line in failure.message.splitlines() if line.startswith("E ")]
            print(f"  UNEXPLAINED {failure.test}", *said, sep="\n    ")
        else:
            explained[why] += 1
    for why, times in explained.most_common():
        print(f"  {times} failed: {why}")
    return bool(results["passed"]) and not unexplained


def explanation(failure: Outcome, reasons: Iterable[Reason]) -> str | None:
    """Return why a test fails, or None if nothing that is known explains it."""
    function = failure.test.partition("[")[0].rpartition("::")[2]
    fitting = (
        known for known in reasons if known.message in failure.message and function in (known.tests or (function,))
    )
    return next((known.why for known in fitting), None)
