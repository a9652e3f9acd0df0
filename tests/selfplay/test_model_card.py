"""The card of the shipped player says what its files are, how it was trained, and how close its decisions are."""

import hashlib
import json
import re
import shlex
from typing import Any

import numpy as np
import torch

import selfplay
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.player import QPlayer
from selfplay.judging.evaluate import search_seat
from selfplay.learning.load import SHIPPED_FOLDER, read_settings
from selfplay.settings import changed
from tests.selfplay.decisions import MOVER
from tests.selfplay.judging.players import policy_of
from tictactoe import Rules, planes, solve

CARD = (SHIPPED_FOLDER / "README.md").read_text()
RULES, SOLUTION = Rules(), solve(Rules())
TREE = SOLUTION.tree


def shipped() -> QPlayer:
    """Return the player of the card, fresh from its file."""
    player = selfplay.load("shipped")
    assert isinstance(player, QPlayer)
    return player


PLAYER = shipped()
VALUES = PLAYER.q_values(MOVER)


def row(start: str) -> list[str]:
    """Return the cells behind the first of the only table row of the card that starts so."""
    [line] = [line for line in CARD.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def reached(seat: int) -> list[int]:
    """Return which decision states the player's own play leads to in a seat, by their places in `TREE.decisions`."""
    plies = search_seat(policy_of(PLAYER), seat, 10**6, keep_plies=True)[1]
    states = [TREE.find(ply.mine, ply.theirs) for ply in plies]
    return [int(place) for place in np.searchsorted(TREE.decisions, np.concatenate(states))]


def gaps(states: list[int]) -> list[str]:
    """Return the smallest differences in value between the best move and the second best, and the best mistake."""
    optimal = planes.bits(RULES.cells, SOLUTION.optimal_moves[TREE.decisions[states]]) != 0
    values = VALUES[states]
    ranked = np.sort(values, axis=1)
    mistakes = ranked[:, -1] - np.where(optimal, -np.inf, values).max(axis=1)
    return [f"{(ranked[:, -1] - ranked[:, -2]).min():.2g}", f"{mistakes.min():.2g}"]


def test_the_states_and_the_gaps_are_those_of_the_card() -> None:
    first, second = reached(0), reached(1)
    assert re.findall(r"\d+", row("decision states that its own play")[0]) == [
        str(number) for number in (len(first) + len(second), len(first), len(second))
    ]
    every, own = gaps([*range(len(TREE.decisions))]), gaps(first + second)
    assert row("the second-best value") == [every[0], own[0]]
    assert row("the best value of a mistake") == [every[1], own[1]]


def test_double_precision_changes_no_value_by_more_than_the_card_says() -> None:
    [network] = shipped().networks
    with torch.no_grad():
        exact = network.double()(torch.as_tensor(MOVER).flatten(1).double()).numpy()
    [most] = re.findall(r"no value changes by more than ([\d.]+)", CARD)
    assert 0 < np.abs(exact - VALUES).max() <= float(most)


def test_the_file_is_the_one_of_the_card() -> None:
    content = (SHIPPED_FOLDER / "model.safetensors").read_bytes()
    assert row("SHA-256 of it") == [f"`{hashlib.sha256(content).hexdigest()}`"]
    assert f"{len(content):,} bytes" in row("file")[0]
    assert f"{sum(map(torch.numel, PLAYER.tensors().values())):,} weights" in row("network")[0]


def test_the_evaluation_is_that_of_the_card() -> None:
    evaluation = selfplay.evaluate(PLAYER, RULES)
    assert evaluation.optimal
    assert evaluation.unbeatable
    saved, found = json.loads((SHIPPED_FOLDER / "evaluation.json").read_text()), evaluation.to_dict()
    for name in ("board", "first", "second"):
        assert saved.pop(name).items() <= found[name].items()
    assert saved.items() <= found.items()
    measured = dict(re.findall(r"type: (\w+), name: .*, value: (\d+)", CARD))
    assert measured == {"ways_to_beat": f"{evaluation.ways_to_beat}", "optimal_fraction": f"{evaluation.optimal:d}"}
    for name, seat in (("X", evaluation.first), ("O", evaluation.second)):
        shares = f"wins {seat.win:.2%}, draws {seat.draw:.2%}, loses {seat.loss:.0f} (exact)".replace("%", " %")
        assert row(f"against uniformly random moves, as {name}") == [shares]


def test_the_history_is_that_of_the_snapshots_and_of_the_player() -> None:
    run = selfplay.open("shipped")
    records = {record.steps: record for record in run.records}
    for steps, snapshot in run.snapshots.items():
        assert selfplay.evaluate(snapshot).ways_to_beat == records[steps].verdict.ways_to_beat
    assert selfplay.evaluate(snapshot).optimal
    assert (steps, run.verdict) == (run.records[-1].steps, selfplay.evaluate(PLAYER))
    assert f"{steps:,} plies" in CARD
    assert row("snapshots")[0].startswith(f"{len(run.snapshots)} ")


def test_the_cards_command_has_the_settings_of_the_file() -> None:
    [command] = re.findall(r"^(python train\.py (?:.*\\\n)*.*)$", CARD, re.MULTILINE)
    settings: dict[str, Any] = {}
    name = ""
    for word in shlex.split(command.replace("\\\n", " "))[2:]:
        if word.startswith("--"):
            name = word[2:].replace("-", "_")
            settings[name] = True
        else:
            settings[name] = word if word.isalpha() else float(word)
    assert changed(DQNConfig(), settings) == read_settings(SHIPPED_FOLDER)[0]
    assert json.loads((SHIPPED_FOLDER / "config.json").read_text())["version"] in row("made by")[0]
