"""The card of the shipped player says what its files are, how it was trained, and how close its decisions are."""

import hashlib
import json
import re
import shlex
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

import selfplay
from selfplay.algorithms import SHIPPED_FOLDER, read_settings
from selfplay.cli import train
from selfplay.dqn.player import QPlayer
from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.evaluate import search_seat
from tictactoe import Rules, batch, planes, solve

CARD = (SHIPPED_FOLDER / "README.md").read_text()


def shipped() -> QPlayer:
    """Return the player of the card, fresh from its file."""
    player = selfplay.load("shipped")
    assert isinstance(player, QPlayer)
    return player


RULES, PLAYER = Rules(), shipped()
SOLUTION = solve(RULES)
STATES = {
    (int(SOLUTION.tree.mover[state]), int(SOLUTION.tree.opponent[state])): state for state in SOLUTION.tree.decisions
}
"""Decision states by the bits of the mover's and the opponent's marks."""


class Gaps(NamedTuple):
    """Hold the smallest differences in value over some positions."""

    second: float
    """Between the best move and the second best, in the player's own opinion."""
    mistake: float
    """Between its move and the best that is no optimal one."""


def row(start: str) -> list[str]:
    """Return the cells behind the first of the only table row of the card that starts so."""
    [line] = [line for line in CARD.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def reached(seat: int) -> list[tuple[int, int]]:
    """Return the positions that the player's own play leads to in a seat, as the bits of its marks and the others."""
    _, plies = search_seat(AgentPolicy(PLAYER, RULES), seat, 10_000, keep_plies=True)
    return [(int(mine), int(theirs)) for ply in plies for mine, theirs in zip(ply.mine, ply.theirs, strict=True)]


def observed(positions: list[tuple[int, int]]) -> NDArray[np.int8]:
    """Return the mover's view [B, 3, 3, 3] of positions."""
    mover, opponent = np.array(positions, np.int64).T
    return np.asarray(batch.observe(RULES, batch.State(mover, opponent, ply=np.zeros_like(mover)), "mover"))


def gaps(positions: list[tuple[int, int]]) -> Gaps:
    """Return the smallest gaps between the values of all nine cells in these positions."""
    values = PLAYER.q_values(observed(positions))
    best = SOLUTION.optimal_moves[[STATES[position] for position in positions]]
    right = planes.bits(RULES.cells, best) != 0
    ranked = np.sort(values, axis=1)
    mistakes = ranked[:, -1] - np.where(right, -np.inf, values).max(axis=1)
    return Gaps(float((ranked[:, -1] - ranked[:, -2]).min()), float(mistakes.min()))


def test_the_gaps_are_those_of_the_card() -> None:
    of_all, of_own = gaps(list(STATES)), gaps(reached(0) + reached(1))
    assert row("the second-best value") == [f"{of_all.second:.2g}", f"{of_own.second:.2g}"]
    assert row("the best value of a mistake") == [f"{of_all.mistake:.2g}", f"{of_own.mistake:.2g}"]
    assert 0 < of_all.second < of_all.mistake < of_own.mistake


def test_double_precision_changes_no_value_by_more_than_the_card_says() -> None:
    seen = observed(list(STATES))
    [network] = shipped().networks
    with torch.no_grad():
        exact = network.double()(torch.as_tensor(seen).flatten(1).double()).numpy()
    [most] = re.findall(r"no value changes by more than ([\d.]+)", CARD)
    assert 0 < np.abs(exact - PLAYER.q_values(seen)).max() <= float(most)


def test_the_file_is_the_one_of_the_card() -> None:
    content = (SHIPPED_FOLDER / "model.safetensors").read_bytes()
    assert row("SHA-256 of it") == [f"`{hashlib.sha256(content).hexdigest()}`"]
    assert f"{len(content):,} bytes" in row("file")[0]
    weights = PLAYER.tensors().values()
    assert f"{sum(tensor.numel() for tensor in weights):,} weights, float32" in row("network")[0]
    assert {tensor.dtype for tensor in weights} == {torch.float32}


def test_the_evaluation_is_that_of_the_card() -> None:
    found = selfplay.evaluate(PLAYER, RULES)
    assert (found.optimal, found.unbeatable, row("verdict")) == (True, True, ["**unbeatable and optimal**"])
    assert (found.optimal_states, found.illegal_states) == (4_520, 0)
    assert row("optimal moves") == ["in 4,520 of 4,520 decision states; an illegal one in none"]
    assert row("lost game lines") == [f"{found.first.losses} as X, {found.second.losses} as O"]
    for name, seat in (("X", found.first), ("O", found.second)):
        shares = f"wins {seat.win:.2%}, draws {seat.draw:.2%}, loses {seat.loss:.0f} (exact)".replace("%", " %")
        assert row(f"against uniformly random moves, as {name}") == [shares]
    of_seats = [len(reached(seat)) for seat in (0, 1)]
    assert row("decision states that its own play") == [f"{sum(of_seats)}: {of_seats[0]} as X, {of_seats[1]} as O"]


def test_the_cards_command_has_the_settings_of_the_file() -> None:
    [command] = re.findall(r"^(python train\.py (?:.*\\\n)*.*)$", CARD, re.MULTILINE)
    config, _ = train.read(shlex.split(command.replace("\\\n", " "))[2:])
    assert config == read_settings(SHIPPED_FOLDER)[0]
    assert json.loads((SHIPPED_FOLDER / "config.json").read_text())["version"] in row("made by")[0]
