"""The card of the shipped player says what its files are, how it was trained, and how close its decisions are."""

import hashlib
import json
import re
import shlex

import numpy as np
import torch
from numpy.typing import NDArray

import selfplay
from selfplay.cli import train
from selfplay.dqn.player import QPlayer
from selfplay.judging.agents import AgentPolicy
from selfplay.judging.evaluate import search_seat
from selfplay.learning.api import SHIPPED_FOLDER, read_settings
from tictactoe import Rules, batch, planes, solve
from tictactoe.tree import IntArray

CARD = (SHIPPED_FOLDER / "README.md").read_text()


def shipped() -> QPlayer:
    """Return the player of the card, fresh from its file."""
    player = selfplay.load("shipped")
    assert isinstance(player, QPlayer)
    return player


RULES, PLAYER = Rules(), shipped()
SOLUTION = solve(RULES)
TREE = SOLUTION.tree


def row(start: str) -> list[str]:
    """Return the cells behind the first of the only table row of the card that starts so."""
    [line] = [line for line in CARD.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def reached(seat: int) -> IntArray:
    """Return the decision states that the player's own play leads to in a seat."""
    _, plies = search_seat(AgentPolicy(PLAYER, RULES), seat, 10_000, keep_plies=True)
    return np.concatenate([TREE.find(ply.mine, ply.theirs) for ply in plies])


OWN = reached(0), reached(1)


def observed(states: IntArray) -> NDArray[np.int8]:
    """Return the mover's view [B, 3, 3, 3] of states."""
    mover, opponent = TREE.mover[states], TREE.opponent[states]
    return np.asarray(batch.observe(RULES, batch.State(mover, opponent, ply=np.zeros_like(mover)), "mover"))


def gaps(states: IntArray) -> tuple[float, float]:
    """Return the smallest differences in value between the best move and the second best, and the best mistake."""
    values = PLAYER.q_values(observed(states))
    optimal = planes.bits(RULES.cells, SOLUTION.optimal_moves[states]) != 0
    ranked = np.sort(values, axis=1)
    mistakes = ranked[:, -1] - np.where(optimal, -np.inf, values).max(axis=1)
    return float((ranked[:, -1] - ranked[:, -2]).min()), float(mistakes.min())


def test_the_gaps_are_those_of_the_card() -> None:
    second, mistake = gaps(TREE.decisions)
    own_second, own_mistake = gaps(np.concatenate(OWN))
    assert row("the second-best value") == [f"{second:.2g}", f"{own_second:.2g}"]
    assert row("the best value of a mistake") == [f"{mistake:.2g}", f"{own_mistake:.2g}"]


def test_double_precision_changes_no_value_by_more_than_the_card_says() -> None:
    seen = observed(TREE.decisions)
    [network] = shipped().networks
    with torch.no_grad():
        exact = network.double()(torch.as_tensor(seen).flatten(1).double()).numpy()
    [most] = re.findall(r"no value changes by more than ([\d.]+)", CARD)
    assert 0 < np.abs(exact - PLAYER.q_values(seen)).max() <= float(most)


def test_the_file_is_the_one_of_the_card() -> None:
    content = (SHIPPED_FOLDER / "model.safetensors").read_bytes()
    assert row("SHA-256 of it") == [f"`{hashlib.sha256(content).hexdigest()}`"]
    assert f"{len(content):,} bytes" in row("file")[0]
    assert f"{sum(map(torch.numel, PLAYER.tensors().values())):,} weights, float32" in row("network")[0]


def test_the_evaluation_is_that_of_the_card() -> None:
    evaluation = selfplay.evaluate(PLAYER, RULES)
    assert (evaluation.optimal, evaluation.unbeatable, row("verdict")) == (True, True, ["**unbeatable and optimal**"])
    assert row("optimal moves") == ["in 4,520 of 4,520 decision states; an illegal one in none"]
    assert row("games lost") == ["0 as X, 0 as O"]
    for name, seat in (("X", evaluation.first), ("O", evaluation.second)):
        shares = f"wins {seat.win:.2%}, draws {seat.draw:.2%}, loses {seat.loss:.0f} (exact)".replace("%", " %")
        assert row(f"against uniformly random moves, as {name}") == [shares]
    first, second = map(len, OWN)
    assert row("decision states that its own play") == [f"{first + second}: {first} as X, {second} as O"]


def test_the_cards_command_has_the_settings_of_the_file() -> None:
    [command] = re.findall(r"^(python train\.py (?:.*\\\n)*.*)$", CARD, re.MULTILINE)
    config, _ = train.read(shlex.split(command.replace("\\\n", " "))[2:])
    assert config == read_settings(SHIPPED_FOLDER)[0]
    assert json.loads((SHIPPED_FOLDER / "config.json").read_text())["version"] in row("made by")[0]
