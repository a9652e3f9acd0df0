"""What the page holds of a player: what it has learned, or the table of its answers; its verdict, and its run."""

import base64
import bisect
import gzip
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.judge.ask import AgentPolicy
from selfplay.judge.move_values import ALL_STATES_CELLS
from selfplay.judge.progress import EvaluationProgress
from selfplay.named_players import Perspective, check_board, resolve, run_folder
from selfplay.protocols import Player
from selfplay.runs.api import open as open_run
from selfplay.runs.folder import settings_summary
from selfplay.runs.load import SHIPPED_FOLDERS, load, read_settings, snapshot_steps
from selfplay.settings import check_known_rules
from selfplay.tabular.tabular_players import TABLE, TabularPlayer, reachable_rows
from selfplay.web.evaluation_data import evaluation
from tictactoe.opponents import OPPONENTS
from tictactoe.rewards import named_rewards
from tictactoe.rules import Rules
from tictactoe.symmetry import symmetries
from tictactoe.tree import game_tree

RIVALS = "random", "heuristic"
"""Built-in opponents that a page also holds, if the board of its first player is small."""
RIVALS_CELLS = 9
"""Largest board with rivals: their answers take a few thousand characters."""
ROOM_FOR_SNAPSHOTS = 600_000
"""Largest number of characters of the snapshots of a player."""
PARTS = 32_767
"""Parts of a scale, which a signed number of 16 bits holds: with 8 bits a snapshot would be another player."""
MOST_POINTS = 400
"""Largest number of evaluations of a run; more would not be seen apart."""


def players_data(
    names: Sequence[str],
    perspective: Perspective = "absolute",
    rules: Rules | None = None,
    progress: EvaluationProgress | None = None,
) -> list[dict[str, Any]]:
    """Return the data of each named player, ready for JSON, and of the rivals that are not among them.

    `perspective` is for custom agents, and `rules` for these and the built-in opponents.

    Raises:
        UserError: a name is no player, or one that a page cannot compute.
    """
    players = [player_data(name, perspective, rules, progress) for name in dict.fromkeys(names)]
    board = Rules(**players[0]["rules"])
    if board.cells <= RIVALS_CELLS:
        others = [name for name in RIVALS if name not in names]
        players += [player_data(name, perspective, board, progress) for name in others]
    return players


def player_data(
    name: str, perspective: Perspective, rules: Rules | None, progress: EvaluationProgress | None
) -> dict[str, Any]:
    """Return the data of one player."""
    named = resolve(name, perspective, rules, progress)
    check_board(named.rules)
    check_known_rules(named.rules, f"{name}: the page")
    folder = run_folder(name)
    learned = named.player if folder is not None else None  # what a program of yours has learned, only that can say
    if learned is None and named.rules.cells > ALL_STATES_CELLS:
        raise UserError(
            f"{name}: is a Python program, and a page holds the answers of one on boards of up to {ALL_STATES_CELLS} "
            f"cells, not on {named.rules}; play against it with selfplay play"
        )
    data: dict[str, Any] = {
        "name": name if folder is None or name in SHIPPED_FOLDERS else folder.resolve().name,
        "kind": "built-in" if name in OPPONENTS else "own",
        **game_data(named.rules),
        "evaluation": evaluation(named.policy),
        "history": [],
        "snapshots": {"steps": []},
    }
    if folder is None or learned is None:
        return data | answers_data(named.policy)
    return data | learned_data(learned) | run_data(folder)


def game_data(rules: Rules) -> dict[str, Any]:
    """Return the rules of a board, the cells of each line, and where the cells of each image come from."""
    return {
        "rules": asdict(rules),
        "lines": [rules.cells_of(line) for line in rules.lines],
        "symmetries": symmetries(rules).tolist(),
    }


def answers_data(policy: AgentPolicy) -> dict[str, Any]:
    """Return the cells that a player may mark in each decision state, as bits, by the row of the state in a table."""
    tree = game_tree(policy.rules)
    states = tree.decisions
    answers = np.zeros(3**policy.rules.cells, np.uint16)
    answers[reachable_rows(policy.rules)[states]] = policy.moves(tree.mover[states], tree.opponent[states])
    return {"answers": _zipped_text(answers.tobytes()), "samples": policy.samples}


