"""What `selfplay prove` says of built-in opponents, and of boards that are too large."""

import pytest

from selfplay.cli import prove
from tests.runs import refused


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        ("optimal --rows 5 --cols 5 --k 4", "search each position of 5,5,4, a board of over 16 cells, which takes too"),
        ("rule --rows 15 --cols 15 --k 5", "15,15,5 has 225 cells: a player can be followed on boards of up to 64"),
    ],
)
def test_a_mistake_is_one_line(args: str, gist: str) -> None:
    assert gist in refused(prove.main, args.split())
