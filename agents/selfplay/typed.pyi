"""What type checkers are told of `train` and `training`; written by docs/typed_settings.py."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, overload

import numpy as np
import torch
from numpy.typing import NDArray
from selfplay.algorithms import Config
from selfplay.dqn.network import NetworkFactory
from selfplay.own.config import Learner, OwnConfig
from selfplay.training.loop import Record
from selfplay.training.result import Run
from tictactoe import Rules
from typing_extensions import Unpack

Int: TypeAlias = float | np.integer[Any]
Float: TypeAlias = float | np.floating[Any] | np.integer[Any]
Place: TypeAlias = str | os.PathLike[str]

class RunOptions(TypedDict, total=False):
    resume: Place | Run | None
    force: bool
    checkpoint_interval: float
    stop_when: Callable[[], bool]
    progress: bool

class DQNSettings(TypedDict, total=False):
    seed: Int
    run_dir: Place | None
    preset: Literal['default', 'large', 'article']
    device: Literal['auto', 'cpu', 'cuda'] | torch.device
    rows: Int
    cols: Int
    k: Int
    rewards: Literal['shaped', 'article', 'sparse']
    perspective: Literal['mover', 'absolute']
    networks: Literal['shared', 'separate']
    target: Literal['negamax', 'independent', 'article']
    mask: bool | np.bool_
    explore: Literal['legal', 'any']
    hidden: Int | Sequence[Int] | NDArray[Any]
    convolution: Int | Sequence[Int] | NDArray[Any]
    lines: Int
    dueling: bool | np.bool_
    double: bool | np.bool_
    gamma: Float
    loss: Literal['huber', 'mse']
    learning_rate: Float
    learning_rate_hold: Int
    batch_size: Int
    memory_size: Int
    warmup: Int
    updates_per_step: Int
    soft_update: Float
    hard_update: Int
    symmetry: Literal['canonical', 'augment', 'none']
    epsilon_start: Float
    epsilon_end: Float
    epsilon_plies: Int
    counterexamples: Float
    rule_weight: Float
    num_envs: Int
    total_steps: Int
    eval_every: Int
    stop: Literal['unbeatable', 'optimal', 'never']
    rules: Rules

class DQNTraining(DQNSettings, RunOptions, total=False): ...

class MinimaxQSettings(TypedDict, total=False):
    seed: Int
    run_dir: Place | None
    games: Int
    eval_every: Int
    tables: Literal['shared', 'separate']
    from_table: Place | None
    alpha: Float
    gamma: Float
    epsilon: Float
    rules: Rules

class MinimaxQTraining(MinimaxQSettings, RunOptions, total=False): ...

class AfterstateQSettings(TypedDict, total=False):
    seed: Int
    run_dir: Place | None
    games: Int
    eval_every: Int
    seat: Literal[0, 1, 'none']
    alpha: Float
    gamma: Float
    exploration: Float
    draw_reward: Float
    rules: Rules

class AfterstateQTraining(AfterstateQSettings, RunOptions, total=False): ...

class TDValueSettings(TypedDict, total=False):
    seed: Int
    run_dir: Place | None
    games: Int
    eval_every: Int
    opponent: Literal['random', 'heuristic', 'optimal', 'self']
    alpha: Float
    exploration: Float
    back_up_losses: bool | np.bool_
    rules: Rules

class TDValueTraining(TDValueSettings, RunOptions, total=False): ...

class TDBackupSettings(TypedDict, total=False):
    seed: Int
    run_dir: Place | None
    rows: Int
    cols: Int
    k: Int
    games: Int
    greedy_games: Int
    eval_every: Int
    exploit: Float
    alpha: Float
    gamma: Float
    draw_first: Float
    draw_second: Float
    rules: Rules

class TDBackupTraining(TDBackupSettings, RunOptions, total=False): ...

class OwnSettings(TypedDict, total=False):
    seed: Int
    run_dir: Place | None
    total_steps: Int
    eval_every: Int
    stop: Literal['unbeatable', 'optimal', 'never']

class OwnTraining(OwnSettings, RunOptions, total=False): ...

@overload
def train(algorithm: Literal['dqn'] | None = None, /, *, network: NetworkFactory | None = None, **settings: Unpack[DQNTraining]) -> Run: ...
@overload
def train(algorithm: Literal['minimax-q'], /, **settings: Unpack[MinimaxQTraining]) -> Run: ...
@overload
def train(algorithm: Literal['afterstate-q'], /, **settings: Unpack[AfterstateQTraining]) -> Run: ...
@overload
def train(algorithm: Literal['td-value'], /, **settings: Unpack[TDValueTraining]) -> Run: ...
@overload
def train(algorithm: Literal['td-backup'], /, **settings: Unpack[TDBackupTraining]) -> Run: ...
@overload
def train(algorithm: Config, /, *, network: NetworkFactory | None = None, **settings: Any) -> Run: ...
@overload
def train(algorithm: OwnConfig | None = None, /, *, learner: Learner | Callable[..., Learner], **settings: Unpack[OwnTraining]) -> Run: ...
@overload
def train(algorithm: None = None, /, *, resume: Place | Run, network: NetworkFactory | None = None, **settings: Any) -> Run: ...

@overload
def training(algorithm: Literal['dqn'] | None = None, /, *, network: NetworkFactory | None = None, **settings: Unpack[DQNSettings]) -> Iterator[Record]: ...
@overload
def training(algorithm: Literal['minimax-q'], /, **settings: Unpack[MinimaxQSettings]) -> Iterator[Record]: ...
@overload
def training(algorithm: Literal['afterstate-q'], /, **settings: Unpack[AfterstateQSettings]) -> Iterator[Record]: ...
@overload
def training(algorithm: Literal['td-value'], /, **settings: Unpack[TDValueSettings]) -> Iterator[Record]: ...
@overload
def training(algorithm: Literal['td-backup'], /, **settings: Unpack[TDBackupSettings]) -> Iterator[Record]: ...
@overload
def training(algorithm: Config, /, *, network: NetworkFactory | None = None, **settings: Any) -> Iterator[Record]: ...
@overload
def training(algorithm: OwnConfig | None = None, /, *, learner: Learner | Callable[..., Learner], **settings: Unpack[OwnSettings]) -> Iterator[Record]: ...
