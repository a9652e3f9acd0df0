"""Agents for tic-tac-toe and its m,n,k family, trained by self-play and evaluated exactly.

Names are imported when they are asked for (PEP 562), so that this package, the settings and every `--help` import no
PyTorch, which takes seconds.
"""

import importlib
from typing import TYPE_CHECKING, Any

from selfplay.errors import naming_the_extra

if TYPE_CHECKING:
    from selfplay.adapter import agent as agent
    from selfplay.dqn.config import PRESETS as PRESETS, DQNConfig as DQNConfig
    from selfplay.dqn.dqn import DQNAgent as DQNAgent, InterleavedSelfPlay as InterleavedSelfPlay
    from selfplay.errors import UserError as UserError
    from selfplay.judge.counterexamples import Counterexamples as Counterexamples
    from selfplay.judge.mistakes import Mistake as Mistake
    from selfplay.judge.verdict import SeatVerdict as SeatVerdict, Verdict as Verdict
    from selfplay.learner import Learner as Learner
    from selfplay.protocols import Agent as Agent, Player as Player, StochasticAgent as StochasticAgent
    from selfplay.runs.api import (
        open as open,  # noqa: A004 (selfplay.open, as gymnasium.make)
        train as train,
        training as training,
    )
    from selfplay.runs.load import load as load, snapshot_steps as snapshot_steps
    from selfplay.runs.loop import Record as Record
    from selfplay.runs.result import Run as Run
    from selfplay.settings import CustomConfig as CustomConfig
    from selfplay.tabular.config import (
        AfterstateQConfig as AfterstateQConfig,
        MinimaxQConfig as MinimaxQConfig,
        TDBackupConfig as TDBackupConfig,
        TDValueConfig as TDValueConfig,
    )
    from selfplay.verdicts import (
        counterexamples as counterexamples,
        evaluate as evaluate,
        mistakes as mistakes,
    )

    __version__: str

_PLACES = {
    "runs.api": ("open", "train", "training"),
    "runs.load": ("load", "snapshot_steps"),
    "adapter": ("agent",),
    "protocols": ("Agent", "Player", "StochasticAgent"),
    "dqn.config": ("PRESETS", "DQNConfig"),
    "dqn.dqn": ("DQNAgent", "InterleavedSelfPlay"),
    "errors": ("UserError",),
    "judge.counterexamples": ("Counterexamples",),
    "judge.mistakes": ("Mistake",),
    "judge.verdict": ("SeatVerdict", "Verdict"),
    "learner": ("Learner",),
    "settings": ("CustomConfig",),
    "runs.result": ("Run",),
    "runs.loop": ("Record",),
    "verdicts": ("counterexamples", "evaluate", "mistakes"),
    "tabular.config": ("AfterstateQConfig", "MinimaxQConfig", "TDBackupConfig", "TDValueConfig"),
}
"""The names by the module that each comes from; a test compares them with the imports above."""
__all__ = [name for names in _PLACES.values() for name in names]


def __getattr__(name: str) -> Any:
    if name == "__version__":  # one distribution holds both packages
        from tictactoe import __version__

        return __version__
    for module, names in _PLACES.items():
        if name in names:
            with naming_the_extra():
                return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
