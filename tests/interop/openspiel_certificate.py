"""Compare OpenSpiel's best response to the play of a certificate with our checker and our exact evaluation.

The certificate is that of the shipped player. Then single moves in it are changed. Positions that it does not list
are met only after such a change, and there a random empty cell is played. OpenSpiel walks the full tree for each seat.
Run it by `tests/interop/run openspiel_certificate`.
"""

import gzip
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy
from open_spiel.python.algorithms import best_response
from shared import print_versions

import selfplay
from selfplay.judging.agents import player_policy
from selfplay.judging.certificate import file_content, unbeatable_play
from selfplay.judging.check_certificate import Certificate, check
from tictactoe import Rules

Moves = Mapping[str, int]
"""The cell that is marked in each position, whose nine cells are X, O or "."."""
GAME = pyspiel.load_game("tic_tac_toe")
UNBEATABLE, NOT_UNBEATABLE, NOT_PROVED = "UNBEATABLE", "NOT UNBEATABLE", "NOT PROVED"
CHANGES = 5
"""Changed moves of each verdict of the checker that OpenSpiel is given, which takes it many seconds."""


class Certified(policy.Policy):  # type: ignore[misc]  # OpenSpiel has no types
    """Play the moves in OpenSpiel's game as either seat, and in our observations; elsewhere any empty cell."""

    def __init__(self, moves: Moves) -> None:
        super().__init__(GAME, [0, 1])
        self.moves = moves

    def chances(self, position: str) -> list[float]:
        empty = [float(cell == ".") for cell in position]
        move = self.moves.get(position)
        return [
            chance / max(sum(empty), 1) if move is None else float(cell == move) for cell, chance in enumerate(empty)
        ]

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:  # noqa: ARG002
        chances = self.chances(str(state).replace("\n", "").upper())
        return {cell: chances[cell] for cell in state.legal_actions()}

    def probabilities(self, observation: Any) -> Any:
        marks = np.asarray(observation).reshape(-1, 9, 3).argmax(axis=2)
        return [self.chances("".join(".XO"[mark] for mark in board)) for board in marks]


def results(moves: Moves, verdict: str) -> list[float]:
    """Return what a best response leaves to each seat, once OpenSpiel, the exact evaluation and the checker agree."""
    certified, root = Certified(moves), GAME.new_initial_state()
    values = [0.0 - best_response.BestResponsePolicy(GAME, 1 - seat, certified, root).value(root) for seat in (0, 1)]
    ours: Any = selfplay.evaluate(certified, Rules())
    assert np.allclose(values, [ours.first.best_response, ours.second.best_response], rtol=0, atol=1e-12)
    if verdict != NOT_PROVED:  # where the play goes on at random, it may be beaten or not
        assert ours.unbeatable == (verdict == UNBEATABLE)
        assert (min(values) == -1) == (verdict == NOT_UNBEATABLE)
    return values


def main() -> None:
    """Print what was compared."""
    print_versions("open_spiel", "numpy")
    shipped = player_policy(selfplay.load("shipped"))
    content = file_content(shipped, unbeatable_play(shipped, 10**6, "shipped"), None)
    header, *lines = gzip.decompress(content).decode().splitlines()
    moves = {line.replace("*", "."): line.index("*") for line in lines}
    worst = results(moves, UNBEATABLE)
    print(f"shipped, {len(moves)} positions: worst results {worst}")
    assert worst == [0, 0]
    changed: dict[str, list[Moves]] = {UNBEATABLE: [], NOT_UNBEATABLE: [], NOT_PROVED: []}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.txt.gz"
        for number, line in enumerate(lines):
            position = line.replace("*", ".")
            for cell in range(9):
                if line[cell] == ".":
                    other = f"{position[:cell]}*{position[cell + 1 :]}"
                    text = "\n".join([header, *lines[:number], other, *lines[number + 1 :], ""])
                    path.write_bytes(gzip.compress(text.encode(), compresslevel=1))
                    verdict = check(Certificate(str(path)))[1].split(":")[0] or UNBEATABLE
                    changed[verdict].append({**moves, position: cell})
    for verdict, alike in changed.items():
        chosen = alike[:: len(alike) // CHANGES][:CHANGES]
        worst = [round(min(results(each, verdict)), 3) for each in chosen]
        print(f"{len(alike)} changed moves are {verdict}; worst results of {len(chosen)}: {worst}")


if __name__ == "__main__":
    main()
