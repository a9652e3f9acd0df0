"""A file put in place of ours by somebody else is refused, runs nothing, and lets nothing outside the folder change."""

import json
import os
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import selfplay
from selfplay.runs.load import load, read_settings
from selfplay.runs.metrics import read_metrics
from selfplay.sweep import plan
from selfplay.tabular.table_csv import read_table
from tests.runs import SHORT, content_of, refused, without_plots

MARKER = "executed"
"""Name of the file that a planted program makes beside the folder in which it lies."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that is finished."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        without_plots(monkeypatch.setattr)
        settings = {**SHORT, "total_steps": 320, "eval_every": 160}
        return selfplay.train(**settings, run_dir=tmp_path_factory.mktemp("finished") / "it", progress=False).folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    without_plots(monkeypatch.setattr)
    return Path(shutil.copytree(finished, tmp_path / "it"))


def resume(folder: Path) -> None:
    selfplay.train(resume=folder, total_steps=480, progress=False)


class Program:
    """A program that makes the marker when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (open, (str(self.path.parents[1] / MARKER), "w"))


def program(path: Path) -> None:
    path.write_bytes(pickle.dumps(Program(path)))


def announcing_terabytes(path: Path) -> None:
    """Write a safetensors file of 64 bytes of data that announces a tensor of 4 TiB."""
    header = {"table": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(64))


def nested(path: Path) -> None:
    path.write_bytes(b"[" * 1_000_000)


def not_a_number(path: Path) -> None:
    path.write_text('{"plies": 160, "time/training_s": NaN}\n')


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


READERS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "config.json": (nested, lambda path: read_settings(path.parent)),
    "model.safetensors": (program, lambda path: load(path.parent)),
    "checkpoint.safetensors": (announcing_terabytes, lambda path: resume(path.parent)),
    "metrics.jsonl": (not_a_number, lambda path: list(read_metrics(path, "plies"))),
    "table.csv": (endless, read_table),
    "sweep.json": (os.mkfifo, lambda path: plan.read(path.parent)),
}
"""For each file that is read, what is put in its place, and its reader."""


@pytest.mark.parametrize("name", READERS)
def test_each_reader_refuses_a_bad_file(name: str, folder: Path) -> None:
    put, read = READERS[name]
    path = folder / name
    path.unlink(missing_ok=True)
    put(path)
    assert str(path) in refused(read, path)
    assert not (folder.parent / MARKER).exists()
    program(path.with_name("control"))
    pickle.loads(path.with_name("control").read_bytes()).close()
    assert (folder.parent / MARKER).exists()


def test_a_file_cannot_choose_the_folder_of_a_run(folder: Path, tmp_path: Path) -> None:
    content = json.loads((folder / "config.json").read_text())
    content["config"]["run_dir"] = str(tmp_path / "elsewhere")
    (folder / "config.json").write_text(json.dumps(content))
    assert "run_dir" in refused(resume, folder)
    assert not (tmp_path / "elsewhere").exists()


NAMES = ("snapshots", "metrics.jsonl", "model.safetensors", "evaluation.json", "progress.png", "checkpoint.safetensors")


@pytest.mark.parametrize("name", [*NAMES, "events.out.tfevents.0000000001", "snapshots/480.safetensors"])
def test_a_run_changes_nothing_behind_a_link(name: str, folder: Path, tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", folder / name
    if name == "snapshots":
        link.rename(elsewhere)
        (elsewhere / "400.safetensors").write_text("one that a resumed run would delete")
    elif link.exists():
        link.rename(elsewhere)
    link.symlink_to(elsewhere)
    before = content_of(elsewhere) if elsewhere.is_dir() else elsewhere.exists() and elsewhere.read_bytes()
    try:
        resume(folder)
    except (OSError, selfplay.UserError) as error:
        assert name in str(error)  # noqa: PT017 (a link may also be replaced)
    after = content_of(elsewhere) if elsewhere.is_dir() else elsewhere.exists() and elsewhere.read_bytes()
    assert after == before
