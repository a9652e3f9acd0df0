"""The learners of the comparison by name: where each is, and what it needs."""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from rich.console import Console

from benchmarks.measuring.turns import INSTALL, installed

Name = Literal["ours", "stable-baselines3", "cleanrl-style", "open-spiel", "tianshou"]
AnyName = TypeVar("AnyName", bound=Name)


class Learner(NamedTuple):
    """Say where a learner is, and what it needs."""

    module: str
    """Its file in this folder."""
    imports: tuple[str, ...] = ()


LEARNERS: Mapping[Name, Learner] = {
    "ours": Learner("ours"),
    "stable-baselines3": Learner("stable_baselines3_dqn", ("stable_baselines3",)),
    "cleanrl-style": Learner("cleanrl_dqn", ("stable_baselines3",)),
    "open-spiel": Learner("open_spiel_dqn", ("open_spiel", "tree")),
    "tianshou": Learner("tianshou_dqn", ("tianshou",)),
}


def load(name: Name) -> Any:
    """Import a learner's file; its `make` prepares a training."""
    return importlib.import_module(f"benchmarks.peers.{LEARNERS[name].module}")


def missing(learner: Learner) -> list[str]:
    """Return what it imports and is not installed."""
    return [name for name in learner.imports if not installed(name)]


def those_there(names: Sequence[AnyName], console: Console) -> list[AnyName]:
    """Return the learners that can be trained here, and print what the others lack."""
    there = []
    for name in names:
        if lacking := missing(LEARNERS[name]):
            console.print(f"{name} is left out: no {' and no '.join(lacking)} here; {INSTALL}")
        else:
            there.append(name)
    return there
