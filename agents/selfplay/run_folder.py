"""The folder of a run: safetensors and JSON, written whole or not at all, and checked when read.

Nothing that is read from a run folder can execute code, and no memory is taken for a model before its
header has been compared with what the configuration says.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import save
from torch import Tensor

from selfplay.agent import Player
from selfplay.algorithms import ALGORITHMS, Config, TabularConfig
from selfplay.config import DQNConfig
from selfplay.errors import UserError
from selfplay.evaluation import Proof
from selfplay.files import read_small, write_whole
from selfplay.network import QNetwork
from selfplay.player import QPlayer
from selfplay.reach import Unproved
from selfplay.tabular.afterstates import AfterstatePlayer
from selfplay.tabular.minimax_q import MinimaxQConfig, MinimaxQPlayer
from selfplay.tensor_file import OtherTensorsError, read_tensors
from tictactoe import Rules

CONFIG, MODEL, EVALUATION, METRICS = "config.json", "model.safetensors", "evaluation.json", "metrics.jsonl"
ADDED: Mapping[str, Any] = MappingProxyType({"convolution": [], "learning_rate_hold": 0})
"""Settings of a DQN that older runs do not have, and what they did."""
TABLE = "table"
"""Name of a tabular learner's only tensor."""
LARGEST_JSON = 1 << 20
"""Bytes; a configuration has about a thousand."""


def create(folder: Path, flag: str = "--run-dir") -> None:
    """Make the folder of a new run; `flag` is what a user chooses it with.

    Raises:
        UserError: the folder cannot be made or written to, or has files in it already.
    """
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise UserError(
            f"{folder}: is no name in UTF-8, and no model is loaded from such; choose another {flag}"
        ) from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        occupied = any(folder.iterdir())
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); choose another {flag}") from None
    if occupied:
        raise UserError(f"{folder}: has files in it already; choose a new or empty {flag}")
    check_writable(folder, f"choose another {flag}")


def check_writable(folder: Path, way_out: str) -> None:
    """Refuse a folder in which no file can be made.

    Raises:
        UserError: it is read-only, or there is none.
    """
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"{folder}: is not writable; {way_out}")


def write_config(folder: Path, config: Config) -> None:
    """Write how the run was started; where its folder lies is left out, so that it can be moved."""
    content = {"algorithm": config.algorithm, "version": version("tictactoe-selfplay"), "config": settings(config)}
    _write_json(folder / CONFIG, content)


def settings(config: Config) -> dict[str, Any]:
    """Return the settings of a run by name, ready for JSON, without the place of its folder."""
    found = {name: value for name, value in asdict(config).items() if name != "run_dir"}
    return {name: str(value) if isinstance(value, Path) else value for name, value in found.items()}


def unused(folder: Path) -> Path:
    """Return the folder, with a number behind its name if another run has taken it."""
    candidate, number = folder, 1
    while candidate.exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate


def write_player(folder: Path, player: Player) -> None:
    """Write the trained networks of a DQN, or the table of any other algorithm."""
    if isinstance(player, QPlayer):
        tensors = {
            f"{name}.{key}": tensor.detach().cpu().contiguous()
            for name, network in zip(_network_names(len(player.networks)), player.networks, strict=True)
            for key, tensor in network.state_dict().items()
        }
    elif isinstance(player, AfterstatePlayer | MinimaxQPlayer):
        tensors = {TABLE: torch.from_numpy(player.table)}
    else:
        raise TypeError(f"only a trained player can be saved, not a {type(player).__name__}")
    write_whole(folder / MODEL, save(tensors))


def write_evaluation(folder: Path, evaluation: Proof | Unproved) -> None:
    """Write the exact evaluation of the player that was written last, or how far it has got."""
    _write_json(folder / EVALUATION, evaluation.as_dict())


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_whole(path, (json.dumps(content, indent=2) + "\n").encode())


