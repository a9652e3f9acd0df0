"""The fixed point of each target: best play with negamax, and a player that is beaten with the published one."""

import numpy as np
import pytest
import torch

from selfplay.dqn.config import Target
from selfplay.dqn.dqn import td_target
from selfplay.judge.verdict import Verdict
from selfplay.verdicts import evaluate
from tests.selfplay.judge.hand_made_players import ScriptedPlayer
from tictactoe import Rewards, Rules, batch
from tictactoe.rewards import named_rewards
from tictactoe.tree import game_tree


def at_fixed_point(target: Target, rules: Rules, rewards: str | Rewards, gamma: float = 0.99) -> Verdict:
    """Return what the greedy player of such values is, which are found from the last ply back to the first."""
    tree = game_tree(rules)
    values = torch.zeros((len(tree), rules.cells), dtype=torch.float64)
    for ply, level in reversed(list(tree.plies())):
        states = np.flatnonzero(~tree.finished[level]) + level.start
        mover, opponent = tree.mover[states].astype(np.int64), tree.opponent[states].astype(np.int64)
        for cell in range(rules.cells):
            boards = batch.State(mover, opponent, np.full_like(mover, ply))
            played = batch.step(rules, named_rewards(rewards), boards, np.full_like(mover, cell))
            after = tree.find(played.state.mover, played.state.opponent)
            bootstrap = values[after].amax(dim=1)
            reward, goes_on = (torch.as_tensor(array).double() for array in (played.reward, ~played.terminated))
            values[states, cell] = td_target(target, reward, goes_on, bootstrap, gamma)

    def choose(mine: set[int], theirs: set[int]) -> int:
        state = tree.find(np.array(sum(1 << cell for cell in mine)), np.array(sum(1 << cell for cell in theirs)))
        return int(values[state].argmax())

    return evaluate(ScriptedPlayer(choose), rules)


@pytest.mark.parametrize("rewards", ["shaped", "sparse", Rewards(win=0.5, illegal=-2, allow=0, loss=3)], ids=str)
@pytest.mark.parametrize("rules", [Rules(3, 3, 3), Rules(2, 4, 3), Rules(2, 3, 2)], ids=str)
def test_the_fixed_point_of_negamax_is_best_play(rules: Rules, rewards: str | Rewards) -> None:
    evaluation = at_fixed_point("negamax", rules, rewards)
    assert evaluation.optimal
    assert evaluation.unexploitable


def test_the_fixed_point_of_the_published_target_loses_in_both_seats() -> None:
    evaluation = at_fixed_point("article", Rules(), "article")
    assert evaluation.exploitability == 1
    assert evaluation.illegal_states == 0
