"""The mistakes run, and the data file holds what was measured of each."""

from pathlib import Path

from benchmarks import symptoms


def test_every_mistake_is_measured_and_written(tmp_path: Path) -> None:
    symptoms.main(seeds=(1000,), plies=1_280, docs=tmp_path)
    assert {symptom: [*rows] for symptom, rows in symptoms.read(tmp_path).items()} == {
        symptom: [*rows] for symptom, rows in symptoms.ROWS.items()
    }
