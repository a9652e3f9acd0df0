"""Reproduce what the five published learners report, each figure beside the published one.

The figures of docs/results.md:

    python -m benchmarks.learning.published --docs docs

`--docs` also writes the plots of one seed, and the cumulative counts of the match-ups as CSV. `article_speed` times the
published DQN, and `learners` says what the players are worth, and whether they tie with themselves.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import selfplay
from benchmarks import harness
from benchmarks.data import Result
from benchmarks.learning.learners import RULES
from selfplay.command_line import run_command
from selfplay.files import write_whole
from selfplay.tabular.config import AfterstateQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import MATCH_UPS, TDBackup, match_up_curves
from selfplay.tabular.results import cumulative_figure, density_figure, group_counts, groups_figure, write_curves
from selfplay.training.plots import png
from tictactoe.tree import game_tree, play_out, uniform_legal

PROG = "python -m benchmarks.learning.published"
PUBLISHED_SHARES = dict(zip(MATCH_UPS, ("57 / 29 / 12", "91 / 3 / 5", "12 / 70 / 17"), strict=True))
VARIANTS: Mapping[str, tuple[Literal["random", "self"], bool]] = {
    "against random": ("random", True),
    "against random, losses not backed up": ("random", False),
    "against itself": ("self", True),
    "against itself, losses not backed up": ("self", False),
}
"""Opponents of td-value in exercise 1.1, and whether it backs up losses."""
DRAW_REWARDS = (0.1, 0.2)
"""Draw rewards of afterstate-q, of the published program and of the text."""
GROUP = 500
"""Greedy games of td-backup that are counted together."""


@dataclass(frozen=True)
class Flags:
    """Reproduce what the five published learners report."""

    seeds: tuple[int, ...] = tuple(range(5))
    """Seeds of everything but the match-ups; the plots are of the first."""
    match_up_seeds: tuple[int, ...] = tuple(range(20))
    """Seeds of afterstate-q's match-ups."""
    docs: Path | None = None
    """Folder to write the plots and the CSV into."""
    shorten: int = 1
    """Divide the numbers of games by this; more than 1 only to try the script."""


def match_ups(seeds: Sequence[int], games: int) -> list[list[str]]:
    """Play afterstate-q's match-ups with both draw rewards, and return a table."""
    tree = game_tree(RULES)
    chances = play_out(tree, uniform_legal(tree), uniform_legal(tree))
    exact = [chances.first_wins, chances.second_wins, chances.draws]
    lines = [["afterstate-q", "draw reward", "X / O / draws, %: mean", "standard deviation", "published", "exact"]]
    for draw_reward in DRAW_REWARDS:
        curves = match_up_curves(AfterstateQConfig(games=games, draw_reward=draw_reward), seeds)
        for name, counts in curves.items():
            shares = counts[:, -1] / games
            deviation = shares.std(axis=0, ddof=min(1, len(seeds) - 1))
            known = exact if MATCH_UPS[name] == "none" else []
            texts = [
                " / ".join(f"{share:.1%}".rstrip("%") for share in row) for row in (shares.mean(axis=0), deviation)
            ]
            texts += [PUBLISHED_SHARES[name], " / ".join(f"{share:.1%}".rstrip("%") for share in known)]
            lines.append([name, str(draw_reward), *texts])
    return lines


def td_backup(seed: int, games: int) -> tuple[float, TDBackup]:
    """Train td-backup; return the milliseconds per game, and the learner after its greedy games."""
    learner = TDBackup(TDBackupConfig(seed=seed))
    started = time.perf_counter()
    learner.play(games)
    seconds = time.perf_counter() - started
    learner.finish()
    return 1_000 * seconds / games, learner


def exercise(variant: str, seed: int, games: int) -> Result:
    """Train td-value as exercise 1.1 asks; the shares are those of the last tenth of training."""
    opponent, back_up_losses = VARIANTS[variant]
    *_, last = selfplay.training(
        TDValueConfig(games=games, opponent=opponent, back_up_losses=back_up_losses, eval_every=games // 10, seed=seed)
    )
    shares = {f"{end}, %": 100 * last.metrics[f"games/{end}"] for end in ("first_wins", "second_wins", "draws")}
    return {"unbeatable": last.evaluation.unbeatable, **shares}


def main(args: Sequence[str]) -> None:
    """Measure, and print each learner's figures as they come."""
    flags = harness.read_flags(Flags, args, PROG)
    console = harness.start("The published figures", ["numba"], flags.seeds)
    of_match_ups, of_backup, of_value = (
        max(config.games // flags.shorten, 10) for config in (AfterstateQConfig(), TDBackupConfig(), TDValueConfig())
    )
    backups: dict[int, TDBackup] = {}

    def measure(row: str, seed: int) -> Result:
        if row in VARIANTS:
            return exercise(row, seed, of_value)
        milliseconds, backups[seed] = td_backup(seed, of_backup)
        draws = group_counts(backups[seed].greedy_outcomes, GROUP)[:, -1]
        return {"ms per game": milliseconds, **{f"draws {group}": int(drawn) for group, drawn in enumerate(draws)}}

    TDBackup(TDBackupConfig()).play(1)  # compiles
    tables = {
        f"published: 1.35 ms per game; draws in each {GROUP} greedy games": ["td-backup"],
        "td-value in exercise 1.1, last tenth of training": list(VARIANTS),
    }
    harness.present(console, match_ups(flags.match_up_seeds, of_match_ups), f"{of_match_ups:,} games")
    for note, rows in tables.items():
        harness.present(console, harness.summary(harness.in_turns(console, rows, flags.seeds, measure)), note)
    if flags.docs is not None:
        seed = flags.seeds[0]
        curves = match_up_curves(AfterstateQConfig(games=of_match_ups), [seed])
        groups = group_counts(backups[seed].greedy_outcomes, GROUP)
        write_whole(flags.docs / "afterstate-q.png", png(cumulative_figure(curves)))
        write_curves(flags.docs / "afterstate-q.csv", curves, [seed], every=100)
        write_whole(flags.docs / "td-backup-groups.png", png(groups_figure(groups, GROUP)))
        write_whole(flags.docs / "td-backup-values.png", png(density_figure(*backups[seed].learned_values())))


if __name__ == "__main__":
    run_command(main, PROG)
