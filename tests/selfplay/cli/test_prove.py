"""What `selfplay prove` says of built-in opponents, and of boards that are too large."""

import pytest

from selfplay.cli import prove
from tests.runs import refused


@pytest.mark.parametrize(
    ("args", "named"),
    [("optimal --rows 5 --cols 5 --k 4", "5,5,4"), ("rule --rows 15 --cols 15 --k 5", "15,15,5")],
)
def test_a_board_that_is_too_large_is_named(args: str, named: str) -> None:
    assert named in refused(prove.main, args.split())
