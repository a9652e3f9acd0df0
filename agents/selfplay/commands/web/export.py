"""One player as a single HTML file that needs no server: the page, what was learned, and what Python has proved of it."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.commands.web.bundle import BundleError, bundle
from selfplay.errors import UserError
from selfplay.files import write_whole
from tictactoe.symmetry import symmetries

if TYPE_CHECKING:
    from torch import Tensor

    from selfplay.agent import Player

PAGE = Path(__file__).parent / "page"
ENTRY = "exported.js"
"""The module that starts the page on what lies inside it."""
DATA = "own"
"""The id of the element that holds it."""
LARGEST = 64_000_000
"""Bytes of weights or of a table, before they are packed, that a page is given."""
ROOM_FOR_KEPT = 300_000
"""Bytes of the file, at most, for the kept players of the slider."""

STYLE = re.compile(r'<link rel="stylesheet" href="[\w./-]+">')
SCRIPT = re.compile(r'<script type="module" src="[\w./-]+"></script>')
ELSEWHERE = re.compile(r'(?:src|href)="(?![#"])[^"]*"')


def document(page: Mapping[str, str], data: Mapping[str, Any]) -> str:
    """Return the whole file: `page` are the page's files by name, `data` what own_source.js wants to know.

    Raises:
        BundleError: the page is written as cannot be bundled.
    """
    modules = {name: text for name, text in page.items() if name.endswith(".js")}
    script, style = "\n" + bundle(modules, ENTRY), "\n" + page["style.css"]
    if "</style" in style.lower():
        raise BundleError("style.css: cannot be bundled: it ends its element")
    held = f'<script type="application/json" id="{DATA}">{in_script(data)}</script>'
    policy = f'<meta http-equiv="Content-Security-Policy" content="{content_policy(script, style)}">'
    html = _replaced(page["index.html"], "<head>", f"<head>\n{policy}")
    html = _replaced(html, _only(STYLE, html), f"<style>{style}</style>")
    script_element = _only(SCRIPT, html)
    left = ELSEWHERE.search(html.replace(script_element, ""))
    if left:
        raise BundleError(f"index.html: cannot be bundled: {left.group()}")
    return _replaced(html, script_element, f'{held}\n<script type="module">{script}</script>')


def content_policy(script: str, style: str) -> str:
    """Return the policy that lets this script and this style work and nothing be asked for."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def in_script(data: Any) -> str:
    """Return data as JSON that no element ends in: names in it may be anybody's."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def game_of(player: "Player") -> dict[str, Any]:
    """Return what network.js, solve.js and table.js want to know of a player's game."""
    rules = player.rules
    return {
        "rows": rules.rows,
        "cols": rules.cols,
        "k": rules.k,
        "lines": [rules.cells_of(line) for line in rules.lines],
        "symmetries": symmetries(rules).tolist() if getattr(player, "canonical", False) else None,
        "perspective": getattr(player, "perspective", None),
    }


def packed(tensors: "Mapping[str, Tensor]") -> str:
    """Return what was learned as text: a safetensors file, gzipped, in base64."""
    from safetensors.torch import save

    content = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def _only(pattern: re.Pattern[str], html: str) -> str:
    found = pattern.findall(html)
    if len(found) != 1:
        raise BundleError(f"index.html: must have one {pattern.pattern}, has {len(found)}")
    only: str = found[0]
    return only


def _replaced(html: str, old: str, new: str) -> str:
    before, _, after = html.partition(old)
    return before + new + after


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
