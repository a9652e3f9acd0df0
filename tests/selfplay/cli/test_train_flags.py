"""How `train.py` reads its flags: which algorithm they are for, how it explains mistakes, and its help."""

import dataclasses
import re
from pathlib import Path

import pytest
import torch

from selfplay.algorithms import ALGORITHMS
from selfplay.cli import train
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.tabular.config import MinimaxQConfig, TDBackupConfig
from tests.runs import ROOT, python, refused

TABULAR = [name for name in ALGORITHMS if name != "dqn"]


def test_flags_are_read_for_the_algorithm_that_is_named_and_override_the_presets_values() -> None:
    assert train.read(["minimax-q"])[0] == MinimaxQConfig()
    assert train.read(["td-backup", "--rows", "4", "--cols", "2"])[0] == TDBackupConfig(rows=4, cols=2)
    assert train.read(["dqn"])[0] == train.read([])[0] == DQNConfig()
    assert train.read(["--lr", "0.5"])[0] == DQNConfig(learning_rate=0.5)
    article = train.read(["--preset", "article", "--seed", "4", "--batch-size", "64"])[0]
    assert article == dataclasses.replace(PRESETS["article"], seed=4, batch_size=64)


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        ("--sed 3", "perhaps you meant --seed"),
        ("--k 5", "got k=5 on a 3x3 board"),
        ("--rows 9 --cols 8", "a 9x8 board has 72 cells"),
        ("--memory-size 1000000000000", "need at least 260,000 GB of memory, and this machine has"),
        ("--memory-size 1000000000 --batch-size 1000000000", "lower --memory-size, --batch-size"),
        ("--run-dir /dev/null/x", "choose another --run-dir"),
        ("--force", "--force goes with --resume RUN"),
        ("--checkpoint-interval 0", "--checkpoint-interval must be above 0 and at most 1,000,000,000 s, got 0"),
        ("--checkpoint-interval 1e12", "--checkpoint-interval must be above 0 and at most 1,000,000,000 s, got 1000"),
        pytest.param(
            *("--device cuda", "use --device cpu"),
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="only a machine without CUDA must refuse it"),
        ),
        ("minimaxq", "there is no algorithm 'minimaxq'; choose one of dqn, minimax-q, afterstate-q, td-value, td-b"),
        ("minimax-q --gams 3", "perhaps you meant --games; selfplay train minimax-q --help lists every flag"),
        ("td-value --opponent me", "invalid choice 'me' for argument '--opponent'"),
        ("afterstate-q --seat 2", "invalid choice '2' for argument '--seat'"),
        ("td-backup --rows 5 --cols 4", "a table for a 5x4 board holds 3^20 values of 8 bytes"),
        ("td-backup --rows 1000000 --cols 100000", "holds 3^100000000000 values"),
        ("minimax-q --eval-every 0", "--eval-every must be at least 1, got 0"),
        ("minimax-q --games 0", "--games must be at least 1, or 0 with --from-table, got 0"),
        ("minimax-q --rows 4", "Unrecognized options: --rows, 4"),
    ],
)
def test_a_mistake_is_one_line(args: str, gist: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert gist in refused(train.main, args.split())


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ([str(ROOT / "train.py"), "minimax-Q"], "python train.py: there is no algorithm 'minimax-Q'"),
        ([str(ROOT / "train.py"), "--k", "5"], "python train.py: "),
        (["-m", "selfplay", "prove", "."], "selfplay prove: config.json: cannot be read"),
        (["-m", "selfplay", "arena", "nobody", "random"], "selfplay arena: nobody: "),
        (["-m", "selfplay", "play", "nowhere"], "selfplay play: nowhere: is neither a run folder, nor one of"),
        (
            ["-m", "selfplay", "play", "--hnts"],
            "selfplay play: Unrecognized options: --hnts (perhaps you meant --hi",
        ),
    ],
)
def test_a_mistake_ends_the_program_with_status_2(program: list[str], line: str, tmp_path: Path) -> None:
    done = python(*program, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1


def help_of(args: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as stop:
        train.read([*args, "--help"])
    assert not stop.value.code
    return capsys.readouterr().out


def test_the_help_shows_the_dqns_settings_and_names_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = help_of([], capsys, monkeypatch)
    assert "Train a DQN" in text
    assert "--memory-size INT" in text
    for algorithm in TABULAR:
        assert re.search(rf"^  train {algorithm} +Train .*\.$", text, re.MULTILINE), algorithm


@pytest.mark.parametrize("algorithm", TABULAR)
def test_the_help_of_a_learner_documents_every_setting(
    algorithm: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = help_of([algorithm], capsys, monkeypatch)
    assert f"usage: selfplay train {algorithm}" in text
    for field in dataclasses.fields(ALGORITHMS[algorithm].settings):
        flag = f"--{field.name.replace('_', '-')}"
        entry = re.search(rf"^\W+{flag}( [A-Z{{]|, --no-).*?\(default: ", text, re.DOTALL | re.MULTILINE)
        assert entry, flag
        assert re.search(r"[A-Z]\w+ [a-z]+", entry.group()), flag
