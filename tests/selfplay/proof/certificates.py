"""Certificates of players that are quickly asked, and their lines to change."""

import gzip
import json
from pathlib import Path
from typing import Any

from selfplay.proof.built_in import BuiltIn
from selfplay.proof.certificate import packed, unbeatable_play
from selfplay.proof.judge import Asked

UNBEATABLE, BEATEN, DAMAGED = 0, 1, 2
POSITIONS = 10**6


class FirstChoice(BuiltIn):
    """Play the first of a built-in opponent's choices, and draw nothing."""

    @property
    def draws(self) -> bool:
        return False


def content_of(judge: Asked, masked: bool = False) -> bytes:
    return packed(judge.rules, unbeatable_play(judge, POSITIONS, "it"), judge.symmetric, masked, None)


def lines_of(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return the header and the positions."""
    header, *positions = gzip.decompress(content).decode().splitlines()
    return json.loads(header), positions


def written(path: Path, header: dict[str, Any], positions: list[str]) -> Path:
    # Stored and not compressed, because some tests write a thousand of them.
    path.write_bytes(gzip.compress("\n".join([json.dumps(header), *positions, ""]).encode(), 0))
    return path


TINY = {"version": 1, "rows": 3, "cols": 3, "k": 3, "symmetric": True, "masked": False, "model_sha256": "ab"}
