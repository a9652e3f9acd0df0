"""The page as one HTML file that loads nothing from elsewhere: text, style and scripts, and the players in it."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from selfplay.files import write_output

PAGE = Path(__file__).parent / "page"
"""Folder of the page's files."""
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.-]+)";$', re.MULTILINE)
PLACE = re.compile("__([A-Z]+)__")
"""A place in index.html that is filled in."""


def write_page(
    players: Sequence[dict[str, Any]], file: Path, course: str | None = None, version: str | None = None
) -> bytes:
    """Write the page of some players to a file, and return its content.

    `course` is the folder of the course's pages, seen from that file, if it is on the site with them. A page with a
    `version` asks its server now and then for the current one.

    Raises:
        UserError: the file cannot be written.
    """
    content = document({"players": players, "course": course, "version": version}).encode()
    write_output(file, content)
    return content


def document(data: dict[str, Any]) -> str:
    """Return the page as HTML that starts with this data."""
    script, style = bundled_script("main.js"), (PAGE / "style.css").read_text("utf-8")
    parts = {
        "POLICY": (
            f"default-src 'none'; script-src {_hash(script)}; worker-src blob:; style-src {_hash(style)}; "
            f"img-src data:; connect-src {_source(data)}; base-uri 'none'; form-action 'none'"
        ),
        "ICON": "data:image/svg+xml;base64," + base64.b64encode((PAGE / "icon.svg").read_bytes()).decode(),
        "STYLE": style,
        "DATA": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),  # ends no element
        "TRAINER": bundled_script("trainer.js"),
        "SCRIPT": script,
    }
    return PLACE.sub(lambda place: parts[place[1]], (PAGE / "index.html").read_text("utf-8"))


def _source(data: dict[str, Any]) -> str:
    """Return what the page may connect to: its server, if it has one."""
    return "'none'" if data["version"] is None else "'self'"


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def bundled_script(entry: str) -> str:
    """Return a module of the page and all that it imports as one script, in the order in which they need each other.

    Modules import only names, and no two declare the same name; the browser refuses a script in which two do.
    """
    sources: dict[str, str] = {}

    def add(name: str) -> None:
        source = (PAGE / name).read_text("utf-8")
        for imported in IMPORT.findall(source):
            if imported not in sources:
                add(imported)
        sources[name] = re.sub("^export ", "", IMPORT.sub("", source), flags=re.MULTILINE)

    add(entry)
    return "".join(sources.values())
