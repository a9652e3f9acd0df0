"""One player as a single HTML file that needs no server: the page, the player, and its evaluation."""

import base64
import gzip
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from selfplay import tensor_file
from selfplay.errors import UserError
from selfplay.files import check_output, write_output
from selfplay.learning.api import load, snapshot_steps
from selfplay.web import mistakes
from selfplay.web.catalogue import Catalogue
from selfplay.web.live import history
from selfplay.web.server import PAGE, bundled_script
from tictactoe import Rules
from tictactoe.symmetry import symmetries

if TYPE_CHECKING:
    from selfplay.agent import Player

ENTRY = "exported.js"
"""The module that starts the page with the data inside it."""
LARGEST = 50_000_000
"""Upper bound for the bytes of a player's numbers in a page; a table for 14 cells has 38 million."""
ROOM_FOR_SNAPSHOTS = 300_000
"""Upper bound for the characters of the snapshots in the file."""
PARTS = 127
"""Parts of a scale, which a signed number of 8 bits holds."""
RIVALS = "random", "heuristic"
"""Built-in opponents that the page plays as well."""


def export(names: Sequence[str], output: Path) -> None:
    """Write the page of one player as a single file, and print where it is.

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
    size = sum(tensor.nbytes for tensor in chosen.player.tensors().values())
    if size > LARGEST:
        what = f"has {size:,} bytes of numbers, but a page holds at most {LARGEST:,}"
        raise UserError(f"{names[0]}: {what}; a smaller board or network fits")
    snapshots = packed_snapshots(chosen.folder)
    rivals = [each for each in catalogue.entries() if each["name"] in RIVALS and chosen.rules == Rules()]
    players = [entry | {"snapshots": snapshots["steps"]}, *rivals]
    policies = {each["index"]: catalogue.player(each["index"]).policy for each in players}
    data = {
        "players": players,
        **player_data(chosen.player),
        "evaluations": {index: mistakes.evaluate(policy) for index, policy in policies.items()},
        "history": history(chosen.folder),
        "snapshots": snapshots,
    }
    content = document(data).encode()
    write_output(output, content)
    of_run = entry["snapshots"]
    kept = f", with {len(snapshots['steps'])} of the {len(of_run)} snapshots of its run" if of_run else ""
    print(f"The page of {entry['name']} is in {output} ({len(content):,} bytes{kept}); it needs no server")


def packed_snapshots(folder: Path) -> dict[str, Any]:
    """Return the snapshots of a run as text: its tensors in whole parts of a scale, each as the change from the last.

    These are 8-bit numbers, gzipped, in base64. If there is no room for all, it is every second snapshot, or every
    fourth; the last one is always included.
    """
    steps = snapshot_steps(folder)
    if not steps:
        return {"steps": steps}
    players = [load(folder, steps=each).tensors() for each in steps]
    stacked = {name: np.stack([player[name] for player in players]) for name in players[0]}
    scales = {name: float(np.abs(values).max()) / PARTS or 1.0 for name, values in stacked.items()}
    parts = [np.rint(values / scales[name]).reshape(len(steps), -1) for name, values in stacked.items()]
    whole, kept = np.concatenate(parts, 1).astype(np.int8), [*range(len(steps))]
    while len(text := _text(np.diff(whole[kept], axis=0, prepend=np.int8(0)).tobytes())) > ROOM_FOR_SNAPSHOTS:
        if len(kept) == 1:
            break
        kept = kept[::-1][::2][::-1]
    shapes = {name: values.shape[1:] for name, values in stacked.items()}
    return {"steps": [steps[each] for each in kept], "scales": scales, "shapes": shapes, "changes": text}


def player_data(player: "Player") -> dict[str, Any]:
    """Return the data from which exported_api.js computes a player's values and moves."""
    rules = player.rules
    game = {
        **asdict(rules),
        "lines": [rules.cells_of(line) for line in rules.lines],
        "symmetries": symmetries(rules).tolist() if getattr(player, "canonical", False) else None,
        "perspective": getattr(player, "perspective", None),
    }
    mask, rule_weight = getattr(player, "mask", False), getattr(player, "rule_weight", 0.0)
    return {"game": game, "mask": mask, "rule_weight": rule_weight, "weights": packed(player)}


def packed(player: "Player") -> str:
    """Return a player's tensors as text: a safetensors file, gzipped, in base64."""
    return _text(tensor_file.packed(player.tensors()))


def _text(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def document(data: dict[str, Any]) -> str:
    """Return the page as one HTML file that loads nothing and starts with this data."""
    script, style = bundled_script(ENTRY), (PAGE / "style.css").read_text("utf-8")
    icon = f"data:image/svg+xml;base64,{base64.b64encode((PAGE / 'icon.svg').read_bytes()).decode()}"
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")  # cannot end the element
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    html = (PAGE / "index.html").read_text("utf-8")
    for place, content in {
        "<head>": f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '"icon.svg"': f'"{icon}"',
        '<link rel="stylesheet" href="style.css">': f"<style>{style}</style>",
        '<script type="module" src="served.js"></script>': (
            f'<script type="application/json" id="player-data">{text}</script>\n<script type="module">{script}</script>'
        ),
    }.items():
        html = html.replace(place, content)
    return html


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
