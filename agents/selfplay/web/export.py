"""One player as a single HTML file that needs no server: the page, the player, and its evaluation."""

import base64
import bisect
import gzip
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from selfplay.errors import UserError
from selfplay.files import check_output, write_output
from selfplay.protocols import Player
from selfplay.runs.load import load, snapshot_steps
from selfplay.tabular.players import TABLE, TabularPlayer, reachable_rows
from selfplay.web.catalogue import Catalogue
from selfplay.web.history import history
from selfplay.web.mistakes import evaluation
from selfplay.web.server import PAGE, bundled_script
from tictactoe import Rules
from tictactoe.symmetry import symmetries

ENTRY, TRAINER = "exported.js", "trainer.js"
"""The module that starts the page with the data inside it, and the worker of its playground."""
ROOM_FOR_SNAPSHOTS = 300_000
"""Largest number of characters of the snapshots in the file."""
PARTS = 127
"""Parts of a scale, which a signed number of 8 bits holds."""
RIVALS = "random", "heuristic"
"""Built-in opponents that the page plays as well, on the board of 3,3,3."""


def export(names: Sequence[str], output: Path, course: str | None = None) -> None:
    """Write the page of one player as a single file, and print where it is.

    `course` is the folder of the course's pages, seen from that file, if it is on the site with them.

    Raises:
        UserError: it is not exactly one player, a page cannot compute it, or the file cannot be written.
    """
    check_output(output)
    if len(names) != 1:
        raise UserError(f"--export writes the page of one player, got {len(names)}: selfplay web RUN --export {output}")
    catalogue = Catalogue(names, None, "absolute", Rules())
    chosen, entry = catalogue.player(0), catalogue.entries()[0]
    if chosen.player is None or chosen.folder is None:
        what = "is not a trained player; --export takes shipped, or a run of any algorithm with a network of ours"
        raise UserError(f"{names[0]}: {what}")
    snapshots = snapshots_data(chosen.folder)
    players = [entry | {"snapshots": snapshots["steps"]}]
    if chosen.rules == Rules():
        players += [each for each in catalogue.entries() if each["name"] in RIVALS]
    evaluations = {each["index"]: evaluation(catalogue.player(each["index"]).policy) for each in players}
    data = {
        "players": players,
        **player_data(chosen.player),
        "evaluations": evaluations,
        "history": history(chosen.folder),
        "snapshots": snapshots,
        "course": course,
    }
    content = document(data).encode()
    write_output(output, content)
    print(f"The page of {entry['name']} is in {output} ({len(content):,} bytes); it needs no server")
    if snapshots["steps"]:
        print(f"It holds {len(snapshots['steps'])} of the {len(entry['snapshots'])} snapshots of the run")


def snapshots_data(folder: Path) -> dict[str, Any]:
    """Return the snapshots of a run as text: its tensors in whole parts of a scale, each as the change from the last.

    These are 8-bit numbers, gzipped, in base64. If there is no room for all, it is as many as there is room for, evenly
    spread from the first to the last.
    """
    steps = snapshot_steps(folder)
    if not steps:
        return {"steps": steps}
    players = [tensors_of(load(folder, steps=each)) for each in steps]
    stacked = {name: np.stack([player[name] for player in players]) for name in players[0]}
    shapes = {name: values.shape[1:] for name, values in stacked.items()}
    scales = {name: float(np.abs(values).max()) / PARTS or 1.0 for name, values in stacked.items()}
    parts = [np.rint(values / scales[name]).reshape(len(steps), -1) for name, values in stacked.items()]
    rows = np.concatenate(parts, axis=1).astype(np.int8)  # one for each snapshot

    def changes_of(number: int) -> str:
        return _changes(rows[_spread(len(steps), number)])

    numbers = range(1, len(steps) + 1)
    fitting = max(1, bisect.bisect_right(numbers, ROOM_FOR_SNAPSHOTS, key=lambda number: len(changes_of(number))))
    kept = [steps[place] for place in _spread(len(steps), fitting)]
    return {"steps": kept, "scales": scales, "shapes": shapes, "changes": changes_of(fitting)}


def _spread(length: int, number: int) -> list[int]:
    """Return so many places of a sequence, evenly spread from the first to the last; a single one is the last."""
    places: list[int] = np.linspace(length - 1, 0, number).round().astype(int).tolist()
    return places[::-1]


def tensors_of(player: Player) -> "dict[str, np.ndarray[Any, Any]]":
    """Return what a player has learned, with zeros in the rows of a table that no game reads, which are most of it."""
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in player.tensors().items()}
    if isinstance(player, TabularPlayer):
        rows = reachable_rows(player.rules)
        table = np.moveaxis(tensors[TABLE], player.axis_of_rows, 0)
        read = np.zeros_like(table)
        read[rows] = table[rows]
        tensors[TABLE] = np.ascontiguousarray(np.moveaxis(read, 0, player.axis_of_rows))
    return tensors


def _changes(rows: "np.ndarray[Any, np.dtype[np.int8]]") -> str:
    return _zipped_text(np.diff(rows, axis=0, prepend=np.int8(0)).tobytes())


def player_data(player: Player) -> dict[str, Any]:
    """Return the data from which exported_api.js computes a player's values and moves."""
    rules = player.rules
    game = {
        "rules": asdict(rules),
        "lines": [rules.cells_of(line) for line in rules.lines],
        "symmetries": symmetries(rules).tolist() if getattr(player, "canonical", False) else None,
        "perspective": getattr(player, "perspective", None),
    }
    return {
        "game": game,
        "mask": getattr(player, "mask", False),
        "weights": _zipped_text(save(tensors_of(player))),
    }


def _zipped_text(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def document(data: dict[str, Any]) -> str:
    """Return the page as one HTML file that loads nothing and starts with this data."""
    script, style = bundled_script(ENTRY), (PAGE / "style.css").read_text("utf-8")
    icon = f"data:image/svg+xml;base64,{base64.b64encode((PAGE / 'icon.svg').read_bytes()).decode()}"
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")  # cannot end the element
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; worker-src blob:; style-src {_hash(style)}; img-src data:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    html = (PAGE / "index.html").read_text("utf-8")
    for place, content in {
        "<head>": f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '"icon.svg"': f'"{icon}"',
        '<link rel="stylesheet" href="style.css">': f"<style>{style}</style>",
        '<script type="module" src="served.js"></script>': (
            f'<script type="application/json" id="player-data">{text}</script>\n'
            f'<script type="text/plain" id="trainer">{bundled_script(TRAINER)}</script>\n'
            f'<script type="module">{script}</script>'
        ),
    }.items():
        html = html.replace(place, content)
    return html


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
