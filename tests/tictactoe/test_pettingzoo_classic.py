"""Hold the PettingZoo view against PettingZoo's own tic-tac-toe in every reachable position.

Theirs counts cells down the columns and gives two planes, mine and theirs, in columns x rows.
"""

from typing import Any

import numpy as np
import pettingzoo
import pytest

from tests.tictactoe.rule_book import RuleBook
from tictactoe import tictactoe_v0


def their_action(cell: int) -> int:
    row, col = divmod(cell, 3)
    return 3 * col + row


def play(game: Any, actions: list[int]) -> Any:
    game.reset()
    for action in actions:
        game.step(action)
    return game


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="before 1.27 its own games are made in another way")
def test_every_reachable_position_is_the_same() -> None:
    ours = tictactoe_v0.raw_env(perspective="mover", rewards="sparse")
    theirs = pettingzoo.make("aec", "classic/tictactoe_v3").unwrapped
    histories = RuleBook(3, 3, 3).histories()
    assert len(histories) == 5478
    for cells in histories.values():
        play(ours, list(cells))
        play(theirs, [their_action(cell) for cell in cells])
        assert ours.agent_selection == theirs.agent_selection
        assert ours.terminations == theirs.terminations
        assert ours.rewards == theirs.rewards
        over = ours.terminations["player_1"]
        for agent in tictactoe_v0.AGENTS:
            our_view, their_view = ours.observe(agent), theirs.observe(agent)
            np.testing.assert_array_equal(our_view["observation"][..., 1:], their_view["observation"].swapaxes(0, 1))
            if not over:  # theirs then masks what is taken, ours nothing
                mask = their_view["action_mask"].reshape(3, 3).T.ravel()
                np.testing.assert_array_equal(our_view["action_mask"], mask)
