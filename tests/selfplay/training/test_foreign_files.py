"""Whatever lies where a file of ours should be ends in one clear line, soon, in little memory, and is not executed."""

import json
import math
import pickle
import shutil
import struct
from pathlib import Path

import pytest

from tests.children import Ended, Setting, run
from tests.malicious_files import MALICIOUS_FILES, MARKER, program
from tests.runs import DQN, OFTEN, content_of, often

MOST_MEBIBYTES = 200
"""That any of it may take; what is planted announces gigabytes, or is as large."""
MOST_SECONDS = 5
"""Of the processor, of which ten gibibytes of nothing would take thirty."""
LONGER = ["--total-steps", "480"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that is finished and has two checkpoints."""
    place = tmp_path_factory.mktemp("finished")
    args = [*DQN, "--total-steps", "320", "--eval-every", "160"]
    ended = run("train", [*args, *OFTEN, "--run-dir", str(place / "it")], place, Setting(often))
    assert (ended.status, ended.complaint) == (0, "")
    return place / "it"


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "it"))


def assert_harmless(ended: Ended, path: Path) -> None:
    """Assert that a command has ended in a line about the file, or gone on after it, and did nothing else."""
    assert ended.complaint.count("\n") == 1, ended.complaint
    assert ended.complaint.isprintable() or ended.complaint[:-1].isprintable()
    assert str(path) in ended.complaint
    assert ended.mebibytes < MOST_MEBIBYTES
    assert ended.seconds < MOST_SECONDS
    assert not (path.parents[1] / MARKER).exists()
    assert not (path.parents[2] / MARKER).exists()


def test_the_program_that_is_planted_does_something(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(program(tmp_path / "it" / "file"))).close()
    assert (tmp_path / MARKER).exists()


def replace(path: Path, plant: str) -> None:
    path.unlink()
    MALICIOUS_FILES[plant](path)


PROVE, RESUME = ["prove", "it"], ["train", "--resume", "it", *LONGER]


@pytest.mark.parametrize(
    ("name", "command", "plant"),
    [
        *(("config.json", PROVE, plant) for plant in MALICIOUS_FILES),
        *(("model.safetensors", PROVE, plant) for plant in MALICIOUS_FILES),
        *(("metrics.jsonl", RESUME, plant) for plant in MALICIOUS_FILES),
        *(("players.safetensors", RESUME, plant) for plant in MALICIOUS_FILES),
        *(("config.json", command, "a pipe") for command in (["play", "it"], ["arena", "it", "random"])),
        *(("model.safetensors", command, "a pipe") for command in (["play", "it"], ["arena", "it", "random"])),
    ],
)
def test_nothing_is_done_with_it(name: str, command: list[str], plant: str, folder: Path) -> None:
    replace(folder / name, plant)
    program, *args = command
    ended = run(program, [str(folder) if arg == "it" else arg for arg in args], folder.parent)
    assert ended.status == 2
    assert_harmless(ended, folder / name)


@pytest.mark.parametrize("plant", MALICIOUS_FILES)
@pytest.mark.parametrize("kind", ["json", "safetensors"])
def test_a_run_goes_on_from_the_checkpoint_before_it(kind: str, plant: str, folder: Path) -> None:
    path = max((folder / "checkpoint").glob(f"*.{kind}"), key=lambda path: int(path.stem))
    replace(path, plant)
    ended = run("train", ["--resume", str(folder), *LONGER], folder.parent, Setting(often))
    assert ended.status == 0
    first, *others = ended.complaint.splitlines()
    assert "trying the checkpoint before it" in first
    # A folder is not written over.
    assert ["(Is a directory); the last one stays" in other for other in others] == [True] * (plant == "a folder")
    assert_harmless(ended._replace(complaint=f"{first}\n"), path)


@pytest.mark.parametrize("plant", MALICIOUS_FILES)
def test_no_table_is_read_from_it(plant: str, tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    path = tmp_path / "it" / "table.csv"
    MALICIOUS_FILES[plant](path)
    args = ["minimax-q", "--games", "0", "--from-table", str(path), "--run-dir", str(tmp_path / "run")]
    ended = run("train", args, tmp_path)
    assert ended.status == 2
    assert_harmless(ended, path)


@pytest.mark.parametrize("plant", MALICIOUS_FILES)
def test_what_is_never_read_does_no_harm(plant: str, folder: Path) -> None:
    for name in ("evaluation.json", "newest.json", "progress.png", "config.json.partial"):
        path = folder / name
        path.unlink(missing_ok=True)
        if plant != "a folder":
            MALICIOUS_FILES[plant](path)
    outside = folder.parent / "nothing"
    ended = run("train", ["--resume", str(folder), *LONGER], folder.parent)
    assert (ended.status, ended.complaint) == (0, "")
    assert ended.mebibytes < MOST_MEBIBYTES
    assert not outside.exists()
    assert not (folder.parent / MARKER).exists()
    assert json.loads((folder / "evaluation.json").read_text())["decision_states"] == 4_520


def test_a_link_is_not_written_through(folder: Path) -> None:
    mine = folder.parent / "mine"
    mine.write_text("mine")
    for path in (*folder.glob("*.*"), *(folder / "checkpoint").glob("*.*")):
        path.with_name(path.name + ".partial").symlink_to(mine)
    assert run("train", ["--resume", str(folder), *LONGER], folder.parent).status == 0
    assert mine.read_text() == "mine"


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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hidden", [1] * 100_000),
        ("hidden", [50_000, 50_000]),
        ("learning_rate", 10**400),
        ("seed", 10**4_000),
        ("rows", 10**30),
        ("total_steps", 10**30),
        ("memory_size", 10**30),
        ("epsilon_start", float("nan")),
        ("device", "/dev/zero"),
        ("\x1b[2J\n" * 100_000, 1),
    ],
    ids=str,
)
def test_a_setting_beyond_measure(name: str, value: object, folder: Path) -> None:
    path = folder / "config.json"
    content = json.loads(path.read_text())
    content["config"][name] = value
    path.write_text(json.dumps(content))
    before = content_of(folder)
    for command, args in (("prove", [str(folder)]), ("train", ["--resume", str(folder)])):
        ended = run(command, args, folder.parent)
        assert ended.status == 2
        assert_harmless(ended, path)
    assert content_of(folder) == before
