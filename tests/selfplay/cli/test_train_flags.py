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
        ("--memory-size 1000000000000", "GB of memory, and this machine has"),
        ("--memory-size 1000000000 --batch-size 1000000000", "lower --memory-size, --batch-size"),
        ("--run-dir /dev/null/x", "choose another --run-dir"),
        ("--force", "--force goes with --resume RUN"),
        ("--checkpoint-interval 0", "--checkpoint-interval must be above 0 and at most 1,000,000,000, got 0"),
        ("--preset small", "--preset must be one of default, large, article, got 'small'"),
        pytest.param(
            *("--device cuda", "use --device cpu"),
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="only a machine without CUDA must refuse it"),
        ),
        ("minimaxq", "there is no algorithm 'minimaxq'; choose one of dqn, minimax-q, afterstate-q, td-value, td-b"),
        ("minimax-q --gams 3", "perhaps you meant --games (selfplay train minimax-q --help lists every flag)"),
        ("td-value --opponent me", "--opponent must be one of random, heuristic, optimal, self, got 'me'"),
        ("td-backup --rows 5 --cols 4", "a table for a 5x4 board holds 3^20 values of 8 bytes"),
        ("td-backup --rows 1000000 --cols 100000", "holds 3^100000000000 values"),
        ("minimax-q --rows 4", "unrecognized arguments: --rows 4"),
    ],
)
def test_a_mistake_is_one_line(args: str, gist: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert gist in refused(train.main, args.split())


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ([str(ROOT / "train.py"), "minimax-Q"], "python train.py: there is no algorithm 'minimax-Q'"),
        (["-m", "selfplay", "play", "--hnts"], "selfplay play: unrecognized arguments: --hnts; perhaps you meant --hi"),
    ],
)
def test_a_mistake_ends_the_program_with_status_2(program: list[str], line: str, tmp_path: Path) -> None:
    done = python(*program, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("args", [[], ["--preset", "article"], *([name] for name in TABULAR)], ids=" ".join)
def test_the_help_documents_every_setting_and_the_dqns_names_the_others(
    args: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        train.read([*args, "--help"])
    assert not stop.value.code
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    algorithm = args[0] if args[:1] and args[0] in TABULAR else "dqn"
    if algorithm in TABULAR:
        assert text.startswith(f"usage: selfplay train {algorithm} [flags]")
    else:
        assert all(re.search(rf"^  train {name} +Train ", text, re.MULTILINE) for name in TABULAR)
        assert f"Boards played side by side. (default: {1 if args else 256})" in text
    for field in dataclasses.fields(ALGORITHMS[algorithm].settings):
        flag = f"--{field.name.replace('_', '-')}"
        entry = re.search(rf"^  {flag}( [A-Z{{[]|, ).*?\w+ \w+", text, re.DOTALL | re.MULTILINE)
        assert entry, flag
