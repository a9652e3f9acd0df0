"""The algorithms by name: their settings, and the learners that these make. It imports no torch.

To add an algorithm, write its settings (a subclass of `RunSettings`), a learner (`learner.py` has the protocol), a
player, and a line in `ALGORITHMS` and in `new_learner`. Its tests are a folder next to `tests/selfplay/tabular`.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.learner import Learner, code_name
from selfplay.settings import CustomConfig
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from tictactoe.names import did_you_mean

if TYPE_CHECKING:
    from selfplay.dqn.dqn import DQNAgent
    from selfplay.dqn.network import NetworkFactory

Config: TypeAlias = DQNConfig | TabularConfig | CustomConfig

ALGORITHMS: Mapping[str, type[DQNConfig | TabularConfig]] = MappingProxyType(
    {kind.algorithm: kind for kind in (DQNConfig, MinimaxQConfig, AfterstateQConfig, TDValueConfig, TDBackupConfig)}
)
"""The settings of each algorithm by its name on the command line and in config.json."""


def settings_of(algorithm: str) -> type[DQNConfig | TabularConfig]:
    """Return the dataclass that holds the settings of an algorithm.

    Raises:
        UserError: there is no such algorithm.
    """
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        near = did_you_mean(algorithm, ALGORITHMS)
        raise UserError(f"there is no algorithm {algorithm!r}; choose one of {', '.join(ALGORITHMS)}{near}")
    return ALGORITHMS[algorithm]


def parse_settings(content: Mapping[str, Any], path: Path | str) -> Config:
    """Return the settings that the content of a config.json holds; one that it lacks has its default.

    Raises:
        UserError: it holds none, a name that is no setting, or a value that the setting cannot have.
    """
    kinds: dict[str, type[Config]] = {**ALGORITHMS, CustomConfig.algorithm: CustomConfig}
    algorithm, saved = content.get("algorithm"), content.get("config")
    if str(algorithm) not in kinds or not isinstance(saved, dict):
        raise UserError(f"{path}: is not the configuration of a run of {', '.join(kinds)}")
    try:
        return kinds[str(algorithm)](**saved)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def new_learner(
    config: Config, custom: Learner | None, network: "NetworkFactory | None", agent: "type[DQNAgent] | None"
) -> Learner:
    """Return the learner of these settings before its first step: the custom one of a run that has one.

    For a DQN, `network` makes a custom network, and `agent` is the class of custom agents.

    Raises:
        UserError: a network or agent is given to what has none, or the machine, the network or the agent does not suit
            the settings.
    """
    if isinstance(config, DQNConfig):
        from selfplay.dqn.dqn import DQNAgent
        from selfplay.dqn.learner import DQNLearner

        return DQNLearner(config, network, agent or DQNAgent)
    for name, part in (("network", network), ("agent", agent)):
        if part is not None:
            raise UserError(f"{config.algorithm} has no {name} that could be replaced: leave out {name}=")
    if isinstance(config, CustomConfig):
        assert custom is not None  # it came with the settings
        return custom
    from selfplay.tabular.learners import make_learner

    return make_learner(config)


def described(learner: Learner, config: CustomConfig) -> CustomConfig:
    """Return settings of a run with the name, the settings and the board of a custom learner.

    Raises:
        UserError: its settings are not what JSON holds.
    """
    name = code_name(type(learner))
    try:
        options = json.loads(json.dumps(dict(getattr(learner, "settings", {}))))
    except (TypeError, ValueError) as error:
        raise UserError(f"{name}: its settings must be values that JSON holds: {error}") from None
    return replace(config, learner=name, options=options, rules=learner.rules)
