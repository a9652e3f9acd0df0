"""One player as a single HTML file that needs no server: the page, what it has learned, and what is proved of it."""

import base64
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.algorithms import load, read_settings, snapshot_steps
from selfplay.dqn.player import OWN_NETWORK
from selfplay.errors import UserError
from selfplay.files import write_whole
from selfplay.players import run_folder
from selfplay.web.bundle import document
from selfplay.web.catalogue import Catalogue
from selfplay.web.command import PAGE
from selfplay.web.wrong import findings
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.symmetry import symmetries

if TYPE_CHECKING:
    from torch import Tensor

    from selfplay.agent import Player

ENTRY = "exported.js"
"""The module that starts the page with what lies inside it."""
LARGEST = 50_000_000
"""Bytes of numbers that a page is given: a table for 14 cells has 38 million."""
ROOM_FOR_KEPT = 300_000
"""Characters of the file, at most, for the player as it was before the end."""


def export(names: Sequence[str], output: Path) -> None:
    """Write the page of one player as a single file, and say where it is.

    Raises:
        UserError: it is not one player, or one that a page cannot compute.
        OSError: the file cannot be written.
    """
    if len(names) != 1:
        raise UserError(f"--export writes the page of one player, got {len(names)}: selfplay web RUN --export {output}")
    name = names[0]
    check_exportable(name)
    own = own_data(name)
    page = {path.name: path.read_text("utf-8") for path in PAGE.iterdir() if path.is_file()}
    content = document(page, ENTRY, {"own": own}).encode()
    write_whole(output, content)
    there, inside = len(snapshot_steps(name)), len(own["kept"])
    left_out = f", with {inside} of the {there} players that its run has kept" if inside < there else ""
    print(f"The page of {own['player']['name']} is in {output} ({len(content):,} bytes{left_out}); it needs no server")


def check_exportable(name: str) -> None:
    """Refuse who is no trained player whose numbers a page can compute with.

    Raises:
        UserError: it is none, or its run cannot be read.
    """
    what = None
    if name in OPPONENTS:
        what = "is a built-in opponent, which has learned nothing"
    elif run_folder(name) is None and ":" in name:
        what = "is an agent of your own, which only Python can ask"
    elif (folder := run_folder(name)) is not None:
        network = read_settings(folder)[1].get(OWN_NETWORK)
        what = f"has a network of your own, {network}, which only Python can ask" if network is not None else None
    if what is not None:
        raise UserError(f"{name}: {what}; --export takes shipped, or a run of any algorithm with a network of ours")


def own_data(name: str) -> dict[str, Any]:
    """Return what own_source.js wants to know of a player, ready for JSON.

    Raises:
        UserError: there is no such player, or it is too large.
    """
    catalogue = Catalogue((name,), None, "absolute", Rules())
    entry, chosen = catalogue.entries()[0], catalogue.chosen(0)
    player = chosen.player
    assert player is not None, f"{name} is a trained player"
    size = sum(tensor.nbytes for tensor in player.tensors().values())
    if size > LARGEST:
        what = f"has {size:,} bytes of numbers, and a page is given at most {LARGEST:,}"
        raise UserError(f"{name}: {what}; a smaller board or network fits")
    weights, kept = packed(player), kept_players(name)
    found = findings(chosen.judge, player)
    return {
        "player": entry | {"kept": entry["kept"] and {**entry["kept"], "steps": list(kept)}},
        "game": game_of(player),
        "mask": getattr(player, "mask", False),
        "rule_weight": getattr(player, "rule_weight", 0.0),
        "weights": weights,
        "kept": ["" if text == weights else text for text in kept.values()],
        "wrong": found.wrong,
        "lost": found.lost,
    }


def kept_players(name: str) -> dict[int, str]:
    """Return the players that a run has kept, packed, by their steps.

    Where there is no room for all it is every second of them, or every fourth; the last is always there.
    """
    steps = snapshot_steps(name)
    texts = {each: packed(load(name, steps=each)) for each in steps}
    while sum(len(texts[each]) for each in steps[:-1]) > ROOM_FOR_KEPT:
        steps = steps[::-1][::2][::-1]
    return {each: texts[each] for each in steps}


def game_of(player: "Player") -> dict[str, Any]:
    """Return what network.js and solve.js want to know of a player's game."""
    rules = player.rules
    return {
        "rows": rules.rows,
        "cols": rules.cols,
        "k": rules.k,
        "lines": [rules.cells_of(line) for line in rules.lines],
        "symmetries": symmetries(rules).tolist() if getattr(player, "canonical", False) else None,
        "perspective": getattr(player, "perspective", None),
    }


def packed(player: "Player") -> str:
    """Return what a player has learned as text: a safetensors file, gzipped, in base64."""
    from safetensors.torch import save

    from selfplay.tabular.players import MinimaxQPlayer

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in player.tensors().items()}
    if isinstance(player, MinimaxQPlayer):
        tensors = {name: of_positions(table, player.rules) for name, table in tensors.items()}
    return base64.b64encode(gzip.compress(save(tensors), mtime=0)).decode()


def of_positions(table: "Tensor", rules: Rules) -> "Tensor":
    """Return a table [T, 3^A, A] with zeros where no game leads: it began with random numbers, which do not pack."""
    from selfplay.tabular.players import reachable_rows

    rows = reachable_rows(rules)
    found = table.new_zeros(table.shape)
    found[:, rows] = table[:, rows]
    return found
