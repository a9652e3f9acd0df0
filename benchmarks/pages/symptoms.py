"""Figures of docs/why-does-my-dqn-not-learn.md: a table for each symptom, and each of its cells."""

from pathlib import Path

from benchmarks.harness import markdown
from benchmarks.pages.measured import cells
from benchmarks.symptoms import __main__ as symptoms
from selfplay.sweep.statistics import proportion


def figures(docs: Path) -> dict[str, str]:
    """Return the figures, each as the median (least to most) of its seeds."""
    shares = (f"{100 * proportion(seeds, seeds).low:.0f} % after {seeds} of {seeds}" for seeds in (5, 10, 100))
    found = {"symptoms.shares": ", ".join(shares)}
    for symptom, rows in symptoms.read(docs).items():
        found |= {
            f"symptoms.{symptom}.table": markdown(symptoms.table(rows)),
            **dict(cells(f"symptoms.{symptom}", rows)),
        }
    return found
