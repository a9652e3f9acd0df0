"""Reproduce what the five published learners report, each figure beside the published one.

The figures of docs/results.md:

    python -m benchmarks.learning.published --docs docs

`--docs` also writes the plots of one seed, and the cumulative counts of the match-ups as CSV. The published DQN is
timed here for some thousand steps; `article_speed` trains all of them beside a peer, and `learners` says what the
player is worth after them, and what exercise 1.1's learners are worth.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import Progress

import selfplay
from benchmarks import harness
from benchmarks.harness import Result
from benchmarks.learning import article_speed
from benchmarks.learning.learners import RULES, ties_with_itself
from selfplay.command_line import run_command
from selfplay.dqn.config import PRESETS
from selfplay.files import write_whole
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import MATCH_UPS, MinimaxQ, TDBackup, match_up_curves
from selfplay.tabular.results import cumulative_figure, density_figure, group_counts, groups_figure, write_curves
from selfplay.training.plots import png
from tictactoe.tree import game_tree, play_out, uniform_legal

PROG = "python -m benchmarks.learning.published"
PUBLISHED_SHARES = dict(zip(MATCH_UPS, ("57 / 29 / 12", "91 / 3 / 5", "12 / 70 / 17"), strict=True))
OPPONENTS: tuple[Literal["random", "self"], ...] = ("random", "self")
"""Opponents of td-value in exercise 1.1."""
ARTICLE_STEPS = 20_000
"""Steps of the DQN."""
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
    """Divide the numbers of games and steps by this; more than 1 only to try the script."""


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


def minimax_q(seed: int, games: int, console: Console) -> Result:
    """Train minimax-q under a progress bar."""
    learner = MinimaxQ(MinimaxQConfig(seed=seed))
    started = time.perf_counter()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("minimax-q", total=games)
        while learner.steps < games:
            learner.play(min(100_000, games - learner.steps))
            progress.update(task, completed=learner.steps)
    seconds = time.perf_counter() - started
    return {"games/s": games / seconds, "ties with itself": ties_with_itself(learner.player())}


def td_backup(seed: int, shorten: int) -> tuple[Result, TDBackup, selfplay.agent.Array]:
    """Train td-backup; return also the learner and the counts of its greedy groups."""
    learner = TDBackup(TDBackupConfig(seed=seed))
    games = max(learner.config.games // shorten, 1)
    started = time.perf_counter()
    learner.play(games)
    seconds = time.perf_counter() - started
    learner.finish()
    groups = group_counts(learner.greedy_outcomes, GROUP)
    draws = {f"draws in group {number}": int(drawn) for number, drawn in enumerate(groups[:, -1], 1)}
    return {"ms per game": 1_000 * seconds / games, **draws}, learner, groups


def exercise(opponent: Literal["random", "self"], back_up_losses: bool, seed: int, shorten: int) -> Result:
    """Train td-value as exercise 1.1 asks; the shares are those of the last tenth of training."""
    games = max(TDValueConfig().games // shorten, 10)
    *_, last = selfplay.training(
        TDValueConfig(games=games, opponent=opponent, back_up_losses=back_up_losses, eval_every=games // 10, seed=seed)
    )
    endings = {"X wins, %": "first_wins", "O wins, %": "second_wins", "draws, %": "draws"}
    shares = {name: 100 * last.metrics[f"games/{ending}"] for name, ending in endings.items()}
    return {"unbeatable": selfplay.evaluate(last.player, RULES).unbeatable, **shares}


def main(args: Sequence[str]) -> None:
    """Measure, and print each learner's figures as they come."""
    flags = harness.read_flags(Flags, args, PROG)
    console = harness.start("The published figures", ["numba"], flags.seeds)
    note = "median (least to most) over the seeds"

    games = max(AfterstateQConfig().games // flags.shorten, 1)
    harness.present(
        console, match_ups(flags.match_up_seeds, games), f"{games:,} games, {len(flags.match_up_seeds)} seeds"
    )

    MinimaxQ(MinimaxQConfig()).play(1)  # compiles
    of_minimax = max(MinimaxQConfig().games // flags.shorten, 1)
    results = harness.in_turns(
        console, {"minimax-q": flags.seeds}, lambda _, seed: minimax_q(seed, of_minimax, console)
    )
    harness.present(console, harness.summary(results), f"{of_minimax:,} games, progress bar included; {note}")

    TDBackup(TDBackupConfig()).play(1)  # compiles
    backups = {seed: td_backup(seed, flags.shorten) for seed in flags.seeds}
    results = harness.in_turns(console, {"td-backup": flags.seeds}, lambda _, seed: backups[seed][0])
    harness.present(console, harness.summary(results), f"published: 1.35 ms per game, later groups all draws; {note}")

    variants = {
        f"{opponent}, losses {'' if backs_up else 'not '}backed up": (opponent, backs_up)
        for opponent, backs_up in product(OPPONENTS, (True, False))
    }
    results = harness.in_turns(
        console, dict.fromkeys(variants, flags.seeds), lambda name, seed: exercise(*variants[name], seed, flags.shorten)
    )
    harness.present(console, harness.summary(results, "td-value against"), note)

    steps = max(ARTICLE_STEPS // flags.shorten, PRESETS["article"].warmup)
    results = harness.in_turns(
        console,
        {"dqn --preset article": flags.seeds[:3]},
        lambda _, seed: {"steps/s": steps / article_speed.ours(seed, steps)},
    )
    harness.present(console, harness.summary(results), f"{steps:,} steps; published: 128 steps/s; {note}")
    if flags.docs is not None:
        seed = flags.seeds[0]
        curves = match_up_curves(AfterstateQConfig(games=games), [seed])
        _, learner, groups = backups[seed]
        write_whole(flags.docs / "afterstate-q.png", png(cumulative_figure(curves)))
        write_curves(flags.docs / "afterstate-q.csv", curves, [seed], every=min(100, games))
        write_whole(flags.docs / "td-backup-groups.png", png(groups_figure(groups, GROUP)))
        write_whole(flags.docs / "td-backup-values.png", png(density_figure(*learner.learned_values())))


if __name__ == "__main__":
    run_command(main, PROG)
