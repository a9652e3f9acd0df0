"""Figures of the evaluation itself, which need no measurement: sizes of the game, limits, and the shipped player's."""

from pathlib import Path

import selfplay
from benchmarks.harness import number
from selfplay.judging import certificate, check_certificate, evaluate, exact
from selfplay.judging.agents import player_policy
from tictactoe import Rules
from tictactoe.tree import SOLVABLE_CELLS, game_tree


def figures(_docs: Path) -> dict[str, str]:
    """Return the figures of the evaluation, computed anew."""
    tree = game_tree(Rules())
    policy = player_policy(selfplay.load("shipped"))
    play = certificate.unbeatable_play(policy, len(tree), "shipped")
    counts = {
        "game.states": len(tree),
        "game.decision-states": len(tree.decisions),
        "proofs.cells.all-states": exact.ALL_STATES_CELLS,
        "proofs.cells.solvable": SOLVABLE_CELLS,
        "proofs.cells.most": check_certificate.LARGEST_BOARD,
        "proofs.positions": evaluate.POSITIONS,
        "proofs.checker.lines": len(Path(check_certificate.__file__).read_text().splitlines()),
        "proofs.shipped.positions": sum(len(ply.mine) for plies in play for ply in plies),
    }
    return {name: number(count, 0) for name, count in counts.items()}
