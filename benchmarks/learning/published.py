"""Repeat the match-ups of afterstate-q that its author reported, with the published results.

A table of docs/results.md:

    python -m benchmarks.learning.published --docs docs

`learners` says what the players of all published learners are worth, and whether they tie with themselves.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import tyro

from benchmarks import data, harness
from benchmarks.data import Result
from benchmarks.learning.learners import RULES
from selfplay.tabular.config import AfterstateQConfig
from selfplay.tabular.learners import MATCH_UPS, match_up_curves
from tictactoe.tree import game_tree, play_out, uniform_legal

MATCH_UP_TITLE = "Match-ups of afterstate-q"
PUBLISHED_SHARES = dict(zip(MATCH_UPS, ("57 / 29 / 12", "91 / 3 / 5", "12 / 70 / 17"), strict=True))
"""Games that X has won, that O has won, and draws, in percent, by match-up."""
ENDS = ("X, %", "O, %", "draws, %")
DRAW_REWARDS = (0.1, 0.2)
"""Draw rewards of the published program and of the text."""


def match_ups(seeds: Sequence[int], games: int) -> dict[str, list[Result]]:
    """Play afterstate-q's match-ups with both draw rewards; return how the games of each seed end, by row."""
    tree = game_tree(RULES)
    chances = play_out(tree, uniform_legal(tree), uniform_legal(tree))
    found = {"random against random, exact": [shares(chances.first_wins, chances.second_wins, chances.draws)]}
    for draw_reward in DRAW_REWARDS:
        config = AfterstateQConfig(games=games, draw_reward=draw_reward)
        of_seeds = [match_up_curves(replace(config, seed=seed)) for seed in seeds]
        for name, seat in MATCH_UPS.items():
            row = name if seat == "none" else f"{name}, draw reward {draw_reward}"
            found[row] = [shares(*curves[name][-1] / games) for curves in of_seeds]
    return found


def shares(*ends: float) -> Result:
    """Return how games end, in percent."""
    return {name: 100 * float(share) for name, share in zip(ENDS, ends, strict=True)}


def main(
    seeds: tuple[int, ...] = tuple(range(20)), games: int = AfterstateQConfig().games, docs: Path | None = None
) -> None:
    """Repeat the match-ups of afterstate-q.

    Args:
        seeds: Seeds of every match-up.
        games: Games of each.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    measured_on = harness.start(MATCH_UP_TITLE, ["numba"], seeds)
    results = match_ups(seeds, games)
    harness.present(results, MATCH_UP_TITLE)
    if docs is not None:
        data.save(docs, MATCH_UP_TITLE, results, measured_on)


if __name__ == "__main__":
    tyro.cli(main)