def load(folder: str | Path) -> Player:
    """Return the player that a run folder of any algorithm holds; its greedy moves are those of the run's end.

    Raises:
        UserError: a file is missing, truncated, foreign, or does not fit the others.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such run folder")
    config = read_config(folder)
    return _load_networks(folder, config) if isinstance(config, DQNConfig) else _load_table(folder, config)


def _load_networks(folder: Path, config: DQNConfig) -> QPlayer:
    shapes_alone = torch.device("meta")  # takes no memory
    networks = [
        QNetwork(config.rules, config.hidden, config.convolution, config.dueling, shapes_alone)
        for _ in range(1 if config.networks == "shared" else 2)
    ]
    names = _network_names(len(networks))
    wanted = {
        f"{name}.{key}": tensor
        for name, network in zip(names, networks, strict=True)
        for key, tensor in network.state_dict().items()
    }
    tensors = _read_model(folder / MODEL, wanted, config.rules)
    for name, network in zip(names, networks, strict=True):
        weights = {key: tensors[f"{name}.{key}"] for key in network.state_dict()}
        network.load_state_dict(weights, assign=True)
        network.requires_grad_(False)
    return QPlayer(config.rules, tuple(networks), config.perspective, config.mask)


def _load_table(folder: Path, config: TabularConfig) -> AfterstatePlayer | MinimaxQPlayer:
    wanted = {TABLE: torch.empty(config.table_shape, dtype=torch.float64, device="meta")}
    table = _read_model(folder / MODEL, wanted, config.rules)[TABLE].numpy()
    return MinimaxQPlayer(table) if isinstance(config, MinimaxQConfig) else AfterstatePlayer(config.rules, table)


def _network_names(count: int) -> tuple[str, ...]:
    return ("shared",) if count == 1 else ("first", "second")


def read_config(folder: Path) -> Config:
    """Return the configuration of a run.

    Raises:
        UserError: config.json is missing, is not ours, or holds a value that is no setting.
    """
    path = folder / CONFIG
    try:
        content = json.loads(read_small(path, LARGEST_JSON))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); is this a run folder?") from None
    except ValueError:  # not JSON, or not even text
        raise UserError(f"{path}: is truncated or not JSON") from None
    except RecursionError:
        raise UserError(f"{path}: is nested too deeply to be a configuration") from None
    named = content if isinstance(content, dict) else {}
    kind, found = _kind(named.get("algorithm")), named.get("config")
    if kind is None or not isinstance(found, dict):
        raise UserError(f"{path}: is not the configuration of a run of {', '.join(ALGORITHMS)}")
    found = with_added(kind.algorithm, found)
    known = {field.name for field in fields(kind)} - {"run_dir"}
    if found.keys() != known:
        odd = ", ".join(map(repr, sorted(found.keys() ^ known)))
        raise UserError(f"{path}: is from another version of this program (settings that differ: {odd})")
    # JSON has neither tuples nor paths.
    for name in ("hidden", "convolution"):
        if isinstance(found.get(name), list):
            found[name] = tuple(found[name])
    if isinstance(found.get("from_table"), str):
        found["from_table"] = Path(found["from_table"])
    try:
        return kind(**found)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def with_added(algorithm: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a run has written, and what it did where it had no setting yet."""
    return {**ADDED, **found} if algorithm == DQNConfig.algorithm else dict(found)


def _kind(algorithm: object) -> type[Config] | None:
    return ALGORITHMS.get(algorithm) if isinstance(algorithm, str) else None


def _read_model(path: Path, wanted: dict[str, Tensor], rules: Rules) -> dict[str, Tensor]:
    try:
        tensors = read_tensors(path, wanted)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; did the run end?") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except SafetensorError as error:
        raise UserError(f"{path}: is truncated or not a safetensors file ({error})") from None
    except OtherTensorsError as error:
        raise UserError(f"{path}: {_difference(error.found, wanted, rules)}") from None
    for key, tensor in tensors.items():
        if tensor.dtype != wanted[key].dtype or not bool(torch.isfinite(tensor).all()):
            dtype = str(wanted[key].dtype).removeprefix("torch.")
            raise UserError(f"{path}: {key} is not made of finite {dtype} numbers")
    return tensors


def _difference(found: dict[str, tuple[int, ...]], wanted: dict[str, Tensor], rules: Rules) -> str:
    if found.keys() != wanted.keys():
        return f"holds other tensors than {CONFIG} describes ({', '.join(sorted(found.keys() ^ wanted.keys()))})"
    key = next(key for key in wanted if found[key] != tuple(wanted[key].shape))
    return (
        f"is of another board or network than {CONFIG} describes: "
        f"for {rules.rows}x{rules.cols} {key} must be {tuple(wanted[key].shape)}, but is {found[key]}"
    )
