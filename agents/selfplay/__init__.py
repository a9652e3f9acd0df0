"""Agents for tic-tac-toe and its m,n,k family, trained by self-play and evaluated exactly.

Names are imported when they are asked for (PEP 562), so that this package, the settings and every `--help` import no
PyTorch, which takes seconds.
"""

import importlib
from typing import TYPE_CHECKING, Any

from selfplay.errors import naming_the_extra

if TYPE_CHECKING:
    from selfplay.agent import Agent, Player, StochasticAgent
    from selfplay.algorithms import load, train, training
    from selfplay.dqn.config import PRESETS, DQNConfig
    from selfplay.dqn.interleaved import InterleavedAgents
    from selfplay.errors import UserError
    from selfplay.proof.evaluation import Evaluation, Proof, SeatEvaluation, evaluate
    from selfplay.proof.reach import Unfinished, Unproved, evaluate_reach
    from selfplay.runs.experiment import Run
    from selfplay.runs.loop import Record
    from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig

__all__ = [
    "PRESETS",
    "AfterstateQConfig",
    "Agent",
    "DQNConfig",
    "Evaluation",
    "InterleavedAgents",
    "MinimaxQConfig",
    "Player",
    "Proof",
    "Record",
    "Run",
    "SeatEvaluation",
    "StochasticAgent",
    "TDBackupConfig",
    "TDValueConfig",
    "Unfinished",
    "Unproved",
    "UserError",
    "evaluate",
    "evaluate_reach",
    "load",
    "train",
    "training",
]

_PLACES = {
    "agent": ("Agent", "Player", "StochasticAgent"),
    "algorithms": ("load", "train", "training"),
    "dqn.config": ("PRESETS", "DQNConfig"),
    "dqn.interleaved": ("InterleavedAgents",),
    "errors": ("UserError",),
    "proof.evaluation": ("Evaluation", "Proof", "SeatEvaluation", "evaluate"),
    "proof.reach": ("Unfinished", "Unproved", "evaluate_reach"),
    "runs.experiment": ("Run",),
    "runs.loop": ("Record",),
    "tabular.config": ("AfterstateQConfig", "MinimaxQConfig", "TDBackupConfig", "TDValueConfig"),
}
"""The names by the module that each comes from; a test compares them with the imports above."""


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            with naming_the_extra():
                return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
