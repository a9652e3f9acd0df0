"""Figures of docs/why-does-my-dqn-not-learn.md: a table for each symptom, and each of its cells."""

from pathlib import Path

from benchmarks.harness import markdown
from benchmarks.pages.measured import cells
from benchmarks.symptoms import __main__ as symptoms


def figures(docs: Path) -> dict[str, str]:
    """Return the figures, each as the median (least to most) of its seeds."""
    found: dict[str, str] = {}
    for symptom, rows in symptoms.read(docs).items():
        found |= {
            f"symptoms.{symptom}.table": markdown(symptoms.table(rows)),
            **dict(cells(f"symptoms.{symptom}", rows)),
        }
    return found
