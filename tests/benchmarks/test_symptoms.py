"""The mistakes run, and the data file holds what was measured of each."""

from pathlib import Path

from benchmarks import harness, symptoms


def test_every_mistake_is_measured_and_written(tmp_path: Path) -> None:
    symptoms.main(seeds=(1000,), plies=1_280, docs=tmp_path)
    for folder, seeds in ((tmp_path, 1), (harness.ROOT / "docs", 5)):
        measured = symptoms.read(folder)
        assert {symptom: [*rows] for symptom, rows in measured.items()} == {
            symptom: [*rows] for symptom, rows in symptoms.ROWS.items()
        }
        assert {len(results) for rows in measured.values() for results in rows.values()} == {seeds}
