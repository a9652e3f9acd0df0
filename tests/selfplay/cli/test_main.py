"""The program `selfplay` itself: what it prints without a command."""

from collections.abc import Iterable

import pytest

import selfplay
from selfplay.cli.main import COMMANDS, main


@pytest.mark.parametrize(
    ("line", "named"),
    [("", COMMANDS), ("--help", COMMANDS), ("-h", COMMANDS), ("--version", [selfplay.__version__])],
)
def test_what_is_printed(line: str, named: Iterable[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(line.split())
    assert {*named} <= {*capsys.readouterr().out.split()}
