"""Each target, computed by hand on one short game, for both seats and to the loser's last move.

X plays 0, O 3, X 1 (threatens 2), O 4 (a blunder: it threatens 5 but leaves 2 open), X 2 and wins. The rewards
are 0, 0, 0, -1 (O allowed the win), +1. The networks are constants, so that every bootstrap is known.
"""

from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn.dqn import BOOTSTRAPS, DQNAgent, Transitions, no_transitions
from tests.selfplay.dqn.scripted import CPU, config_with, constant_values, make, play, remembered, store
from tictactoe import Rewards, batch

GAME = [0, 3, 1, 4, 2]
GAMMA = 0.5

# The online network prefers cell 4, whose target value is 8; the largest target value is 9, at cell 0. That of a second
# agent prefers cell 5, whose target value is 7, or rather 107: the second's are 100 more.
ONLINE = [1.0, 0.0, 3.0, 0.0, 5.0, 2.0, 0.0, 0.0, 0.0]
TARGET = [9.0, 0.0, 6.0, 0.0, 8.0, 7.0, 0.0, 0.0, 0.0]


def by_hand(target: str, separate: bool = False, **settings: object) -> list[tuple[list[float], list[float]]]:
    """Return, for each agent, the rewards it stored and the targets it computes."""
    self_play = make(config_with(target=target, gamma=GAMMA, symmetry="none", **settings), separate)
    for number, agent in enumerate(self_play.agents):
        online = [*ONLINE[:5], ONLINE[5] + 4 * number, *ONLINE[6:]]
        constant_values(agent, online, [value + 100 * number for value in TARGET])
    play(self_play, GAME)
    result = []
    for agent, opponent in zip(self_play.agents, reversed(self_play.agents), strict=True):
        transitions = remembered(agent)
        result.append((transitions.reward.tolist(), agent.targets(transitions, opponent).tolist()))
    return result


@pytest.mark.parametrize(
    ("target", "settings", "targets"),
    [
        ("negamax", {}, [-4.5, -4.5, -4.5, -5.5, 1]),  # the opponent's value with a minus sign
        ("article", {}, [4.5, 4.5, 4.5, 3.5, 1]),  # the next observation's with a plus sign
        # Stored when the reply is known: X0, O3, X1 bootstrap from the own next turn; then the losing O4 ends
        # with its -1, and the winning X2 with +1.
        ("independent", {}, [4.5, 4.5, 4.5, -1, 1]),
        ("negamax", {"double": True}, [-4, -4, -4, -5, 1]),  # the online network chooses
        # After X0 cell 4 is open (8); after O4 it is taken, and of the open 2, 5, 6, 7, 8 the best is 5, valued 7.
        # The mask of the position before O4 would still allow cell 4.
        ("negamax", {"mask": True}, [-4, -4, -4, -4.5, 1]),
        ("negamax", {"mask": True, "double": True}, [-4, -4, -4, -4, 1]),  # there the online network prefers 2
    ],
)
def test_the_targets_of_one_agent_for_both_seats(target: str, settings: dict[str, Any], targets: list[float]) -> None:
    assert by_hand(target, **settings) == [([0, 0, 0, -1, 1], targets)]


@pytest.mark.parametrize(
    ("target", "settings", "first", "second"),
    [
        ("negamax", {}, [-54.5, -54.5, 1], [-4.5, -5.5]),  # each from the other: the first from 109, the second from 9
        ("negamax", {"double": True}, [-53.5, -53.5, 1], [-4, -5]),  # the other's online network chooses
        ("article", {"double": True}, [4, 4, 1], [53.5, 52.5]),  # its own does
        ("article", {}, [4.5, 4.5, 1], [54.5, 53.5]),  # each from its own target network
        ("independent", {}, [4.5, 4.5, 1], [54.5, -1]),
    ],
)
def test_the_targets_of_two_agents(
    target: str, settings: dict[str, Any], first: list[float], second: list[float]
) -> None:
    assert by_hand(target, separate=True, **settings) == [([0, 0, 1], first), ([0, -1], second)]


