"""Reproduce what the five published learners report, each figure with the published one.

The figures of docs/learning.md:

    python -m benchmarks.learning.published --docs docs

`--docs` also writes the plots of one seed, and the cumulative counts of the match-ups as CSV. `article_speed` times the
published DQN, and `learners` says what the players are worth, and whether they tie with themselves.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tyro

import selfplay
from benchmarks import data, harness
from benchmarks.data import Result
from benchmarks.learning.learners import COMMANDS, RULES, configuration
from selfplay.pictures import png
from selfplay.tabular.config import AfterstateQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import MATCH_UPS, TDBackup, match_up_curves
from selfplay.tabular.results import cumulative_figure, density_figure, group_counts, groups_figure, write_curves
from tictactoe.tree import game_tree, play_out, uniform_legal

LIBRARIES = ["numba"]
MATCH_UP_TITLE, BACKUP_TITLE, EXERCISE_TITLE = "Match-ups of afterstate-q", "Greedy games of td-backup", "Exercise"
PUBLISHED_SHARES = dict(zip(MATCH_UPS, ("57 / 29 / 12", "91 / 3 / 5", "12 / 70 / 17"), strict=True))
"""Games that X has won, that O has won, and draws, in percent, by match-up."""
ENDS = ("X, %", "O, %", "draws, %")
EXERCISE = tuple(command for command in COMMANDS if command.startswith("td-value"))
"""What is trained for exercise 1.1."""
BACKUP = "td-backup"
DRAW_REWARDS = (0.1, 0.2)
"""Draw rewards of afterstate-q, of the published program and of the text."""
PUBLISHED_MS = 1.35
"""Milliseconds per game of td-backup."""
GROUP = 500
"""Greedy games of td-backup that are counted together."""


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


def td_backup(seed: int, games: int) -> tuple[float, TDBackup]:
    """Train td-backup; return the microseconds of the processor per game, and the learner after its greedy games."""
    learner = TDBackup(TDBackupConfig(seed=seed))
    started = time.process_time()
    learner.play(games)
    seconds = time.process_time() - started
    learner.finish()
    return 1_000_000 * seconds / games, learner


def exercise(command: str, seed: int, games: int) -> Result:
    """Train td-value as exercise 1.1 asks; the shares are those of the last tenth of training."""
    settings: dict[str, Any] = {"games": games, "eval_every": games // 10}
    *_, last = selfplay.training(replace(configuration(command, seed), **settings))
    ends = shares(*(last.metrics[f"games/{end}"] for end in ("first_wins", "second_wins", "draws")))
    return {"unbeatable": last.verdict.unbeatable, **ends}


def main(
    seeds: tuple[int, ...] = tuple(range(5)),
    match_up_seeds: tuple[int, ...] = tuple(range(20)),
    shorten: int = 1,
    docs: Path | None = None,
) -> None:
    """Reproduce what the five published learners report.

    Args:
        seeds: Seeds of everything but the match-ups; the plots are of the first.
        match_up_seeds: Seeds of afterstate-q's match-ups.
        shorten: Divide the numbers of games by this; more than 1 only to try the script.
        docs: Folder of the pages, to write the plots and the CSV into, and in whose data file the results are saved.
    """
    measured_on = harness.start("The published figures", LIBRARIES, seeds)
    of_match_ups, of_backup, of_value = (
        max(config.games // shorten, 10) for config in (AfterstateQConfig(), TDBackupConfig(), TDValueConfig())
    )
    backups: dict[int, TDBackup] = {}

    def measure(row: str, seed: int) -> Result:
        if row != BACKUP:
            return exercise(row, seed, of_value)
        microseconds, backups[seed] = td_backup(seed, of_backup)
        draws = group_counts(backups[seed].greedy_outcomes, GROUP)[:, -1]
        return {"µs per game": microseconds, **{f"draws {group}": int(drawn) for group, drawn in enumerate(draws, 1)}}

    TDBackup(TDBackupConfig()).play(1)  # compiles
    tables = {
        MATCH_UP_TITLE: match_ups(match_up_seeds, of_match_ups),
        BACKUP_TITLE: harness.in_turns([BACKUP], seeds, measure),
        EXERCISE_TITLE: harness.in_turns(EXERCISE, seeds, measure),
    }
    for title, results in tables.items():
        harness.present(results, title)
        if docs is not None:
            data.save(docs, title, results, measured_on)
    if docs is not None:
        seed = seeds[0]
        curves = match_up_curves(AfterstateQConfig(games=of_match_ups, seed=seed))
        groups = group_counts(backups[seed].greedy_outcomes, GROUP)
        write_curves(docs / "afterstate-q.csv", curves, seed, every=100)
        figures = {
            "afterstate-q": cumulative_figure(curves),
            "td-backup-groups": groups_figure(groups, GROUP),
            "td-backup-values": density_figure(*backups[seed].learned_values()),
        }
        for name, figure in figures.items():
            (docs / f"{name}.png").write_bytes(png(figure))


if __name__ == "__main__":
    tyro.cli(main)
