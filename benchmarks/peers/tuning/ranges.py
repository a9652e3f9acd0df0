"""What the search draws from for each contestant, and what it draws next."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from benchmarks.peers.tuning.record import SEARCH_SEED, Contestant, Ended
from benchmarks.peers.tuning.score import score
from selfplay.sweep.search_space import Range, distribution

Ranges: TypeAlias = Mapping[str, Range | tuple[str, ...]]

ALL: Ranges = {
    "learning_rate": Range(1e-4, 2e-2),
    "batch_size": Range(32, 512, integers=True),
    "hidden": ("64x64", "120x84", "128x128", "256", "256x256", "512"),
    "updates_per_step": Range(1 / 256, 1.0),  # of a step of one board, so at least one each time that it learns
    "target": ("copied", "moved"),  # every so many steps, or a part of the way at each
    "target_every": Range(10, 5_000, integers=True),
    "soft_update": Range(1e-3, 0.1),
    "epsilon_end": Range(0.0, 0.9),
    "gamma": Range(0.9, 1.0),
    "memory_size": Range(10_000, 200_000, integers=True),
    "learning_starts": Range(100, 10_000, integers=True),
    "rewards": ("shaped", "sparse"),
}
"""The same for every contestant; the examples' settings of all libraries lie in them."""
ALONE: Ranges = {
    "learning_rate_hold": Range(1_000, 1_000_000, integers=True),  # steps; at its end, more than most runs have
    "epsilon_steps": Range(1_000, 300_000, integers=True),
    "opponent": ("random", "heuristic", "self"),
    "copy_every": Range(500, 50_000, integers=True),
    "opponent_random": Range(0.0, 0.5),
}
"""Of those that learn alone."""
BOARDS = Range(1, 256, integers=True)
RANGES: Mapping[Contestant, Ranges] = {
    "ours": {
        **ALL,
        "learning_rate_hold": Range(300, 100_000, integers=True),  # updates
        "epsilon_steps": Range(10_000, 3_000_000, integers=True),
        "boards": BOARDS,
    },
    "stable-baselines3": {**ALL, **ALONE, "boards": BOARDS, "train_every": Range(1, 256, integers=True)},
    "cleanrl-style": {**ALL, **ALONE},
}
"""CleanRL's loop has one board by its own limit. Where a contestant counts in units of its own, its file says so."""
WITH_EXAMPLE: tuple[Contestant, ...] = ("stable-baselines3", "cleanrl-style")
"""Whose first trial has their examples' settings; ours has none, as its defaults come of a longer search."""


def draw(contestant: Contestant, number: int, ended: Sequence[Ended]) -> dict[str, Any]:
    """Return the settings of a trial, by what those that have ended came to; nothing for those of the example.

    What is drawn depends on the arguments alone, so that a search that was stopped goes on like one that was not.
    """
    if number == 0 and contestant in WITH_EXAMPLE:
        return {}
    import optuna  # noqa: PLC0415 (tells who lacks it what to install, after the flags have been read)

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    ranges = RANGES[contestant]
    space = {name: distribution(among) for name, among in ranges.items()}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=SEARCH_SEED + number))
    for one in ended:
        if one.job.drawn:  # the example's may lie between what can be drawn
            value = score(one.history)
            study.add_trial(optuna.trial.create_trial(params=one.job.drawn, distributions=space, value=value))
    drawn = study.ask(space).params
    return {
        name: among.round(drawn[name]) if isinstance(among, Range) else drawn[name] for name, among in ranges.items()
    }
