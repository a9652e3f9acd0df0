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
from typing import Any, NamedTuple, TypeAlias

import pytest

Report: TypeAlias = pytest.TestReport | pytest.CollectReport


class Reason(NamedTuple):
    """Say why some tests fail with our environment though nothing is wrong with it."""

    why: str
    message: str
    """A part of the failure's message; a failure with another message is not explained by this."""
    tests: tuple[str, ...]
    """The tests' functions; none mean any."""

    def explains(self, failure: Report) -> bool:
        """Tell whether this is why a test failed."""
        function = failure.nodeid.partition("[")[0].rpartition("::")[2]
        return self.message in failure.longreprtext and function in (self.tests or (function,))


class Watch:
    """Record the reports of the tests that make or use an object of ours; a plugin of pytest."""

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

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Drop the report of a test that used nothing of ours."""
        before = self._used
        result = yield
        if self._used == before:
            self.reports.pop(item.nodeid, None)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of the test itself, or of a failure before or after it."""
        if report.when == "call" or report.outcome != "passed":
            self.reports[report.nodeid] = report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count a file that cannot be imported as one failure: its tests have not run."""
        if report.failed:
            self.reports[report.nodeid] = report


def run_tests(
    name: str, ours: Iterable[type], arguments: Sequence[str], plugin: object, reasons: Sequence[Reason]
) -> bool:
    """Run tests with the settings of no project; print how many passed and why others failed.

    Returns:
        Whether a reason explains every failure.
    """
    watch = Watch(ours)
    plain = f"--rootdir=. --noconftest -c {os.devnull} -p no:terminal -p no:cacheprovider"
    pytest.main([*plain.split(), "--continue-on-collection-errors", *arguments], plugins=[watch, plugin])
    results = Counter(report.outcome for report in watch.reports.values())
    print(f"{name}: {results['passed']} passed, {results['failed']} failed, {results['skipped']} skipped")
    explained: Counter[str] = Counter()
    for failure in [report for report in watch.reports.values() if report.failed]:
        why = next((reason.why for reason in reasons if reason.explains(failure)), None)
        if why is None:
            message = [line for line in failure.longreprtext.splitlines() if line.startswith("E ")]
            print(f"  UNEXPLAINED {failure.nodeid}", *message, sep="\n    ")
        else:
            explained[why] += 1
    for why, times in explained.most_common():
        print(f"  {times} failed: {why}")
    return bool(results["passed"]) and explained.total() == results["failed"]


def fetch_tests(url: str, tag: str, paths: Sequence[str], folder: Path) -> None:
    """Put these paths of a repository, as they are at a tag, into an empty folder, or end the program."""
    clone = ["git", "clone", "--quiet", "--depth", "1", "--no-checkout", "--branch", tag, url, str(folder)]
    checkout = ["git", "-C", str(folder), "checkout", "--quiet", "HEAD", "--", *paths]
    for command in (clone, checkout):
        if subprocess.run(command, check=False).returncode:
            sys.exit(f"git could not fetch {', '.join(paths)} of {url} at {tag}")


def apart(function: Callable[..., bool], *args: Any) -> bool:
    """Call a function in a process of its own, which may change anything there."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()