def learned_data(player: Player) -> dict[str, Any]:
    """Return the data from which the page computes a player's values and moves."""
    return {
        "canonical": getattr(player, "canonical", False),
        "perspective": getattr(player, "perspective", None),
        "mask": getattr(player, "mask", False),
        "take_wins": getattr(player, "take_wins", False),
        "weights": _zipped_text(save(tensors_of(player))),
    }


def run_data(folder: Path) -> dict[str, Any]:
    """Return what the page shows of a run: its settings, its evaluations and its snapshots."""
    config = read_settings(folder).config
    return {
        "kind": config.algorithm,
        "differs": settings_summary(config),
        "unit": config.unit,
        "worth": worth(config) if isinstance(config, DQNConfig) else None,
        "history": history(folder),
        "snapshots": snapshots_data(folder),
    }


def worth(config: DQNConfig) -> dict[str, float]:
    """Return what each result is worth to a DQN, and what it is paid for a move that allows a win or is illegal."""
    rewards = named_rewards(config.rewards)
    # The negamax target takes the opponent's win for its own loss; the independent one is paid for both moves.
    illegal = 0.0 if config.mask else rewards.illegal  # with a mask it marks no taken cell, and is charged for none
    loss = rewards.allow + rewards.loss if config.target == "independent" else -rewards.win
    return {"loss": loss, "draw": rewards.draw, "win": rewards.win, "allow": rewards.allow, "illegal": illegal}


def history(folder: Path) -> list[dict[str, Any]]:
    """Return the steps and the ways to beat it of at most MOST_POINTS evaluations of a run, evenly spaced.

    The last one is included. `ways` counts those of both seats; it is a lower bound unless `exact`.

    Raises:
        UserError: a file of the run is missing or damaged.
    """
    points = []
    for record in open_run(folder).records:
        verdict = record.verdict
        points.append({"steps": record.steps, "ways": verdict.ways_to_beat, "exact": verdict.complete})
    every = max(1, math.ceil(len(points) / MOST_POINTS))
    return points[(len(points) - 1) % every :: every]


def snapshots_data(folder: Path) -> dict[str, Any]:
    """Return the snapshots of a run as text: each tensor in whole parts of a scale of its own.

    These are 16-bit numbers, gzipped, in base64. If there is no room for all, it is as many as there is room for,
    evenly spread from the first to the last.
    """
    steps = snapshot_steps(folder)
    if not steps:
        return {"steps": steps}
    players = [tensors_of(load(folder, steps=each)) for each in steps]
    shapes = {name: values.shape for name, values in players[0].items()}
    scales = [{name: float(np.abs(values).max()) / PARTS or 1.0 for name, values in each.items()} for each in players]
    parts = [
        [np.rint(each[name] / scale[name]).ravel() for name in each]
        for each, scale in zip(players, scales, strict=True)
    ]
    rows = np.stack([np.concatenate(each) for each in parts]).astype("<i2")  # one for each snapshot

    def parts_of(number: int) -> str:
        return _zipped_text(rows[_spread(len(steps), number)].tobytes())

    numbers = range(1, len(steps) + 1)
    fitting = max(1, bisect.bisect_right(numbers, ROOM_FOR_SNAPSHOTS, key=lambda number: len(parts_of(number))))
    kept = _spread(len(steps), fitting)
    some = {"steps": [steps[place] for place in kept], "scales": [scales[place] for place in kept]}
    return some | {"shapes": shapes, "parts": parts_of(fitting)}


def _spread(length: int, number: int) -> list[int]:
    """Return so many places of a sequence, evenly spread from the first to the last; a single one is the last."""
    places: list[int] = np.linspace(length - 1, 0, number).round().astype(int).tolist()
    return places[::-1]


def tensors_of(player: Player) -> "dict[str, np.ndarray[Any, Any]]":
    """Return what a player has learned, with zeros in the rows of a table that no game reads, which are most of it."""
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in player.tensors().items()}
    if isinstance(player, TabularPlayer):
        rows = reachable_rows(player.rules)
        table = np.moveaxis(tensors[TABLE], player.axis_of_rows, 0)
        read = np.zeros_like(table)
        read[rows] = table[rows]
        tensors[TABLE] = np.ascontiguousarray(np.moveaxis(read, 0, player.axis_of_rows))
    return tensors


def _zipped_text(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()
