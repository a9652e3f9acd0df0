"""Certificates: all positions that an unbeatable player's own play leads to, and its moves there, for others to check.

`check_certificate` says what a certificate is, and shares no code with this module.
"""

import gzip
import json
from collections.abc import Sequence

import numpy as np

from selfplay.errors import UserError
from selfplay.judge.ask import AgentPolicy
from selfplay.judge.evaluate import confirm_play, search_seat
from selfplay.judge.follow import Ply, some_of
from selfplay.settings import check_known_rules
from tictactoe import planes
from tictactoe.rules import SIZES

SEATS, EMPTY, MOVE, END = b"XO", *b".*\n"
"""The characters of a position."""


def unbeatable_play(policy: AgentPolicy, positions: int, name: str) -> list[list[Ply]]:
    """Return where an unbeatable player's play leads to in each seat, and what it plays there.

    At most `positions` positions are followed at each ply. If the player plays the same in all symmetric images of a
    position, one image of each is returned; if it can mark no taken cell, none from which it cannot lose.
    Messages call the player by its `name`.

    Raises:
        UserError: the player can be beaten, or leads to more positions.
    """
    seats = []
    for seat in (0, 1):
        search = search_seat(policy, seat, positions)
        confirm_play(policy, search)
        verdict, plies = search
        if verdict.ways_to_beat:
            raise UserError(
                f"{name}: can be beaten, so there is nothing to certify (selfplay prove shows a game that beats it)"
            )
        if not verdict.complete:
            raise UserError(f"{name}: leads to more than {positions:,} positions at one ply; raise positions")
        if policy.legal:
            plies = [some_of(ply, policy.rules.can_lose(ply.mine, ply.theirs)) for ply in plies]
        seats.append(plies)
    return seats


def file_content(policy: AgentPolicy, play: Sequence[Sequence[Ply]], model_sha256: str | None) -> bytes:
    """Return the content of the certificate of what a policy plays in each seat."""
    rules = policy.rules
    check_known_rules(rules, "a certificate")
    header = {
        **{name: getattr(rules, name) for name in SIZES},
        "symmetric": policy.symmetric,
        "masked": policy.legal,
        "model_sha256": model_sha256,
    }
    by_marks = {-1: json.dumps(header).encode() + b"\n"}
    for seat, plies in enumerate(play):
        for number, ply in enumerate(plies):
            entries = np.full((len(ply.mine), rules.cells + 1), EMPTY, np.uint8)
            entries[:, -1] = END
            for words, character in ((ply.mine, SEATS[seat]), (ply.theirs, SEATS[1 - seat]), (ply.moves, MOVE)):
                entries[:, :-1][planes.bits(rules.cells, words)] = character
            by_marks[2 * number + seat] = entries.tobytes()
    # The file holds no time, so that the same play makes the same file.
    return gzip.compress(b"".join(by_marks[marks] for marks in sorted(by_marks)), compresslevel=6, mtime=0)
