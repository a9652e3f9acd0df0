"""What the benchmarks need is installed by one command, with a pin for each package, so they can be run again."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
INSTALL = "pip install -c constraints-bench.txt -e '.[bench]'"


@pytest.mark.index
def test_the_command_resolves_and_has_a_pin_for_all_that_it_installs(tmp_path: Path) -> None:
    lines = "".join(ROOT.joinpath(name).read_text() for name in ("constraints.txt", "constraints-bench.txt"))
    pinned = {canonicalize_name(Requirement(line).name) for line in pins(lines)}
    # What is installed already, with the same pins, need not be looked up: PyTorch's CUDA packages, which no file pins.
    report = tmp_path / "report.json"
    dry = [*shlex.split(INSTALL), "--dry-run", "--quiet", "--report", str(report)]
    ended = subprocess.run([sys.executable, "-m", *dry], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    installs = {canonicalize_name(one["metadata"]["name"]) for one in json.loads(report.read_text())["install"]}
    assert installs - pinned == {"tictactoe-selfplay"}


def pins(lines: str) -> list[str]:
    """Return the lines that pin a package."""
    return [line.partition("#")[0] for line in lines.splitlines() if line[:1].isalnum()]
