"""A mistake in any command: status 2, a message that names what was typed, no traceback, and nothing is written."""

import shlex
import shutil
from pathlib import Path

import pytest
import torch

from selfplay.cli.main import COMMANDS, main
from selfplay.runs.load import SHIPPED, SHIPPED_FOLDERS
from tests.children import at_terminal
from tests.runs import save, saved
from tests.selfplay.dqn.scripted import config_with, make

LINES = {
    "trian": "trian train",
    "train --sed 1": "--sed --seed",
    "train --seed 1 --seed=2 --hidden 0": "--seed",
    "train --lr 1 --learning_rate 1 --hidden 0": "--learning_rate",
    "train --stop sometimes": "--stop sometimes",
    "train --hidden 0": "--hidden 0",
    "train --batch-size x": "--batch-size x",
    "train --memory-size 1000000000000": "--memory-size 232,000",
    "train --rows 8 --cols 9": "--rows 72",
    "train -k 4": "--k 4",
    "train --rewards sprase": "--rewards sprase sparse",
    "train --preset larg": "--preset large",
    "train --device cuda": "--device cuda",
    "train --resume": "--resume",
    "train --resume none": "none",
    "train --resume plain --config plain": "--resume --config",
    "train --resume plain --name other": "--resume --name",
    "train --resume plain --runs-dir other": "--resume --runs-dir",
    "train td-value --resume plain": "plain dqn td-value",
    "train --force": "--force --resume",
    "train --name runs/a": "--name runs/a",
    "train --name ..": "--name ..",
    "train --name ''": "--name ''",
    "train --name a --run-dir b": "--name --run-dir",
    "train --runs-dir a --run-dir b": "--runs-dir --run-dir",
    "train --run-dir /dev/null/x": "/dev/null/x",
    "train td-valu --games 3": "td-valu td-value",
    "train minimax-q --gams 3": "--gams --games",
    "train minimax-q --preset large": "preset",
    "train minimax-q --rows 4": "rows",
    "train td-backup --rows 1000000 --cols 100000": "--rows",
    "prove": "PLAYER",
    "prove none": "none",
    "prove none:agent": "none:agent",
    "prove random --rows 0": "rows 0",
    "prove random -k 1 -k 2": "--k",
    "prove run": "run model.safetensors",
    "prove shipped rule": "rule --csv",
    "prove shipped --json --csv": "--json --csv",
    "prove optimal --rows 5 --cols 5 --k 4": "5,5,4",
    "prove rule --rows 15 --cols 15 --k 5": "15,15,5",
    "certify rule": "rule",
    "certify rule --rows 3 --cols 4 --k 4 --positions 9": "9",
    "certify shipped --output none/file": "none/file",
    "play shippd": "shippd shipped",
    "play --seat third": "--seat third",
    "play random --seed -1": "--seed -1",
    "play optimal --rows 9 --cols 8": "9x8",
    "play --rows 4": "4,3,3",
    "play heuristic --hints learned": "heuristic learned",
    "arena random": "players",
    "arena nobody random": "nobody",
    "arena random plain random": "random",
    "arena plain wide": "plain wide 3,4,3",
    "arena larger:agent random": "9,9,5 64",
    "arena large random": "random 4,5,3",
    "web rule --follow --no-open": "--follow rule",
    "sweep --seeds few": "few",
    "sweep --search 1 --search 2": "--search:",
    "sweep --vary learning_rate=0.1..0.2": "learning_rate --search",
    "sweep --resume plan": "sweep.json lr learning_rate",
    "report none": "none",
    "report plan": "sweep.json lr learning_rate",
    "course --secondss 3": "--secondss --seconds",
    "course --csv": "--csv",
    "course --check none": "none",
    "course --check a_file": "a_file",
    "course --check empty": "empty",
    "course --check empty --seconds 0": "--seconds 0",
    "course --into a_file": "a_file",
    "course --into a_file/below": "a_file/below",
}
"""What is typed, and the words that the message must hold."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with untrained players, one of which brings a board of 9,9,5, and with what is no player."""
    folder = tmp_path_factory.mktemp("place")
    for name in ("run", "empty", "plan"):
        (folder / name).mkdir()
    (folder / "a_file").touch()
    shutil.copy(SHIPPED_FOLDERS[SHIPPED] / "config.json", folder / "run")
    (folder / "plan" / "sweep.json").write_text('{"vary": ["lr=1"]}')
    saved(folder / "plain")
    saved(folder / "wide", rows=3, cols=4)
    large = config_with(rows=4, cols=5, k=3, mask=True)
    save(folder / "large", large, make(large).player())
    agent = "import tictactoe\ndef agent(_): return 0\nagent.rules = tictactoe.Rules(9, 9, 5)\n"
    (folder / "larger.py").write_text(agent)
    return folder


@pytest.mark.parametrize("line", LINES)
def test_a_mistake_is_named(
    line: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "cuda" in line and torch.cuda.is_available():
        pytest.skip("this machine has what the flag asks for")
    monkeypatch.chdir(place)
    before = {path for path in place.rglob("*") if "__pycache__" not in path.parts}
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(line))
    assert stop.value.code == 2
    complaint = capsys.readouterr().err
    assert [named for named in LINES[line].split() if named not in complaint] == []
    assert "Traceback" not in complaint
    assert {path for path in place.rglob("*") if "__pycache__" not in path.parts} == before


def test_every_command_has_a_mistake() -> None:
    assert {line.split()[0] for line in LINES} == {"trian", *COMMANDS}


def test_a_mistake_at_a_terminal() -> None:
    terminal = at_terminal("train", "--learning-rate", "-1")
    shown = terminal.read()
    assert "--learning-rate" in shown
    assert "Traceback" not in shown
    assert terminal.wait() == 2
