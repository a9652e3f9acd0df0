"""Reproduce what the five published learners report, each figure beside the published one.

The README's figures:

    python -m benchmarks.learning.published --docs docs

`--docs` also writes the pictures of one seed, and the cumulative counts of the match-ups as CSV. The published
DQN is timed here for some thousand steps; `benchmarks/training/article_speed.py` does all of them beside a peer, and
`learners.py` says what it is worth after them, and what exercise 1.1's learners are worth.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.learning.learners import ties_with_itself
from benchmarks.measuring import machine
from benchmarks.measuring.flags import read_flags
from benchmarks.measuring.spread import spread
from benchmarks.training import article_speed
from selfplay import training
from selfplay.command_line import run_command
from selfplay.dqn.config import PRESETS
from selfplay.files import write_whole
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import MATCH_UPS, MinimaxQ, TDBackup, match_up_curves
from selfplay.tabular.players import IntArray
from selfplay.tabular.results import cumulative_figure, density_figure, group_counts, groups_figure, write_curves
from selfplay.training.plots import png
from tictactoe import Rules
from tictactoe.tree import game_tree, play_out, uniform_legal

PROG = "python -m benchmarks.learning.published"
RULES = Rules()

PUBLISHED_SHARES = dict(zip(MATCH_UPS, ("57 / 29 / 12", "91 / 3 / 5", "12 / 70 / 17"), strict=True))
PUBLISHED_MILLISECONDS = 1.35
"""Of one game of td-backup, the mean; 740 games per second."""
PUBLISHED_STEPS_PER_SECOND = 128
"""Of the DQN."""

OPPONENTS: tuple[Literal["random", "self"], ...] = ("random", "self")
"""Of td-value in exercise 1.1."""
ARTICLE_STEPS = 20_000
"""Of the DQN, with each of the first three seeds."""
DRAW_REWARDS = (0.1, 0.2)
"""Of afterstate-q: that of the published program, and that of the text."""
PROGRESS_GAMES = 100_000
"""Of minimax-q between two moves of the progress bar."""
GROUP = 500
"""Greedy games of td-backup that are counted together."""
CSV_GAMES = 100
"""Games between two lines of the CSV."""


@dataclass(frozen=True)
class Flags:
    """Reproduce what the five published learners report."""

    seeds: tuple[int, ...] = tuple(range(5))
    """Seeds of everything but the match-ups; the pictures are of the first."""
    match_up_seeds: tuple[int, ...] = tuple(range(20))
    """Seeds of afterstate-q's match-ups."""
    docs: Path | None = None
    """Folder to write the pictures and the CSV into."""
    shorten: int = 1
    """Divide the numbers of games and steps by this; more than 1 only to try the script."""


def shares_text(shares: Iterable[float]) -> str:
    """Return parts of one as percentages with slashes between them."""
    return " / ".join(f"{share:.1%}".rstrip("%") for share in shares)


def exact_random_shares() -> list[float]:
    """Return the probabilities that X wins, that O wins and of a draw if both play at random."""
    tree = game_tree(RULES)
    chances = play_out(tree, uniform_legal(tree), uniform_legal(tree))
    return [chances.first_wins, chances.second_wins, chances.draws]


def match_ups(seeds: Sequence[int], games: int) -> Table:
    """Play afterstate-q's match-ups with both rewards of a draw; one row for each."""
    table = Table("afterstate-q", "draw reward", "X / O / draws, %: mean", "standard deviation", "published", "exact")
    curves = {
        draw_reward: match_up_curves(AfterstateQConfig(games=games, draw_reward=draw_reward), seeds)
        for draw_reward in DRAW_REWARDS
    }
    for name, draw_reward in product(MATCH_UPS, DRAW_REWARDS):
        shares = curves[draw_reward][name][:, -1] / games
        table.add_row(
            name,
            f"{draw_reward}",
            shares_text(shares.mean(axis=0)),
            shares_text(shares.std(axis=0, ddof=1)) if len(seeds) > 1 else "",
            PUBLISHED_SHARES[name],
            shares_text(exact_random_shares()) if MATCH_UPS[name] == "none" else "",
        )
    return table


def minimax_q(seeds: Iterable[int], games: int, console: Console) -> Iterator[str]:
    """Train minimax-q under a progress bar; yield a line for each seed."""
    MinimaxQ(MinimaxQConfig()).play(1)  # compiles
    for seed in seeds:
        learner = MinimaxQ(MinimaxQConfig(seed=seed))
        started = time.perf_counter()
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(f"minimax-q, seed {seed}", total=games)
            while learner.steps < games:
                learner.play(min(PROGRESS_GAMES, games - learner.steps))
                progress.update(task, completed=learner.steps)
        rate = games / (time.perf_counter() - started)
        ties = "ties" if ties_with_itself(learner.player()) else "does NOT tie"
        yield f"minimax-q, seed {seed}: {games:,} games, {rate:,.0f} games/s with progress bar; {ties} with itself"


