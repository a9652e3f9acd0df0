"""A README whose links lead to the repository, because a package index shows it without the other files."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r'(\]\(|src="|srcset=")(?!https?:|#)([^)"]+)')


def absolute(text: str, address: str, tag: str) -> str:
    """Return Markdown whose relative links are those of the repository at an address, as it is at a tag."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found[2].endswith((".png", ".svg")) else "blob"
        return f"{found[1]}{address}/{kind}/{tag}/{found[2]}"

    return LINK.sub(link, text)


class ReadmeHook(MetadataHookInterface):
    """The README as metadata; its links stay as they are while pyproject.toml names no repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        if "urls" in metadata:
            text = absolute(text, metadata["urls"]["Repository"], f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
