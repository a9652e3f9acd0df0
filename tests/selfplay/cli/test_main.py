"""The program `selfplay` itself: what it prints without a command."""

import pytest

import selfplay
from selfplay.cli.main import COMMANDS, main


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]], ids=str)
def test_the_help_names_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(arguments)
    words = capsys.readouterr().out.split()
    assert [name for name in COMMANDS if name not in words] == []


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert selfplay.__version__ in capsys.readouterr().out.split()
