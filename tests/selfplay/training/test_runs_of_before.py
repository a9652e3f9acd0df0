"""Runs of the version before the packages were laid out anew, kept in `before`, load, are proved, and go on."""

import shutil
from pathlib import Path

import pytest

import selfplay
from selfplay.cli.train import main
from tests.runs import Stopper, metrics, newest

BEFORE = Path(__file__).parent / "before"
SMALL = ["--hidden", "8", "--num-envs", "8", "--batch-size", "16", "--memory-size", "64", "--warmup", "32"]
LENGTH = ["--total-steps", "640", "--eval-every", "160", "--seed", "1000", "--device", "cpu"]
DQN = ["--networks", "separate", "--target", "independent", *SMALL, *LENGTH]
"""The flags that the run `dqn` was started with; it was stopped after 320 plies, and `td-backup` after 610 games."""


@pytest.fixture
def resumed(request: pytest.FixtureRequest, tmp_path: Path, stopper: Stopper) -> Path:
    """Return the folder of a run of before that has gone on to its end."""
    assert stopper.left == -1  # it is not to be stopped again
    folder = tmp_path / "it"
    shutil.copytree(BEFORE / request.param, folder)
    assert newest(folder) == 1
    main(["--resume", str(folder)])
    return folder


@pytest.mark.parametrize("name", ["dqn", "td-backup"])
def test_its_player_is_loaded_and_judged(name: str) -> None:
    player = selfplay.load(BEFORE / name)
    assert selfplay.evaluate(player, player.rules).decision_states > 20


@pytest.mark.parametrize("resumed", ["td-backup"], indirect=True)
def test_a_tabular_run_goes_on_to_the_bits_that_it_would_have_come_to(resumed: Path) -> None:
    assert (resumed / "model.safetensors").read_bytes() == (BEFORE / "td-backup" / "end.safetensors").read_bytes()
    assert [line["games"] for line in metrics(resumed)] == [400, 800, 1_000, 1_050]


@pytest.mark.parametrize("resumed", ["dqn"], indirect=True)
def test_a_dqn_goes_on_to_the_bits_that_it_would_have_come_to(resumed: Path, tmp_path: Path) -> None:
    main([*DQN, "--run-dir", str(tmp_path / "anew")])
    end = (BEFORE / "dqn" / "end.safetensors").read_bytes()
    # Another processor may round otherwise; then a run made anew does not come to these bits either.
    if (tmp_path / "anew" / "model.safetensors").read_bytes() == end:
        assert (resumed / "model.safetensors").read_bytes() == end
    assert [line["plies"] for line in metrics(resumed)] == [160, 320, 480, 640]
