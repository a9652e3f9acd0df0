"""The algorithms of `python train.py`: what each is called, and the settings that it has."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from selfplay.config import DQNConfig
from selfplay.tabular.afterstate_q import AfterstateQConfig
from selfplay.tabular.minimax_q import MinimaxQConfig
from selfplay.tabular.td_backup import TDBackupConfig
from selfplay.tabular.td_value import TDValueConfig

TabularConfig: TypeAlias = MinimaxQConfig | AfterstateQConfig | TDValueConfig | TDBackupConfig
Config: TypeAlias = DQNConfig | TabularConfig

ALGORITHMS: Mapping[str, type[Config]] = MappingProxyType(
    {
        "dqn": DQNConfig,
        "minimax-q": MinimaxQConfig,
        "afterstate-q": AfterstateQConfig,
        "td-value": TDValueConfig,
        "td-backup": TDBackupConfig,
    }
)
"""The configuration of each algorithm by its name on the command line and in config.json."""
