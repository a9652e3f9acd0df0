"""Every command with nonsense for each of its settings ends in one line or does what it can, without a traceback."""

import contextlib
import dataclasses
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from selfplay.cli import arena_ratings as ratings
from selfplay.cli.arena import ArenaConfig
from selfplay.cli.certify import CertifyConfig
from selfplay.cli.course import CourseConfig
from selfplay.cli.main import COMMANDS, main
from selfplay.cli.play import PlayConfig
from selfplay.cli.prove import ProveConfig
from selfplay.cli.repair import RepairConfig
from selfplay.cli.report import ReportConfig
from selfplay.cli.sweep import SweepConfig
from selfplay.cli.web import WebConfig
from selfplay.learning.api import ALGORITHMS
from selfplay.learning.folder import RunFlags
from tests.runs import saved, without_plots

NONSENSE = ["", " ", "x", "-1", "0", "1.5", "1e999", "nan", "9" * 5_000, "\udcff", "\u202e\x1b[2J", "../..", "None"]
NONSENSE += ["True", "=1+1", "a:b", "--", "/dev/full"]
EVERY = 3
"""Each setting gets every third kind of nonsense, and the next setting those one further."""
SMALL = "--rows 2 --cols 2 --k 2 --hidden 8 --num-envs 16 --batch-size 8 --memory-size 64 --total-steps 16"
LINES: dict[str, type] = {
    "prove random --rows 2 --cols 2 --k 2": ProveConfig,
    "certify optimal --rows 1 --cols 2 --k 2": CertifyConfig,
    "repair run": RepairConfig,
    "play random": PlayConfig,
    "arena random heuristic": ArenaConfig,
    "web random --port 0 --no-open": WebConfig,
    "sweep none.toml --seeds 0 --set rows=2": SweepConfig,
    "report run": ReportConfig,
    "course": CourseConfig,
    f"train dqn {SMALL}": ALGORITHMS["dqn"],
    "train td-backup --rows 1 --cols 3 --games 4": RunFlags,
    **{f"train {name} --games 4 --eval-every 4": kind for name, kind in ALGORITHMS.items() if name != "dqn"},
}


@pytest.mark.parametrize("line", LINES)
def test_nonsense_is_one_line(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    saved(Path("run"), rows=2, cols=2, k=2)
    without_plots(monkeypatch.setattr)
    monkeypatch.setattr(ratings, "RESAMPLES", 5)
    monkeypatch.setattr("selfplay.cli.web.server", lambda *_: SimpleNamespace(run=lambda _: None))
    engine = SimpleNamespace(connected=lambda *_: contextlib.nullcontext(), train=lambda *_: True)
    monkeypatch.setitem(sys.modules, "selfplay.sweep.engine", engine)
    monkeypatch.setattr("selfplay.sweep.engine", engine, raising=False)
    for number, field in enumerate(dataclasses.fields(LINES[line])):
        for nonsense in NONSENSE[number % EVERY :: EVERY]:
            monkeypatch.setattr("sys.stdin", io.StringIO(""))
            command, *rest = line.split()
            given = [f"--{field.name.replace('_', '-')}", nonsense]
            if "positional" in field.metadata:
                rest, given = rest[1:], [nonsense]
            with pytest.raises(SystemExit) as stop:
                main([command, *rest, *given])
            output, complaint = capsys.readouterr()
            assert (stop.value.code, complaint.count("\n")) in ((0, 0), (0, 1), (2, 1)), (given, complaint)
            assert (output + complaint).replace("\n", "").isprintable()


def test_every_command_gets_nonsense() -> None:
    assert {line.split()[0] for line in LINES} == {*COMMANDS}
