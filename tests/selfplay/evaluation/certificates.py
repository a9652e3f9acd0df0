"""Certificates of players that are quickly asked, and their lines to change."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from selfplay.evaluation.built_in import BuiltIn
from selfplay.evaluation.judge import Asked

from selfplay.evaluation.certificate import packed, unbeatable_play
from tictactoe.tree import FloatArray, IntArray

UNBEATABLE, BEATEN, DAMAGED = 0, 1, 2
POSITIONS = 10**6


class FirstChoice(BuiltIn):
    """Play the first of a built-in opponent's choices, and draw nothing."""

    @property
    def draws(self) -> bool:
        return False


class Known:
    """Pass on what an agent answers, and say of it whether it is known to mark no taken cell."""

    def __init__(self, judge: Asked, legal: bool) -> None:
        self._judge, self.legal = judge, legal
        self.rules, self.draws, self.symmetric = judge.rules, judge.draws, judge.symmetric

    def cells(self, mover: IntArray, opponent: IntArray) -> NDArray[np.int64]:
        return self._judge.cells(mover, opponent)

    def chances(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        return self._judge.chances(mover, opponent)


def content_of(judge: Asked, masked: bool = False) -> bytes:
    play = unbeatable_play(Known(judge, masked), POSITIONS, "it")
    return packed(judge.rules, play, judge.symmetric, masked, None)


def lines_of(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return the header and the positions."""
    header, *positions = gzip.decompress(content).decode().splitlines()
    return json.loads(header), positions


def written(path: Path, header: dict[str, Any], positions: list[str]) -> Path:
    # Stored and not compressed, because some tests write a thousand of them.
    path.write_bytes(gzip.compress("\n".join([json.dumps(header), *positions, ""]).encode(), 0))
    return path


TINY = {"version": 1, "rows": 3, "cols": 3, "k": 3, "symmetric": True, "masked": False, "model_sha256": "ab"}
