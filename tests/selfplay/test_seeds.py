"""The same training with several seeds, each in a process of its own."""

from pathlib import Path
from typing import Any

import selfplay
from tests.runs import refused, results

SHORT: dict[str, Any] = {"games": 600, "eval_every": 300}


def test_seeds_are_trained_in_processes_to_the_bits_of_train(tmp_path: Path) -> None:
    runs = selfplay.train_seeds(range(2), "td-value", **SHORT, run_dir=tmp_path / "seeds", progress=False)
    alone = selfplay.train("td-value", **SHORT, seed=1, run_dir=tmp_path / "alone")
    assert [run.config.seed for run in runs] == [0, 1]
    assert [run.folder for run in runs] == [tmp_path / "seeds" / "seed-0", tmp_path / "seeds" / "seed-1"]
    assert results(runs[1].folder) == results(alone.folder)
    assert runs[1].proof == alone.proof
    heading, *rows = repr(runs).splitlines()
    assert heading.split() == ["seed", "proved", "steps", "to", "proof", "games", "lost"]
    assert [row.split() for row in rows] == [[str(run.config.seed), "no", f"{run.proof.games_lost:,}"] for run in runs]


def test_a_run_that_failed_is_named_in_one_line_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / "mine.txt").touch()
    runs = selfplay.train_seeds([0, 1], "td-value", **SHORT, run_dir=tmp_path, processes=1, progress=False)
    assert [run.config.seed for run in runs] == [0]
    assert repr(runs).splitlines()[2].startswith(f"seed 1 failed: {tmp_path / 'seed-1'}: has files in it already")
    wanted = "every run failed; seed 1: "
    assert wanted in refused(selfplay.train_seeds, [1], "td-value", **SHORT, run_dir=tmp_path, progress=False)


def test_a_mistake_is_refused_before_any_process_starts(tmp_path: Path) -> None:
    assert "hidden=" in refused(selfplay.train_seeds, [1], hiden=3, run_dir=tmp_path)
    assert not list(tmp_path.iterdir())