def td_backup(seeds: Sequence[int], shorten: int) -> tuple[Table, list[tuple[TDBackup, IntArray]]]:
    """Train td-backup; return a row per seed, and the learners with the counts of their greedy groups."""
    TDBackup(TDBackupConfig()).play(1)  # compiles
    table = Table("td-backup", "µs per game", "games/s", "times as fast as published", f"draws in each {GROUP}")
    done = []
    for seed in seeds:
        learner = TDBackup(TDBackupConfig(seed=seed))
        games = max(learner.config.games // shorten, 1)
        started = time.perf_counter()
        learner.play(games)
        per_game = (time.perf_counter() - started) / games
        learner.finish()
        groups = group_counts(learner.greedy_outcomes, GROUP)
        table.add_row(
            f"seed {seed}",
            f"{1e6 * per_game:.2f}",
            f"{1 / per_game:,.0f}",
            f"{PUBLISHED_MILLISECONDS / 1e3 / per_game:,.0f}",
            " ".join(map(str, groups[:, -1])),
        )
        done.append((learner, groups))
    return table, done


def exercise(seeds: Sequence[int], shorten: int) -> Table:
    """Answer exercise 1.1: train td-value against random and against itself, with and without backed up losses."""
    table = Table("td-value against", "backs up losses", "unbeatable", "X / O / draws, %, last tenth of training")
    games = max(TDValueConfig().games // shorten, 10)
    for opponent, backs_up in product(OPPONENTS, (True, False)):
        unbeatable, last_games = 0, []
        for seed in seeds:
            config = TDValueConfig(games=games, opponent=opponent, back_up_losses=backs_up, eval_every=games // 10)
            *_, last = training(replace(config, seed=seed))
            unbeatable += last.evaluation.unbeatable
            last_games.append([last.metrics[f"games/{ending}"] for ending in ("first_wins", "second_wins", "draws")])
        backed_up = "yes" if backs_up else "no"
        table.add_row(opponent, backed_up, f"{unbeatable} of {len(seeds)}", shares_text(np.mean(last_games, axis=0)))
    return table


def write_docs(folder: Path, seed: int, games: int, backup: TDBackup, groups: IntArray) -> None:
    """Write the pictures of one seed, and its match-ups as CSV."""
    curves = match_up_curves(AfterstateQConfig(games=games), [seed])
    write_whole(folder / "afterstate-q.png", png(cumulative_figure(curves)))
    write_curves(folder / "afterstate-q.csv", curves, [seed], every=min(CSV_GAMES, games))
    write_whole(folder / "td-backup-groups.png", png(groups_figure(groups, GROUP)))
    write_whole(folder / "td-backup-values.png", png(density_figure(*backup.learned_values())))


def main(args: Sequence[str]) -> None:
    """Measure, and print each learner's figures as they come."""
    flags = read_flags(Flags, args, PROG)
    console = machine.start("The published figures", ["numba"], flags.seeds)

    games = max(AfterstateQConfig().games // flags.shorten, 1)
    console.print(match_ups(flags.match_up_seeds, games))
    console.print(f"{games:,} games each, {len(flags.match_up_seeds)} seeds: {list(flags.match_up_seeds)}")
    for line in minimax_q(flags.seeds, max(MinimaxQConfig().games // flags.shorten, 1), console):
        console.print(line)
    table, backups = td_backup(flags.seeds, flags.shorten)
    console.print(table)
    console.print(f"published: {PUBLISHED_MILLISECONDS} ms per game, and all draws after some groups")
    console.print(exercise(flags.seeds, flags.shorten))
    steps = max(ARTICLE_STEPS // flags.shorten, PRESETS["article"].warmup)
    rate = spread(steps / article_speed.ours(seed, steps).seconds for seed in flags.seeds[:3])
    console.print(
        f"dqn --preset article: {rate.text()} steps/s over {steps:,} steps, "
        f"{rate.median / PUBLISHED_STEPS_PER_SECOND:.1f} times the published {PUBLISHED_STEPS_PER_SECOND}"
    )
    console.print(f"load {machine.load()} at the end")
    if flags.docs is not None:
        write_docs(flags.docs, flags.seeds[0], games, *backups[0])


if __name__ == "__main__":
    run_command(main, PROG)
