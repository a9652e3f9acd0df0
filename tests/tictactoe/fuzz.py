"""Play random games with random settings in every environment until a number of plies is reached.

Environments of one board are compared with the rule book, vectors with Gymnasium's vector of single environments. The
first difference ends it with an AssertionError.

    python -m tests.tictactoe.fuzz --plies 1000000
"""

import argparse
from collections import Counter

import pytest

from tests.tictactoe.driver import play_sampled_games
from tests.tictactoe.test_vectors import BOARDS, compare_sampled_vectors

PLIES = 60
"""Plies on each board of a vector."""


def main() -> None:
    """Print how many plies were equal in each environment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plies", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0, help="the number from which the first settings follow")
    asked = parser.parse_args()
    number, plies, ended = asked.seed, Counter[str](), 0
    while plies.total() < asked.plies:
        for api in ("turn", "PettingZoo", "versus"):
            plies[api] += play_sampled_games(api, number, games=20)
        with pytest.MonkeyPatch.context() as patched:
            ended += compare_sampled_vectors(patched, number, PLIES)
        plies["vectors"] += PLIES * BOARDS
        number += 1
    print(f"{plies.total():,} plies equal, settings {asked.seed} to {number - 1}:", dict(plies))
    print(f"{ended:,} games of the vectors ended")


if __name__ == "__main__":
    main()
