"""Write a certificate that a player is unbeatable: `selfplay certify PLAYER`."""

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfplay import players
from selfplay.command_line import offer, parse
from selfplay.players import Perspective
from selfplay.settings import Count, board
from tictactoe.opponents import OPPONENTS

NAME = "certificate.txt.gz"
"""Of the file, in the folder of the run, or for a player that has none in the folder that one stands in."""


@dataclass(frozen=True)
class CertifyConfig:
    """Write all positions that an unbeatable player's play leads to, and its moves, for anybody to check."""

    player: str = field(metadata={"positional": "PLAYER"})
    """The folder of a run, shipped (the proved player of this package), a built-in opponent (rule or optimal: each of
    its choices is listed), or module:name of an agent of your own."""
    output: Path | None = None
    """The file; by default certificate.txt.gz in the folder of the run, and for other players in this folder."""
    perspective: Perspective = "absolute"
    """Planes that an agent of your own is shown: X and O, as the environment has them, or mine and theirs."""
    rows: int = 3
    """Board height for a built-in opponent, or an agent of your own that has no `rules`, cells."""
    cols: int = 3
    """Board width for these, cells."""
    k: int = 3
    """Marks in a row that win, for these."""
    positions: Count = 10_000_000
    """Distinct positions that the player is followed to at one ply, at most."""


def main(args: Sequence[str], prog: str = "selfplay certify") -> None:
    """Write the certificate of a player, and say how it is checked without this program."""
    config = parse(CertifyConfig, args, prog)
    from selfplay.algorithms import SHIPPED
    from selfplay.evaluation import certificate, check_certificate
    from selfplay.evaluation.agents import built_in_policy
    from selfplay.files import write_whole

    otherwise = board(config.rows, config.cols, config.k)
    named = players.resolve(config.player, config.perspective, otherwise)
    players.check_not_searched(named.name, named.rules, "a proof")
    players.check_room(config.positions, named.rules)
    judge = named.policy
    if named.name in OPPONENTS:
        judge = built_in_policy(OPPONENTS[named.name], named.rules, symmetric=True)
    play = certificate.unbeatable_play(judge, config.positions, config.player)
    checksum = model_checksum(named.folder) if named.folder else None
    content = certificate.packed(judge.rules, play, judge.symmetric, judge.legal, checksum)
    output = config.output or (Path() if config.player == SHIPPED else named.folder or Path()) / NAME
    write_whole(output, content)
    print(
        f"CERTIFIED: {config.player} is unbeatable on {judge.rules}; its play is in {output} ({len(content):,} bytes)"
    )
    checker = shlex.join(["python", check_certificate.__file__, str(output)])
    offer(
        "Check that with nothing but Python (the program can be copied away, and needs none of ours):",
        checker,
    )


def model_checksum(folder: Path) -> str:
    """Return the SHA-256 of a run's model, by which one can tell whose play was certified."""
    from selfplay.files import open_regular
    from selfplay.training.folder import MODEL

    with open_regular(folder / MODEL) as file:
        return hashlib.sha256(file.read()).hexdigest()
