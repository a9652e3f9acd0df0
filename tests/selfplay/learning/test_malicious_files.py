"""Any file in the place of ours ends in one clear line, takes little memory, and is not executed."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from selfplay.dqn.config import DQNConfig
from selfplay.files import open_regular
from selfplay.learning.api import load, read_settings
from selfplay.learning.checkpoint import Checkpoints
from selfplay.learning.run import _earlier_lines
from selfplay.tabular.table_csv import read_table
from tests.children import Ended, run
from tests.malicious_files import MALICIOUS_FILES, MARKER, Program
from tests.runs import DQN, OFTEN, content_of, last_checkpoint, often, read_checkpoint, refused

MOST_MEBIBYTES = 200
"""Memory that a command may take; the files announce gigabytes, or are that large."""
LONGER = ["--total-steps", "480"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that is finished and has two checkpoints."""
    place = tmp_path_factory.mktemp("finished")
    args = [*DQN, "--total-steps", "320", "--eval-every", "160"]
    ended = run("train", [*args, *OFTEN, "--run-dir", str(place / "it")], often)
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
    pickle.loads(pickle.dumps(Program(tmp_path / "it" / "file"))).close()
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


@pytest.mark.parametrize("kind", [kind for kind in MALICIOUS_FILES if kind != "a folder"])
def test_the_checkpoint_before_it_is_read(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = read_checkpoint(folder)[0]
    path = put(last_checkpoint(folder), kind)
    assert Checkpoints(folder, DQNConfig(), 60).read(expected) is not None
    assert capsys.readouterr().err.startswith(f"{path}: ")
    assert not (folder / MARKER).exists()


@pytest.mark.parametrize("name", ["\0", "table\0.csv", "\ud800"])
def test_a_name_that_no_system_knows_is_an_error_of_the_file(name: str) -> None:
    with pytest.raises(OSError, match="it is not a file name"):
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
        (["train", "--resume", "it", *LONGER], "evaluation.json", "a pipe"),
        (["train", "--resume", "it", *LONGER], "latest.json", "a link to no end"),
        (["train", "--resume", "it", *LONGER], "progress.png", "a link to nothing"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_each_command_ends_in_a_line(args: list[str], name: str, kind: str, folder: Path) -> None:
    path = put(folder / name, kind)
    command, *rest = [str(folder) if arg == "it" else arg for arg in args]
    assert_harmless(run(command, rest), path)


@pytest.mark.parametrize("kind", ["a pipe", "a link to no end"])
def test_files_that_are_never_read_do_no_harm(kind: str, folder: Path) -> None:
    for name in ("evaluation.json.partial", "config.json.partial", "model.safetensors.partial"):
        put(folder / name, kind)
    mine = folder.parent / "mine"
    mine.write_text("mine")
    (folder / "metrics.jsonl.partial").symlink_to(mine)
    ended = run("train", ["--resume", str(folder), *LONGER])
    assert (ended.status, ended.complaint) == (0, "")
    assert mine.read_text() == "mine"
    assert json.loads((folder / "evaluation.json").read_text())["decision_states"] == 4_520


@pytest.mark.parametrize("name", ["checkpoint", "snapshots", "metrics.jsonl", "events.out.tfevents.0000000001"])
def test_a_run_changes_nothing_behind_a_link(name: str, finished: Path, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "it", tmp_path / "elsewhere"
    folder.mkdir()
    shutil.copy(finished / "config.json", folder)
    if name in ("checkpoint", "snapshots"):
        elsewhere.mkdir()
        (elsewhere / "1.safetensors").write_text("mine")
    before = content_of(elsewhere)
    (folder / name).symlink_to(elsewhere)
    ended = run("train", ["--resume", str(folder)])
    assert ended.status == 2
    assert f"selfplay train: {folder / name}: " in ended.complaint
    assert content_of(elsewhere) == before
    assert elsewhere.exists() == bool(before)
