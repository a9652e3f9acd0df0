"""Fill in the figures of README and pages from the data files: `python -m benchmarks.pages`, or `--check` them.

A page names a figure between markers, in a text or on lines of its own for a table:

    The slowest of <!-- evidence.seeds -->100<!-- end --> seeds ...

`--list` shows every figure with its name.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import harness
from benchmarks.pages import baselines, course, evidence, learning, measured, proofs, protocol, speed, symptoms
from selfplay.cli.flags import run_command
from selfplay.errors import UserError

PROG = "python -m benchmarks.pages"
SUBJECTS: tuple[Callable[[Path], Mapping[str, str]], ...] = (
    measured.figures,
    baselines.figures,
    course.figures,
    evidence.figures,
    learning.figures,
    proofs.figures,
    protocol.figures,
    speed.figures,
    symptoms.figures,
)
"""Functions that return the figures of a subject by name, from the data files in the folder of the pages."""
MARKED = re.compile(r"(<!-- (?P<name>[a-z0-9-]+(\.[a-z0-9-]+)+) -->)(?P<text>.*?)(<!-- end -->)", re.DOTALL)
MARKER_FIRST = re.compile(r" ((?:<!-- [a-z0-9.-]+ -->[^\n<]*<!-- end -->|[^\s<])+)\n( *)(?=<!-- [a-z0-9.-]+ -->[^\n])")
"""The last word of a line before one that begins with a marker: in Markdown that is HTML, which ends the paragraph."""


@dataclass(frozen=True)
class Flags:
    """Fill in the figures of README and pages."""

    check: bool = False
    """Change nothing, and name each page that is out of date."""
    list: bool = False
    """Show every figure with its name."""
    root: Path = harness.ROOT
    """Folder with README.md and docs."""


def pages(root: Path) -> list[Path]:
    """Return the pages, and the units of the course, whose prose holds figures too."""
    docs = root / "docs"
    return [root / "README.md", *sorted(docs.rglob("*.md")), *sorted((docs / "course").glob("unit_*.py"))]


def all_figures(docs: Path) -> dict[str, str]:
    """Return every figure by its name."""
    return {name: text for subject in SUBJECTS for name, text in subject(docs).items()}


def filled(text: str, figures: Mapping[str, str]) -> str:
    """Return a page with the figures that its markers name; a table is put on lines of its own, a figure never first.

    Raises:
        KeyError: There is no such figure.
    """

    def between_markers(found: re.Match[str]) -> str:
        figure = figures[found["name"]]
        return f"{found[1]}\n{figure}{found[5]}" if figure.endswith("\n") else f"{found[1]}{figure}{found[5]}"

    return MARKER_FIRST.sub(r"\n\2\1 ", MARKED.sub(between_markers, text))


def main(args: Sequence[str]) -> None:
    """Fill in the pages, or say what is out of date.

    Raises:
        UserError: A page is out of date, or names a figure that there is not.
    """
    flags = harness.read_flags(Flags, args, PROG)
    figures = all_figures(flags.root / "docs")
    if flags.list:
        sys.stdout.writelines(f"{name}: {text}\n" for name, text in figures.items())
        return
    outdated = []
    for page in pages(flags.root):
        text, name = page.read_text(), page.relative_to(flags.root)
        try:
            right = filled(text, figures)
        except KeyError as unknown:
            raise UserError(f"{name}: there is no figure {unknown}; --list shows all") from None
        if right != text:
            outdated.append(str(name))
            if not flags.check:
                page.write_text(right)
    if flags.check and outdated:
        raise UserError(f"{', '.join(outdated)}: out of date; run {PROG}")


if __name__ == "__main__":
    run_command(main, PROG)
