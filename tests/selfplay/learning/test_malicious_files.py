"""Any file in the place of ours is refused, executes nothing, and lets nothing outside the folder be changed."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import selfplay
from selfplay.learning.load import load, read_settings
from selfplay.learning.metrics import read_metrics
from selfplay.tabular.table_csv import read_table
from selfplay.tensor_file import read_model, read_tensors, write_tensors
from tests.malicious_files import GIB, MALICIOUS_FILES, MARKER, Program, announcing
from tests.runs import SHORT, content_of, refused, without_plots


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


def test_the_program_in_the_files_does_something(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Program(tmp_path / "it" / "file"))).close()
    assert (tmp_path / MARKER).exists()


UNFINISHED = ("pickle", "nothing", "terabytes", "more than there are numbers for", "a tensor outside")
"""Kinds without the end of a line: a killed run may leave such metrics."""
READERS: dict[str, Callable[[Path], object]] = {
    "config.json": lambda path: read_settings(path.parent),
    "model.safetensors": lambda path: load(path.parent),
    "snapshots/320.safetensors": lambda path: load(path.parents[1], steps=320),
    "checkpoint.safetensors": lambda path: resume(path.parent),
    "metrics.jsonl": lambda path: list(read_metrics(path, "plies")),
    "table.csv": read_table,
}


@pytest.mark.parametrize("kind", MALICIOUS_FILES)
@pytest.mark.parametrize("name", READERS)
def test_each_reader_refuses_it(name: str, kind: str, folder: Path) -> None:
    path = folder / name
    path.unlink(missing_ok=True)
    MALICIOUS_FILES[kind](path)
    if name == "metrics.jsonl" and kind in (*UNFINISHED, "an endless header"):
        assert list(read_metrics(path, "plies")) == []
    else:
        assert str(folder) in refused(READERS[name], path)
    assert not any((place / MARKER).exists() for place in (folder, folder.parent, folder.parents[1]))


@pytest.mark.parametrize("name", ["model.safetensors", "checkpoint.safetensors"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda tensors: {**tensors, "foreign": torch.zeros(1)},
        lambda tensors: dict(list(tensors.items())[1:]),
        lambda tensors: {name: tensor.half() for name, tensor in tensors.items()},
        lambda tensors: {name: torch.cat((tensor, tensor)) for name, tensor in tensors.items() if tensor.ndim},
        lambda tensors: {name: tensor * torch.nan for name, tensor in tensors.items()},
    ],
    ids=["another name", "a name less", "another type", "other shapes", "NaN"],
)
def test_tensors_that_do_not_fit_are_refused(
    name: str, damage: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]], folder: Path
) -> None:
    path = folder / name
    metadata = state_text(path) if name.startswith("checkpoint") else None
    save_file(damage(load_file(path)), path, metadata)
    before = content_of(folder)
    assert str(path) in refused(READERS[name], path)
    assert content_of(folder) == before


def test_a_file_larger_than_any_that_a_run_writes_is_refused_before_it_is_read(folder: Path, tmp_path: Path) -> None:
    metrics, model = folder / "metrics.jsonl", tmp_path / "model"
    os.truncate(metrics, 10 * GIB)  # behind lines that are right
    assert str(metrics) in refused(next, read_metrics(metrics, "plies"))
    header = announcing([GIB], 4 * GIB)[:-64]
    model.write_bytes(header)
    os.truncate(model, len(header) + 4 * GIB)
    assert str(model) in refused(read_model, model, {"table": torch.empty(GIB, device="meta")})


def state_text(path: Path) -> dict[str, str]:
    """Return the metadata of a checkpoint."""
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return dict(header["__metadata__"])


@pytest.mark.parametrize("name", ["model.safetensors", "checkpoint.safetensors", "config.json"])
def test_a_truncated_file_is_refused_wherever_it_ends(name: str, folder: Path) -> None:
    path = folder / name
    content = path.read_bytes()
    for length in {*np.linspace(0, len(content) - 2, 9).astype(int), 4, 8, 100}:
        path.write_bytes(content[:length])
        assert str(path) in refused(READERS[name], path)


def test_a_checkpoint_with_an_evaluation_in_the_past_is_refused(folder: Path) -> None:
    path = folder / "checkpoint.safetensors"
    metadata = json.loads(state_text(path)["state"])
    metadata["notes"]["progress"]["due"] = 160
    save_file(load_file(path), path, {"state": json.dumps(metadata)})
    assert str(path) in refused(resume, folder)


def test_a_file_cannot_choose_the_folder_of_a_run(folder: Path, tmp_path: Path) -> None:
    content = json.loads((folder / "config.json").read_text())
    content["config"]["run_dir"] = str(tmp_path / "elsewhere")
    (folder / "config.json").write_text(json.dumps(content))
    assert "run_dir" in refused(resume, folder)
    assert "run_dir" in refused(selfplay.train, **content)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("kind", ["a pipe", "a link to no end", "a link to nothing"])
def test_files_that_are_never_read_do_no_harm(kind: str, folder: Path) -> None:
    for name in ("evaluation.json", "evaluation.json.partial", "config.json.partial", "progress.png"):
        (folder / name).unlink(missing_ok=True)
        MALICIOUS_FILES[kind](folder / name)
    mine = folder.parent / "mine"
    mine.write_text("mine")
    (folder / "metrics.jsonl.partial").symlink_to(mine)
    resume(folder)
    assert mine.read_text() == "mine"
    assert json.loads((folder / "evaluation.json").read_text())["decision_states"] == 4_520


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


def test_a_file_that_does_not_fit_into_memory_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_memory(*_: object, **__: object) -> None:
        raise RuntimeError("unable to mmap")

    path = tmp_path / "large.safetensors"
    write_tensors(path, {"weights": torch.zeros(1)})
    monkeypatch.setattr("selfplay.tensor_file.safe_open", out_of_memory)
    assert str(path) in refused(read_tensors, path)
