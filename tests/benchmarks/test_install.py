"""What the benchmarks need is installed by one command, with a pin for each package, so they can be run again."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.harness import INSTALL

ROOT = Path(__file__).parents[2]
FIGURES = [ROOT / "docs" / name for name in ("baselines.md", "speed.md")]
PEERS = "JAX|open-spiel|PettingZoo|Stable-Baselines3|Tianshou|pgx"


def pinned(python: str) -> dict[str, str]:
    """Return the version of each distribution for the benchmarks on a Python, and make sure that it has one alone."""
    lines = "".join(ROOT.joinpath(name).read_text() for name in ("constraints.txt", "constraints-bench.txt"))
    pins = [Requirement(line.partition("#")[0]) for line in lines.splitlines() if line[:1].isalnum()]
    there = [pin for pin in pins if pin.marker is None or pin.marker.evaluate({"python_version": python})]
    versions: dict[str, str] = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in there}
    assert len(versions) == len(there)
    return versions


@pytest.mark.parametrize("page", FIGURES, ids=lambda page: page.name)
def test_figures_are_of_the_pinned_versions(page: Path) -> None:
    text = page.read_text().replace("OpenSpiel", "open-spiel")
    named = re.findall(rf"\b({PEERS}) (\d+\.\d+\.\d+)\b", text, re.IGNORECASE)
    assert named
    there = pinned("3.11")
    assert [(name, version) for name, version in named if there[name.lower()] != version] == []


def test_the_page_of_results_names_the_command() -> None:
    assert re.findall(r"pip install [^`]*\[bench\]'", (ROOT / "docs" / "results.md").read_text()) == [INSTALL]


@pytest.mark.index
def test_the_command_resolves_and_has_a_pin_for_all_that_it_installs(tmp_path: Path) -> None:
    # What is installed already, with the same pins, need not be looked up: PyTorch's CUDA packages, which no file pins.
    report = tmp_path / "report.json"
    dry = [*shlex.split(INSTALL), "--dry-run", "--quiet", "--report", str(report)]
    ended = subprocess.run([sys.executable, "-m", *dry], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    installs = {canonicalize_name(one["metadata"]["name"]) for one in json.loads(report.read_text())["install"]}
    assert installs - set(pinned(f"{sys.version_info[0]}.{sys.version_info[1]}")) == {"tictactoe-selfplay"}
