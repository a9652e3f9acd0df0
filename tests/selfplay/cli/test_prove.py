"""What `selfplay prove` says of built-in opponents, and of boards that are too large."""

from pathlib import Path

import pytest

from selfplay import players
from selfplay.cli import prove
from tests.runs import refused, save, saved
from tests.selfplay.dqn.scripted import config_with, make


@pytest.mark.parametrize(
    ("args", "named"),
    [("optimal --rows 5 --cols 5 --k 4", "5,5,4"), ("rule --rows 15 --cols 15 --k 5", "15,15,5")],
)
def test_a_board_that_is_too_large_is_named(args: str, named: str) -> None:
    assert named in refused(prove.main, args.split())


def test_no_more_positions_are_followed_than_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large, small = str(tmp_path / "large"), str(tmp_path / "small")
    config = config_with(rows=5, cols=4, k=4)
    save(Path(large), config, make(config).player())
    saved(Path(small))
    monkeypatch.setattr(players, "machine_bytes", lambda: 4 * 10**9)
    assert "20,000,000" in refused(prove.main, [large, "--positions", "20000001"])
    prove.main([small, "--positions", "20000001"])  # none are followed on a board that is solved