def test_a_target_with_a_bonus_is_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Munchausen's has two: log-probabilities of the action, and of those that a soft value is the mean of."""

    def soft_value(agent: DQNAgent, observation: torch.Tensor) -> torch.Tensor:
        return agent.values(agent.target_network, observation).logsumexp(dim=1)

    def with_bonus(agent: DQNAgent, transitions: Transitions) -> torch.Tensor:
        preferences = agent.values(agent.target_network, transitions.observation).log_softmax(dim=1)
        return transitions.reward + preferences.gather(1, transitions.action[:, None])[:, 0]

    entry = BOOTSTRAPS["negamax"]._replace(value=soft_value, reward=with_bonus)
    monkeypatch.setitem(BOOTSTRAPS, "negamax", entry)
    soft = float(torch.tensor(TARGET).logsumexp(dim=0))
    earned = [reward + TARGET[cell] - soft for reward, cell in zip([0, 0, 0, -1, 1], GAME, strict=True)]
    ((_, targets),) = by_hand("negamax")
    assert targets == pytest.approx([*(each - GAMMA * soft for each in earned[:4]), earned[4]])


def test_separate_agents_bootstrap_from_each_other_when_they_learn() -> None:
    self_play = make(config_with(target="negamax", gamma=0.5, symmetry="none", hidden=(), loss="mse"), separate=True)
    for agent, value in zip(self_play.agents, (8.0, 100.0), strict=True):
        constant_values(agent, [0.0] * 9, [value] * 9)
    play(self_play, [0, 3, 1])
    # Both have only transitions that continue, without reward, and value their actions 0: the loss is the
    # squared target, which is minus half of what the other thinks of the next position.
    assert [float(update.loss) for update in self_play.learn()] == [50.0**2, 4.0**2]


def test_independent_adds_the_replys_reward() -> None:
    self_play = make(config_with(target="independent", rewards="sparse", symmetry="none"))
    play(self_play, GAME, Rewards(allow=0.0, loss=-1.0))
    assert remembered(self_play.agents[0]).reward.tolist() == [0, 0, 0, -1, 1]


@pytest.mark.parametrize(
    ("target", "plies", "continues"),
    [("negamax", 1, [1, 1, 1, 1, 0]), ("article", 1, [1, 1, 1, 1, 0]), ("independent", 2, [1, 1, 1, 0, 0])],
)
def test_targets_bootstrap_after_the_move_or_at_the_own_next_turn(
    target: str, plies: int, continues: list[int]
) -> None:
    self_play = make(config_with(target=target, symmetry="none"))
    seen = play(self_play, GAME)
    transitions = remembered(self_play.agents[0])
    assert transitions.continues.tolist() == continues
    assert torch.equal(transitions.observation, torch.cat(seen[:5]))
    open_ones = sum(continues)
    assert torch.equal(transitions.next_observation[:open_ones], torch.cat(seen[plies : plies + open_ones]))


def test_each_board_waits_for_itself_and_each_agent_stores_its_own_plies() -> None:
    self_play = make(config_with(target="independent", symmetry="none"), separate=True)
    self_play.waiting = no_transitions(2, 9, CPU)
    state = batch.State(np.array([0, 0]), np.array([1, 0]), np.array([1, 0]))  # O is to move on board 0, X on board 1
    state = store(self_play, state, [4, 8])
    store(self_play, state, [4, 0])  # X takes the cell of O's mark, which ends that game
    first, second = map(remembered, self_play.agents)
    assert (first.action.tolist(), first.reward.tolist(), first.continues.tolist()) == ([8, 4], [0, -10], [1, 0])
    assert (second.action.tolist(), second.continues.tolist()) == ([4], [0])
    assert self_play.waiting.continues.tolist() == [0, 1]
