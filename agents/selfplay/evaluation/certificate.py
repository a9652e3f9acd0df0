"""Certificates: all positions that an unbeatable player's own play leads to, and its move in each, for others to check.

`check_certificate`, which checks a certificate and shares nothing with this program, describes the file, and so does
docs/proofs.md.
"""

import gzip
import io
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import UserError
from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.forward_search import ForwardSearch, Ply
from tictactoe import Rules, planes

FORMAT, VERSION = "what an unbeatable player plays", 1
SEATS, EMPTY, MOVE, END = b"XO", *b".*\n"
"""The characters of a position."""
ROWS = 1 << 17
"""Positions that are put into words at once."""
COMPRESSION = 6


def unbeatable_play(policy: AgentPolicy, positions: int, name: str) -> tuple[list[Ply], list[Ply]]:
    """Return where an unbeatable player's play leads to in each seat, and what it plays there.

    At most `positions` positions are followed at each ply. If the player plays the same in all symmetric images of a
    position, one image of each is returned; if it can mark no taken cell, none from which it cannot lose.
    Messages call the player by its `name`.

    Raises:
        UserError: the player can be beaten, or leads to more positions.
    """
    first, second = (_in_seat(policy, seat, positions, name) for seat in (0, 1))
    return first, second


def _in_seat(policy: AgentPolicy, seat: int, positions: int, name: str) -> list[Ply]:
    search = ForwardSearch(policy, seat, positions, settle=policy.legal)
    plies = list(search.plies())
    if search.lost.games or search.illegal.games:
        raise UserError(
            f"{name}: can be beaten, so there is nothing to certify (selfplay prove shows a game that beats it)"
        )
    if not search.complete:
        raise UserError(f"{name}: leads to more than {positions:,} positions at one ply; raise --positions")
    return plies


def packed(
    rules: Rules, play: Sequence[Sequence[Ply]], symmetric: bool, masked: bool, model_sha256: str | None
) -> bytes:
    """Return the content of the certificate of what a player plays in each seat; a `masked` one marks no taken cell."""
    size = {"rows": rules.rows, "cols": rules.cols, "k": rules.k}
    kind = {"symmetric": symmetric, "masked": masked}
    header = {"format": FORMAT, "version": VERSION, **size, **kind, "model_sha256": model_sha256}
    content = io.BytesIO()
    # It holds no time, so that the same play makes the same file.
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=COMPRESSION, mtime=0) as file:
        file.write(json.dumps(header).encode() + b"\n")
        for seat, plies in enumerate(play):
            for ply in plies:
                for start in range(0, len(ply.mine), ROWS):
                    part = ply.where(slice(start, start + ROWS))
                    file.write(_characters(rules, seat, part).tobytes())
    return content.getvalue()


def _characters(rules: Rules, seat: int, ply: Ply) -> NDArray[np.uint8]:
    """Return a line of text for each position, [n, A + 1]."""
    lines = np.full((len(ply.mine), rules.cells + 1), EMPTY, np.uint8)
    lines[:, -1] = END
    for words, character in ((ply.mine, SEATS[seat]), (ply.theirs, SEATS[1 - seat]), (ply.moves, MOVE)):
        lines[:, :-1][planes.bits(rules.cells, words) != 0] = character
    return lines
