"""OpenSpiel's best response to the play of a certificate agrees with our checker and our exact evaluation.

The certificate is that of the shipped player. Then single moves in it are changed. Positions that it does not list
are met only after such a change, and there a random empty cell is played. OpenSpiel walks the full tree for each seat.
Run it by `tests/interop/run openspiel_certificate`.
"""

import gzip
import json
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy
from open_spiel.python.algorithms import best_response, exploitability

import selfplay
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.certificate import packed, unbeatable_play
from selfplay.evaluation.check_certificate import Certificate, check
from tictactoe import Rules

Moves = Mapping[str, int]
"""The cell that is marked in each position, whose nine cells are x, o or "."."""
GAME = pyspiel.load_game("tic_tac_toe")
VERDICTS = UNBEATABLE, NOT_UNBEATABLE, NOT_PROVED = "UNBEATABLE", "NOT UNBEATABLE", "NOT PROVED"
HEADER = {"version": 1, "rows": 3, "cols": 3, "k": 3, "symmetric": False, "masked": False}
CHANGES = 5
"""Changed moves of each verdict of the checker that OpenSpiel is given, which takes it many seconds."""


class Certified(policy.Policy):  # type: ignore[misc]  # OpenSpiel has no types
    """Play the moves in OpenSpiel's game as either seat, and in our observations; elsewhere any empty cell."""

    def __init__(self, moves: Moves) -> None:
        super().__init__(GAME, [0, 1])
        self.moves = moves

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:  # noqa: ARG002
        move = self.moves.get(str(state).replace("\n", ""))
        legal = state.legal_actions()
        return {cell: 1 / len(legal) if move is None else float(cell == move) for cell in legal}

    def probabilities(self, observation: Any) -> Any:
        planes = np.asarray(observation).reshape(len(observation), 9, 3)
        chances = planes[..., 0] / np.maximum(planes[..., 0].sum(axis=1, keepdims=True), 1)
        for board, marks in enumerate(planes.argmax(axis=2)):
            move = self.moves.get("".join(".xo"[mark] for mark in marks))
            if move is not None:
                chances[board] = np.eye(9)[move]
        return chances


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


def checked(moves: Moves, path: Path) -> str:
    """Return the verdict of our checker on a certificate of these moves, written into a file."""
    lines = [f"{position[:move]}*{position[move + 1 :]}\n".upper() for position, move in moves.items()]
    path.write_bytes(gzip.compress((json.dumps(HEADER) + "\n" + "".join(lines)).encode(), compresslevel=1))
    return check(Certificate(str(path)))[1].split(":")[0] or UNBEATABLE


def main() -> None:
    """Print what was compared."""
    print(f"open_spiel {version('open_spiel')}, numpy {np.__version__}")
    shipped = player_policy(selfplay.load("shipped"))
    content = packed(shipped.rules, unbeatable_play(shipped, 10**6, "shipped"), shipped.symmetric, False, None)
    lines = gzip.decompress(content).decode().splitlines()[1:]
    moves = {line.replace("*", ".").lower(): line.index("*") for line in lines}
    gain = exploitability.exploitability(GAME, Certified(moves))
    print(f"shipped, {len(moves)} positions: exploitability {gain:g}, worst results {results(moves, UNBEATABLE)}")
    assert gain == 0
    changed = [
        {**moves, position: cell}
        for position, move in moves.items()
        for cell in range(9)
        if position[cell] == "." and cell != move
    ]
    with tempfile.TemporaryDirectory() as folder:
        verdicts = [checked(each, Path(folder) / "certificate.txt.gz") for each in changed]
    for verdict in VERDICTS:
        alike = [each for each, its_verdict in zip(changed, verdicts, strict=True) if its_verdict == verdict]
        chosen = alike[:: len(alike) // CHANGES][:CHANGES]
        worst = ", ".join(f"{min(results(each, verdict)):.3f}" for each in chosen)
        print(f"{len(alike)} of {len(changed)} changed moves are {verdict}; worst results of {len(chosen)}: {worst}")


if __name__ == "__main__":
    main()
