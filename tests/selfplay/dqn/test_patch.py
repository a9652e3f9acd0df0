"""A patched network plays the better move in the corrected positions, and as before in all others."""

from typing import Any

import numpy as np
import pytest
from torch import nn

from selfplay.dqn.patch import MARGIN, check_patchable, patch
from selfplay.dqn.player import QPlayer
from selfplay.errors import UserError
from selfplay.judging.agents import observe, player_policy
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe.symmetry import representatives
from tictactoe.tree import game_tree

KINDS: list[dict[str, Any]] = [
    {"mask": True},
    {"mask": False, "hidden": (16, 8)},
    {"mask": True, "symmetry": "none", "perspective": "absolute"},
    {"mask": True, "networks": "separate"},
    {"mask": True, "lines": 2, "rule_weight": 1.0},
    {"mask": True, "rows": 2, "cols": 4, "hidden": (8, 8, 8)},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_patch_changes_the_move_in_the_corrected_positions_alone(kind: dict[str, Any]) -> None:
    player = make(config_with(**kind)).player()
    rules, tree = player.rules, game_tree(player.rules)
    mine, theirs = (marks[tree.decisions].astype(np.int64) for marks in (tree.mover, tree.opponent))
    before = player_policy(player).cells(mine, theirs)
    others = rules.empty_cells(mine, theirs) & ~(np.int64(1) << before)
    # One image of each position: the others are the same to a canonical player.
    images = representatives(rules, mine, theirs) if player.canonical else (mine, theirs)
    moves = np.where((images[0] == mine) & (images[1] == theirs), others, 0)
    some = np.random.default_rng(0).permutation(np.flatnonzero(moves))[:12]
    positions = zip(mine[some].tolist(), theirs[some].tolist(), strict=True)
    corrections = dict(zip(positions, [int(word).bit_length() - 1 for word in moves[some]], strict=True))
    patched = patch(player, corrections)
    assert patched.config.hidden == tuple(width + 12 for width in player.config.hidden)
    after = player_policy(patched).cells(mine, theirs)
    seen = observe(rules, mine, theirs, "mover")
    difference = np.abs(player.q_values(seen) - patched.q_values(seen)).max(1)
    best, second = np.sort(patched.preferences(seen).numpy(), axis=1)[:, :-3:-1].T
    for number, (image, position) in enumerate(
        zip(zip(*images, strict=True), zip(mine, theirs, strict=True), strict=True)
    ):
        if position in corrections:
            assert after[number] == corrections[position]
            assert difference[number] >= MARGIN * 0.5
            # The move that was best is now just below the better one, however many layers its unit goes through.
            assert best[number] - second[number] == pytest.approx(MARGIN, abs=1e-4)
        elif image not in corrections:
            assert after[number] == before[number]
            assert difference[number] < 1e-5


def test_networks_to_which_no_unit_can_be_added_are_refused() -> None:
    messages = make(config_with(message_rounds=1, lines=2)).player()
    for player, named in (
        (make(config_with(hidden=())).player(), "network"),
        (QPlayer(config_with(), (nn.Linear(27, 9),)), "network"),
        (messages, "message_rounds"),
    ):
        with pytest.raises(UserError, match=named):
            check_patchable(player)
