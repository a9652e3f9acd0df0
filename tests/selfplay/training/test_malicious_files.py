"""Any file in the place of ours ends in one clear line, takes little memory, and is not executed."""

import json
import math
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from selfplay.algorithms import load, read_settings
from selfplay.dqn.config import DQNConfig
from selfplay.files import open_regular
from selfplay.tabular.table_csv import read_table
from selfplay.tensor_file import write_tensors
from selfplay.training.checkpoint import Checkpoints
from selfplay.training.run import _earlier_lines
from tests.children import Ended, run
from tests.malicious_files import MALICIOUS_FILES, MARKER, program
from tests.runs import DQN, OFTEN, content_of, last_checkpoint, often, read_checkpoint, refused

MOST_MEBIBYTES = 200
"""Memory that a command may take; the files announce gigabytes, or are that large."""
LONGER = ["--total-steps", "480"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that is finished and has two checkpoints."""
    place = tmp_path_factory.mktemp("finished")
    args = [*DQN, "--total-steps", "320", "--eval-every", "160"]
    ended = run("train", [*args, *OFTEN, "--run-dir", str(place / "it")], place, often)
    assert (ended.status, ended.complaint) == (0, "")
    return place / "it"


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "it"))


def put(path: Path, kind: str) -> Path:
    path.unlink(missing_ok=True)
    MALICIOUS_FILES[kind](path)
    return path


def test_the_program_in_the_files_does_something(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(program(tmp_path / "it" / "file"))).close()
    assert (tmp_path / MARKER).exists()


READERS: dict[str, Callable[[Path], object]] = {
    "config.json": lambda path: read_settings(path.parent),
    "model.safetensors": lambda path: load(path.parent),
    "snapshots/320.safetensors": lambda path: load(path.parents[1], steps=320),
    "metrics.jsonl": lambda path: _earlier_lines(path.parent, "plies", 1),
    "table.csv": read_table,
}


@pytest.mark.parametrize("kind", MALICIOUS_FILES)
@pytest.mark.parametrize("name", READERS)
def test_each_reader_refuses_it_in_a_line(name: str, kind: str, folder: Path) -> None:
    path = put(folder / name, kind)
    message = refused(READERS[name], path)
    assert str(path) in message
    assert message.isprintable()
    assert not any((place / MARKER).exists() for place in (folder, folder.parent, folder.parents[1]))


@pytest.mark.parametrize("kind", set(MALICIOUS_FILES) - {"a folder"})
def test_the_checkpoint_before_it_is_read(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = read_checkpoint(folder)[0]
    path = put(last_checkpoint(folder), kind)
    assert Checkpoints(folder, DQNConfig(), 60).read(expected) is not None
    assert capsys.readouterr().err.startswith(f"{path}: ")
    assert not (folder / MARKER).exists()


@pytest.mark.parametrize("name", ["\0", "table\0.csv", "\ud800"])
def test_a_name_that_no_system_knows_is_an_error_of_the_file(name: str) -> None:
    with pytest.raises(OSError, match="it is no name of a file"):
        open_regular(Path(name))


def assert_harmless(ended: Ended, path: Path) -> None:
    """Assert that a command ended in a line about the file, and did nothing else."""
    assert ended.status == 2
    assert ended.complaint.count("\n") == 1, ended.complaint
    assert str(path) in ended.complaint
    assert ended.mebibytes < MOST_MEBIBYTES
    assert not (path.parents[1] / MARKER).exists()


@pytest.mark.parametrize(
    ("args", "name", "kind"),
    [
        (["prove", "it"], "model.safetensors", "ten gibibytes"),
        (["play", "it"], "config.json", "a pipe"),
        (["arena", "it", "random"], "model.safetensors", "terabytes"),
        (["train", "--resume", "it", *LONGER], "metrics.jsonl", "ten gibibytes"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_each_command_ends_in_a_line(args: list[str], name: str, kind: str, folder: Path) -> None:
    path = put(folder / name, kind)
    command, *rest = [str(folder) if arg == "it" else arg for arg in args]
    assert_harmless(run(command, rest, folder.parent), path)


def test_a_run_continues_from_the_checkpoint_before_a_large_one(folder: Path) -> None:
    path = put(last_checkpoint(folder), "ten gibibytes")
    ended = run("train", ["--resume", str(folder), *LONGER], folder.parent, often)
    said = "is damaged (its checksum differs); trying the checkpoint before it"
    assert (ended.status, ended.complaint) == (0, f"{path}: {said}\n")
    assert ended.mebibytes < MOST_MEBIBYTES


@pytest.mark.parametrize("kind", ["a pipe", "a link to nothing", "a link to no end"])
def test_files_that_are_never_read_do_no_harm(kind: str, folder: Path) -> None:
    for name in ("evaluation.json", "latest.json", "progress.png", "config.json.partial", "model.safetensors.partial"):
        put(folder / name, kind)
    mine = folder.parent / "mine"
    mine.write_text("mine")
    (folder / "metrics.jsonl.partial").symlink_to(mine)
    ended = run("train", ["--resume", str(folder), *LONGER], folder.parent)
    assert (ended.status, ended.complaint) == (0, "")
    assert not (folder.parent / "nothing").exists()
    assert mine.read_text() == "mine"
    assert json.loads((folder / "evaluation.json").read_text())["decision_states"] == 4_520


def test_a_small_file_of_a_wide_network_asks_for_no_more_than_a_run_would(folder: Path) -> None:
    """All its weights are holes in the file; all decision states at once would take 1.8 GB of its layer."""
    width, path = 100_000, folder / "config.json"
    content = json.loads(path.read_text())
    content["config"]["hidden"] = [width]
    path.write_text(json.dumps(content))
    header, end = {}, 0
    for name, shape in (("hidden.0", (width, 27)), ("advantage", (9, width))):
        for key, sizes in ((f"shared.{name}.weight", shape), (f"shared.{name}.bias", shape[:1])):
            start, end = end, end + 4 * math.prod(sizes)
            header[key] = {"dtype": "F32", "shape": sizes, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(file.tell() + end)
    ended = run("prove", [str(folder)], folder.parent)
    assert (ended.status, ended.complaint) == (0, "")
    assert "NOT unbeatable" in ended.output
    assert ended.mebibytes < 800


def test_a_refused_folder_stays_as_it_is(folder: Path) -> None:
    write_tensors(folder / "model.safetensors", {})
    before = content_of(folder)
    assert_harmless(run("prove", [str(folder)], folder.parent), folder / "model.safetensors")
    assert content_of(folder) == before
