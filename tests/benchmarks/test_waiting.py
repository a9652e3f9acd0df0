"""The wait for a proof: what a terminal shows is timed, and what ends without a proof is refused."""

import time
from pathlib import Path

import pytest

from benchmarks.learning.waiting import wait
from selfplay.errors import UserError


def test_the_proof_comes_between_pressing_return_and_the_end(tmp_path: Path) -> None:
    started = time.perf_counter()
    found = wait(["--seed", "1000", "--device", "cpu", "--run-dir", str(tmp_path / "it")])
    assert 0 < found.proof < found.prompt <= time.perf_counter() - started
    assert (tmp_path / "it" / "progress.png").exists()


def test_a_run_without_a_proof_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--seed none .*: ended with status 2, without a proof"):
        wait(["--seed", "none", "--run-dir", str(tmp_path / "it")])
