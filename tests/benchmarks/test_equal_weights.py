"""The weights of two commits, compared bit by bit."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from benchmarks import data, equal_weights
from benchmarks.equal_weights import bits, train

ONE = {"weight": np.array([[0.5, -0.0]], np.float32)}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"weight": np.array([[0.5, -0.0]], np.float32)}, True),
        ({"weight": np.array([[0.5, 0.0]], np.float32)}, False),
        ({"weight": np.array([[0.5], [-0.0]], np.float32)}, False),
        ({"bias": np.array([[0.5, -0.0]], np.float32)}, False),
        ({}, False),
    ],
)
def test_weights_are_equal_if_every_bit_is(tmp_path: Path, other: dict[str, np.ndarray], expected: bool) -> None:
    save_file(ONE, tmp_path / "one")
    save_file(other, tmp_path / "other")
    assert (bits(tmp_path / "one") == bits(tmp_path / "other")) is expected


def test_a_clone_trains_with_its_own_packages(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    package = clone / "agents/selfplay"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (clone / "train.py").write_text(
        "import json, sys, selfplay\nfrom pathlib import Path\n"
        "Path('called').write_text(json.dumps([selfplay.__file__, *sys.argv[1:]]))\n"
    )
    file = train(clone, ["--networks", "separate"], 7, tmp_path / "run")
    assert file == tmp_path / "run/model.safetensors"
    origin, *flags = json.loads((clone / "called").read_text())
    assert origin == str(package / "__init__.py")
    assert flags[:2] == ["--networks", "separate"]
    assert dict(zip(flags[2::2], flags[3::2], strict=True)) == {
        "--total-steps": str(equal_weights.PLIES),
        "--device": "cpu",
        "--seed": "7",
        "--run-dir": str(tmp_path / "run"),
    }


def test_pairs_of_both_clones_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train_other_weights(clone: Path, flags: Sequence[str], seed: int, folder: Path) -> Path:
        changed = clone.name == "other" and "--mask" in flags and seed == 1
        folder.mkdir()
        save_file({"weight": np.array([changed], np.float32)}, folder / "model.safetensors")
        return folder / "model.safetensors"

    monkeypatch.setattr(equal_weights, "train", train_other_weights)
    equal_weights.main(tmp_path / "one", tmp_path / "other", seeds=(0, 1), docs=tmp_path)
    (pairs,) = data.saved_results(tmp_path, equal_weights.TITLE).values()
    assert len(pairs) == 2 * len(equal_weights.SETTINGS)
    assert [pair["settings"] for pair in pairs if not pair["equal"]] == ["train.py --mask"]
