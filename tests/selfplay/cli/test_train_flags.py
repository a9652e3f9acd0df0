"""How `train.py` reads its flags: which algorithm they are for, how it explains mistakes, and its help."""

import dataclasses
import re

import pytest
import torch

from selfplay.cli import train
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.learning.api import ALGORITHMS
from selfplay.tabular.config import MinimaxQConfig, TDBackupConfig
from tests.runs import refused


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
        ("--k 5", "got k=5 on a 3x3 board"),
        ("--memory-size 1000000000000", "GB of memory, and this machine has"),
        ("--memory-size 1000000000 --batch-size 1000000000", "lower some of --memory-size, --batch-size"),
        ("--run-dir /dev/null/x", "choose another --run-dir"),
        ("--force", "--force goes with --resume RUN"),
        ("--checkpoint-interval 0", "--checkpoint-interval must be above 0 and at most 1,000,000,000, got 0"),
        ("--preset larg", "--preset must be one of default, large, article, got 'larg'; did you mean large?"),
        pytest.param(
            *("--device cuda", "use --device cpu"),
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="only a machine without CUDA must refuse it"),
        ),
        (
            "td-valu --games 3",
            "; choose one of dqn, minimax-q, afterstate-q, td-value, td-backup; did you mean td-value?",
        ),
        ("minimax-q --gams 3", "did you mean --games? (selfplay train minimax-q --help lists every flag)"),
        ("td-backup --rows 1000000 --cols 100000", "holds 3^100000000000 values"),
        ("minimax-q --rows 4", "unrecognized arguments: --rows 4"),
        ("--mask True", "unrecognized arguments: True (selfplay train --help"),
    ],
)
@pytest.mark.usefixtures("in_a_command", "here")
def test_a_mistake_is_one_line(args: str, gist: str) -> None:
    assert gist in refused(train.main, args.split())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_help_documents_every_setting_and_the_dqns_names_the_others(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        train.read([*([] if name == "dqn" else [name]), "--help"], "python train.py")
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    if name == "dqn":
        assert all(
            re.search(rf"^  python train.py {other} +Train ", text, re.MULTILINE)
            for other in ALGORITHMS
            if other != name
        )
    else:
        assert text.startswith(f"usage: python train.py {name} [flags]")
    for field in dataclasses.fields(ALGORITHMS[name]):
        flag = f"--{field.name.replace('_', '-')}"
        assert re.search(rf"^  {flag}( [A-Z{{[]|, ).*?\w+ \w+", text, re.DOTALL | re.MULTILINE), flag


def test_the_help_of_a_preset_shows_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    for args, number in (["--help"], 256), (["--preset", "article", "--help"], 1):
        with pytest.raises(SystemExit):
            train.read(args)
        assert f"Boards played side by side. (default: {number})" in capsys.readouterr().out
