"""A mistake in any command ends it with status 2 and a message that names the mistake, without a traceback."""

import shutil
from pathlib import Path

import pytest

from selfplay.cli.main import COMMANDS, main
from selfplay.runs.load import SHIPPED_FOLDER
from tests.children import at_terminal

LINES = {
    "trian": ["trian", "train"],
    "train --sed 1": ["--sed", "--seed"],
    "train --stop sometimes": ["--stop", "sometimes"],
    "train --hidden 0": ["hidden", "0"],
    "train --resume none": ["none"],
    "prove": ["PLAYER"],
    "prove none": ["none"],
    "prove none:agent": ["none:agent"],
    "prove random --rows 0": ["rows", "0"],
    "prove run": ["run", "model.safetensors"],
    "prove shipped rule": ["rule", "--csv"],
    "prove shipped --json --csv": ["json", "csv"],
    "certify rule": ["rule"],
    "certify shipped --output none/file": ["none/file"],
    "play shippd": ["shippd", "shipped"],
    "play --seat third": ["--seat", "third"],
    "play random --seed -1": ["seed", "-1"],
    "arena random": ["players"],
    "web rule --follow --no-open": ["--follow", "rule"],
    "sweep --seeds few": ["few"],
    "report none": ["none"],
    "course --secondss 3": ["--secondss", "--seconds"],
    "course --check none": ["none"],
}


@pytest.mark.parametrize("line", LINES)
def test_a_mistake_is_named(line: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "run").mkdir()
    shutil.copy(SHIPPED_FOLDER / "config.json", here / "run")
    with pytest.raises(SystemExit) as stop:
        main(line.split())
    assert stop.value.code == 2
    complaint = capsys.readouterr().err
    assert [named for named in LINES[line] if named not in complaint] == []


def test_every_command_has_a_mistake() -> None:
    assert {line.split()[0] for line in LINES} == {"trian", *COMMANDS}


def test_a_mistake_at_a_terminal() -> None:
    terminal = at_terminal("train", "--learning-rate", "-1")
    shown = terminal.read()
    assert "--learning-rate" in shown
    assert "Traceback" not in shown
    assert terminal.wait() == 2
