"""What `selfplay prove` says of built-in opponents, and of boards that are too large."""

from pathlib import Path

import pytest

from selfplay import players
from selfplay.cli import prove
from tests.runs import refused, save, saved
from tests.selfplay.dqn.scripted import config_with, make


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        ("optimal --rows 5 --cols 5 --k 4", "search each position of 5,5,4, a board of over 16 cells, which takes too"),
        ("rule --rows 15 --cols 15 --k 5", "15,15,5 has 225 cells: a player can be followed on boards of up to 64"),
    ],
)
def test_a_mistake_is_one_line(args: str, gist: str) -> None:
    assert gist in refused(prove.main, args.split())


def test_no_more_positions_are_followed_than_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large, small = str(tmp_path / "large"), str(tmp_path / "small")
    config = config_with(rows=5, cols=4, k=4)
    save(Path(large), config, make(config).player())
    saved(Path(small))
    monkeypatch.setattr(players, "machine_bytes", lambda: 4 * 10**9)
    message = "positions= must be at most 20,000,000, for which 4 GB of memory are enough, got 20000001"
    assert refused(prove.main, [large, "--positions", "20000001"]) == message
    prove.main([small, "--positions", "20000001"])  # none are followed on a board that is solved
