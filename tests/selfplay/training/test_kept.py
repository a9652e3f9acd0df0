"""A run keeps its player at evaluations 1, 2, 4, 8, ... and at its end, to the bit, in little room."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from selfplay.training.kept import PLAYERS, KeptPlayers
from torch import Tensor, nn

import selfplay
from selfplay.algorithms import SHIPPED, snapshot_steps, load, read_settings
from selfplay.cli import train
from selfplay.training import kept
from selfplay.training.screen import Screen
from tests.malicious_files import MALICIOUS_FILES
from tests.runs import DQN, TABULAR, Stopper, in_parts, metrics, refused
from tictactoe import Rules

OFTEN = ["--eval-every", "240"]
"""Ten evaluations of the DQN: kept are 1, 2, 4, 8 and the last."""
SIZES = {"weight": (2, 3), "flag": (), "nothing": (0, 4), "count": (3,)}


class Holder:
    """Stand for a player of which only the tensors are asked for."""

    rules = Rules()

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self._tensors = tensors

    def tensors(self) -> dict[str, Tensor]:
        return self._tensors


def holder(number: float) -> Any:
    weight = torch.tensor([[0.0, -0.0, 1.0], [number, 1e-45, -number]])
    return Holder(
        {"weight": weight, "flag": torch.tensor(number > 2), "nothing": torch.zeros(0, 4), "count": torch.arange(3)}
    )


def bits(tensors: dict[str, Tensor]) -> dict[str, bytes]:
    return {name: tensor.detach().contiguous().numpy().tobytes() for name, tensor in tensors.items()}


@pytest.mark.parametrize(
    "args",
    [
        [*DQN, *OFTEN],
        [*DQN, *OFTEN, "--networks", "separate", "--dueling", "--convolution", "4"],
        [*DQN, *OFTEN, "--rows", "4", "--cols", "4", "--k", "4", "--lines", "2"],
        ["minimax-q", *TABULAR, "--eval-every", "100"],
        ["td-value", *TABULAR, "--eval-every", "100"],
        ["td-backup", *TABULAR, "--eval-every", "100", "--greedy-games", "50", "--rows", "3", "--cols", "4"],
    ],
    ids=" ".join,
)
def test_the_players_are_those_that_were_evaluated(
    args: list[str], tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[tuple[int, dict[str, bytes]]] = []
    show = Screen.show

    def shown(screen: Screen, record: selfplay.Record) -> None:
        evaluated.append((record.steps, bits(record.player.tensors())))
        show(screen, record)

    monkeypatch.setattr(Screen, "show", shown)
    in_parts(args, tmp_path / "it", stopper, [])
    numbers = sorted({1, 2, 4, 8, len(evaluated)})
    assert snapshot_steps(tmp_path / "it") == tuple(evaluated[number - 1][0] for number in numbers)
    assert len(numbers) == 5
    for number in numbers:
        steps, tensors = evaluated[number - 1]
        player = load(tmp_path / "it", steps=steps)
        assert bits(player.tensors()) == tensors
        assert type(player) is type(load(tmp_path / "it"))
    assert bits(load(tmp_path / "it").tensors()) == evaluated[-1][1]


def test_what_a_table_does_not_know_takes_no_room(tmp_path: Path, stopper: Stopper) -> None:
    args = ["td-backup", *TABULAR, "--eval-every", "100", "--rows", "3", "--cols", "4", "--k", "4"]
    in_parts(args, tmp_path / "it", stopper, [])
    one = (tmp_path / "it" / "model.safetensors").stat().st_size
    assert len(snapshot_steps(tmp_path / "it")) >= 5
    assert (tmp_path / "it" / PLAYERS).stat().st_size < one / 5


def test_every_number_comes_back_to_the_bit(tmp_path: Path) -> None:
    players = {steps: holder(steps) for steps in (1, 2, 30)}
    keeping = KeptPlayers(tmp_path, players[1], ())
    for steps, player in players.items():
        keeping.keep(steps, player)
    assert snapshot_steps(tmp_path) == (1, 2, 30)
    for steps, player in players.items():
        wanted = {name: tensor.to("meta") for name, tensor in player.tensors().items()}
        found = kept.read_kept(tmp_path / PLAYERS, wanted, Rules(), steps)
        assert bits(found) == bits(player.tensors())
        assert {name: tensor.shape for name, tensor in found.items()} == SIZES


def test_what_a_run_that_goes_on_has_not_come_to_yet_goes(tmp_path: Path) -> None:
    keeping = KeptPlayers(tmp_path, holder(1), ())
    contents = []
    for steps in (1, 2, 4, 5):
        keeping.keep(steps, holder(steps))
        contents.append((tmp_path / PLAYERS).read_bytes())
    again = KeptPlayers(tmp_path, holder(1), [1, 2])
    assert (tmp_path / PLAYERS).read_bytes() == contents[1]
    again.keep(4, holder(4))
    assert (tmp_path / PLAYERS).read_bytes() == contents[2]
    KeptPlayers(tmp_path, holder(1), [])
    assert not list(tmp_path.iterdir())


def test_a_player_for_which_there_is_no_room_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeping = KeptPlayers(tmp_path, holder(1), ())
    keeping.keep(1, holder(1))
    keeping.keep(2, holder(2))
    before = (tmp_path / PLAYERS).read_bytes()
    for name, value in (("LARGEST", 60), ("LONGEST_HEADER", 700)):
        with monkeypatch.context() as patch:
            patch.setattr(kept, name, value)
            keeping.keep(4, holder(4))
        assert (tmp_path / PLAYERS).read_bytes() == before
    keeping.keep(8, holder(8))
    assert snapshot_steps(tmp_path) == (1, 2, 8)


@pytest.mark.parametrize(
    ("args", "longer", "before", "after"),
    [
        # The run is made longer, so that its end is no end any more; 2,400 plies were its tenth evaluation.
        ([*DQN, *OFTEN], ["--total-steps", "2880"], [240, 480, 960, 1_920, 2_400], [240, 480, 960, 1_920, 2_880]),
        # The fourth evaluation was that of the greedy games, after the end; now it comes on the way.
        (
            ["td-backup", *TABULAR, "--greedy-games", "90"],
            ["--games", "1600"],
            [400, 800, 1_090],
            [400, 800, 1_200, 1_690],
        ),
    ],
    ids=["dqn", "td-backup"],
)
def test_the_player_of_an_end_that_is_none_any_more_goes(
    args: list[str], longer: Sequence[str], before: list[int], after: list[int], tmp_path: Path, stopper: Stopper
) -> None:
    folder = tmp_path / "it"
    in_parts(args, folder, stopper, [])
    assert list(snapshot_steps(folder)) == before
    train.main(["--resume", str(folder), *longer])
    unit = "games" if "td-backup" in args else "plies"
    steps = [line[unit] for line in metrics(folder)]
    assert (
        list(snapshot_steps(folder))
        == after
        == [steps[number - 1] for number in sorted({1, 2, 4, 8, len(steps)}) if number <= len(steps)]
    )
    assert bits(load(folder, steps=after[-1]).tensors()) == bits(load(folder).tensors())


def test_an_interrupted_run_has_kept_no_end(tmp_path: Path, stopper: Stopper) -> None:
    stopper.left = 100
    with pytest.raises(KeyboardInterrupt):
        train.main([*DQN, *OFTEN, "--run-dir", str(tmp_path / "it")])
    steps = [line["plies"] for line in metrics(tmp_path / "it")]
    assert len(steps) > 4
    assert snapshot_steps(tmp_path / "it") == tuple(steps[number - 1] for number in (1, 2, 4))


def test_a_run_of_before_goes_on_and_keeps_what_comes(tmp_path: Path, stopper: Stopper) -> None:
    stopper.left = 50
    with pytest.raises(KeyboardInterrupt):
        train.main([*DQN, *OFTEN, "--run-dir", str(tmp_path / "it")])
    (tmp_path / "it" / PLAYERS).unlink()
    assert snapshot_steps(tmp_path / "it") == ()
    stopper.left = -1
    train.main(["--resume", str(tmp_path / "it")])
    assert snapshot_steps(tmp_path / "it") == (960, 1_920, 2_400)


def test_a_network_of_ones_own(tmp_path: Path, stopper: Stopper) -> None:
    def network(rules: Rules) -> nn.Module:
        return nn.Sequential(nn.Linear(3 * rules.cells, 8), nn.BatchNorm1d(8), nn.Linear(8, rules.cells))

    assert stopper.left == -1
    config = selfplay.DQNConfig(
        run_dir=tmp_path / "it", total_steps=960, eval_every=320, num_envs=16, warmup=64, memory_size=700, device="cpu"
    )
    run = selfplay.train(config, network=network)
    assert snapshot_steps(run.folder) == (320, 640, 960)
    assert bits(load(run.folder, network, steps=960).tensors()) == bits(run.player.tensors())
    assert "its network is one of your own" in refused(load, run.folder, steps=960)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "it"
    config = selfplay.DQNConfig(
        run_dir=folder, hidden=(8,), total_steps=960, eval_every=320, num_envs=16, warmup=64, memory_size=700
    )
    selfplay.train(config)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "it"))


def test_none_are_kept_where_there_is_no_such_file(folder: Path) -> None:
    (folder / PLAYERS).unlink()
    assert snapshot_steps(folder) == snapshot_steps(SHIPPED) == ()
    assert refused(load, folder, steps=320) == f"{folder / PLAYERS}: there is no such file; did the run end?"
    assert "there is no such run folder" in refused(snapshot_steps, folder / "nothing")


def test_steps_at_which_none_was_kept_are_named_with_those_there_are(folder: Path) -> None:
    message = refused(load, folder, steps=321)
    assert message == f"{folder / PLAYERS}: has no player after 321 steps, but after 320, 640, 960"


def changed(tensors: dict[str, Tensor], name: str, tensor: Tensor) -> dict[str, Tensor]:
    return {**tensors, name: tensor}


WEIGHT = "640/shared.hidden.0.weight"
FORGED: dict[str, tuple[Callable[[dict[str, Tensor]], dict[str, Tensor]], str]] = {
    "a name of no player": (lambda found: changed(found, "table", torch.zeros(1)), "is not a file of the players"),
    "a tensor more": (lambda found: changed(found, "640/more", torch.zeros(1)), "another board or network"),
    "a tensor less": (lambda found: {k: v for k, v in found.items() if k != WEIGHT}, "another board or network"),
    "another size": (lambda found: changed(found, f"{WEIGHT}/changed", torch.zeros(99)), "another board or network"),
    "more numbers than places": (lambda found: changed(found, WEIGHT, torch.zeros(1)), "is damaged (it has 1 numbers"),
    "too many numbers": (lambda found: changed(found, WEIGHT, torch.zeros(9_999)), "another board or network"),
    "other numbers": (lambda found: changed(found, WEIGHT, found[WEIGHT].double()), "is not made of float32 numbers"),
    "other bits": (
        lambda found: changed(found, f"{WEIGHT}/changed", found[f"{WEIGHT}/changed"].to(torch.int8)),
        "is not made of float32 numbers",
    ),
    "no number": (
        lambda found: changed(found, WEIGHT, found[WEIGHT] * np.nan),
        "is not made of finite float32 numbers",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_file_that_no_run_writes_is_refused(name: str, folder: Path) -> None:
    change, gist = FORGED[name]
    save_file(change(load_file(folder / PLAYERS)), folder / PLAYERS)
    message = refused(load, folder, steps=640)
    assert message.startswith(str(folder / PLAYERS))
    assert gist in message


@pytest.mark.parametrize("plant", MALICIOUS_FILES)
def test_whatever_lies_in_its_place_is_refused(plant: str, folder: Path) -> None:
    (folder / PLAYERS).unlink()
    MALICIOUS_FILES[plant](folder / PLAYERS)
    assert str(folder / PLAYERS) in refused(snapshot_steps, folder)
    assert str(folder / PLAYERS) in refused(load, folder, steps=320)


def test_players_of_another_network_are_refused(folder: Path) -> None:
    path = folder / "config.json"
    content = json.loads(path.read_text())
    content["config"]["hidden"] = [9]
    path.write_text(json.dumps(content))
    assert read_settings(folder)[0].hidden == (9,)  # type: ignore[union-attr]
    assert "holds players of another board or network" in refused(load, folder, steps=960)
