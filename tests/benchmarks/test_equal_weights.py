"""The weights of two commits, compared bit by bit."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from benchmarks.equal_weights import bits, train

ONE = {"weight": np.array([[0.5, -0.0]], np.float32)}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"weight": np.array([[0.5, -0.0]], np.float32)}, True),
        ({"weight": np.array([[0.5, 0.0]], np.float32)}, False),
        ({"weight": np.array([[0.5], [-0.0]], np.float32)}, False),
        ({"renamed": np.array([[0.5, -0.0]], np.float32)}, True),
        ({}, False),
    ],
)
def test_weights_are_equal_if_every_bit_is(tmp_path: Path, other: dict[str, np.ndarray], expected: bool) -> None:
    save_file(ONE, tmp_path / "one")
    save_file(other, tmp_path / "other")
    assert (bits(tmp_path / "one") == bits(tmp_path / "other")) is expected


def test_a_clone_trains_with_its_own_python(tmp_path: Path) -> None:
    python = tmp_path / "clone/.venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$PWD $@" > "$PWD/called"\n')
    python.chmod(0o755)
    file = train(tmp_path / "clone", ["--networks", "separate"], 7, tmp_path / "run")
    assert file == tmp_path / "run/model.safetensors"
    folder, script, *flags = (tmp_path / "clone/called").read_text().split()
    assert (folder, script) == (str(tmp_path / "clone"), "train.py")
    assert flags[:2] == ["--networks", "separate"]
    assert flags[flags.index("--seed") + 1] == "7"
    assert flags[flags.index("--run-dir") + 1] == str(tmp_path / "run")
