"""OpenSpiel's best response to the play of a certificate says what our checker and our exact evaluation say of it.

The certificate is that of the shipped player. Then single moves in it are changed. Positions that it does not list
are met only after such a change, and there a random empty cell is played. OpenSpiel walks the full tree for each seat.
Run it by `tests/interop/run openspiel_certificate`.
"""

import gzip
import json
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy
from open_spiel.python.algorithms import best_response, exploitability

import selfplay
from selfplay.evaluation import check_certificate
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.certificate import packed, unbeatable_play
from tictactoe import Rules

Moves = Mapping[str, int]
"""The cell that is marked in each position, whose nine cells are x, o or "."."""
UNBEATABLE, NOT_UNBEATABLE, NOT_PROVED = "UNBEATABLE", "NOT UNBEATABLE", "NOT PROVED"
HEADER = {"version": 1, "rows": 3, "cols": 3, "k": 3, "symmetric": False}
PLANTED = 5
"""Changed moves of each verdict of the checker that OpenSpiel is asked about, which takes it many seconds."""


def moves_of(positions: list[str]) -> dict[str, int]:
    """Return the moves of a certificate's lines, one in each."""
    return {line.replace("*", ".").lower(): line.index("*") for line in positions}


class Certified(policy.Policy):  # type: ignore[misc]  # what OpenSpiel has no type for
    """Play the moves in OpenSpiel's game, as either seat."""

    def __init__(self, game: Any, moves: Moves) -> None:
        super().__init__(game, [0, 1])
        self.moves = moves

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:  # noqa: ARG002
        move = self.moves.get(str(state).replace("\n", ""))
        legal = state.legal_actions()
        return {cell: 1 / len(legal) if move is None else float(cell == move) for cell in legal}


class Ours:
    """Play the moves, for the exact evaluation: each mark of X stands in plane 1, and of O in plane 2."""

    def __init__(self, moves: Moves) -> None:
        self.moves = moves

    def probabilities(self, observation: Any, action_mask: Any = None) -> Any:  # noqa: ARG002 (an agent's signature)
        planes = np.asarray(observation).reshape(len(observation), 9, 3)
        chances = planes[..., 0] / np.maximum(planes[..., 0].sum(axis=1, keepdims=True), 1)
        for board, marks in enumerate(planes.argmax(axis=2)):
            move = self.moves.get("".join(".xo"[mark] for mark in marks))
            if move is not None:
                chances[board] = np.eye(9)[move]
        return chances


def results(game: Any, moves: Moves, verdict: str) -> list[float]:
    """Return what a best response leaves to each seat, once OpenSpiel, the exact evaluation and the checker agree."""
    certified, root = Certified(game, moves), game.new_initial_state()
    found = [0.0 - best_response.BestResponsePolicy(game, 1 - seat, certified, root).value(root) for seat in (0, 1)]
    ours = selfplay.evaluate(Ours(moves), Rules())
    assert np.allclose(found, [ours.first.best_response, ours.second.best_response], rtol=0, atol=1e-12)
    if verdict != NOT_PROVED:  # where the play goes on at random, it may be beaten or not
        assert ours.unbeatable == (verdict == UNBEATABLE)
        assert (min(found) == -1) == (verdict == NOT_UNBEATABLE)
    return found


def planted(positions: list[str]) -> Iterator[tuple[dict[str, int], str]]:
    """Yield the moves with each single one changed to each other empty cell, and what our checker says of it."""
    moves = moves_of(positions)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.txt.gz"
        path.write_bytes(gzip.compress("\n".join([json.dumps(HEADER), *positions, ""]).encode()))
        _, board, table = check_certificate.read(str(path))
    for (position, best), listed in zip(moves.items(), list(table), strict=True):
        for move in [cell for cell in range(9) if position[cell] == "." and cell != best]:
            _, verdict, _ = check_certificate.follow(board, table | {listed: bytes([move])}, masked=False)
            yield {**moves, position: move}, verdict.split(":")[0] or UNBEATABLE


def main() -> None:
    """Print what was compared."""
    print(f"open_spiel {version('open_spiel')}, numpy {np.__version__}")
    game = pyspiel.load_game("tic_tac_toe")
    judge = player_policy(selfplay.load("shipped"))
    content = packed(judge.rules, unbeatable_play(judge, 10**6, "shipped"), judge.symmetric, False, None)
    positions = gzip.decompress(content).decode().splitlines()[1:]
    moves = moves_of(positions)
    gain = exploitability.exploitability(game, Certified(game, moves))
    print(f"shipped, {len(moves)} positions: exploitability {gain:g}, worst results {results(game, moves, UNBEATABLE)}")
    assert gain == 0
    every = list(planted(positions))
    for kind in (UNBEATABLE, NOT_UNBEATABLE, NOT_PROVED):
        of_kind = [changed for changed, verdict in every if verdict == kind]
        chosen = of_kind[:: len(of_kind) // PLANTED][:PLANTED]
        worst = [min(results(game, changed, kind)) for changed in chosen]
        shown = ", ".join(f"{value:.3f}" for value in worst)
        print(
            f"{len(of_kind)} of {len(every)} changed moves are {kind}; worst results of {len(chosen)} of them: {shown}"
        )


if __name__ == "__main__":
    main()
