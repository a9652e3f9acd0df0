"""The search for settings of the peers and of ours is the same for all, and goes on where it was stopped."""

import csv
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.peers import judging, learners
from benchmarks.peers.judging import Judged
from benchmarks.peers.tuning import __main__ as tuning, workers
from benchmarks.peers.tuning.record import FILE, Ended, Job, Record
from benchmarks.peers.tuning.score import score, text
from selfplay.errors import UserError
from tests.benchmarks.tuned import SMALL, history, job, line, need_optuna


def test_a_score_puts_the_earliest_lasting_proof_first_and_failures_last() -> None:
    best_first = [
        history(0, 0, 0, 0, 0, 0, 0, 0),
        history(9, 0, 0, 0, 0, 0, 0, 0),
        history(0, 0, 0, 0, 0, 0, 9, 0),  # an earlier proof that did not last is none
        history(0, 0, 0, 0, 0, 0, 0, 1),
        history(9, 9, 9, 9, 9, 9, 2, 2),
        history(0, 0, 0, 0, 0, 0, 3, 2),  # the fewest ever are not what counts
        [],
    ]
    assert [score(each) for each in best_first] == [1 / 8 - 1, 2 / 8 - 1, 0, 0.5, 2, 2.5, math.inf]
    assert text(best_first[1]) == "proved from 2.0 s on"
    assert text(best_first[5]) == "2.5 lines"
    assert text([]) == "failed"


@pytest.mark.parametrize(("number", "last"), [(1, 1), (4, 1), (5, 2), (12, 3)])
def test_a_score_is_the_mean_of_the_last_quarter(number: int, last: int) -> None:
    assert score(history(*range(1, number + 1))) == number - (last - 1) / 2


def test_a_record_holds_what_was_written_and_forgets_half_a_line(tmp_path: Path) -> None:
    record, path = Record(tmp_path / FILE), tmp_path / FILE
    runs = [Ended(job(number=1), history(3, 2), 0.9), Ended(job(), [], 0.0, "ValueError: no")]
    for one in runs:
        record.add(one)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:50])
    again = Record(path)
    assert again.ended == runs
    assert path.read_bytes() == whole
    assert [one.job.number for one in again.of("trial", "ours")] == [0, 1]
    assert again.best("ours", 2) == runs[0]
    path.write_text("{}\n")
    with pytest.raises(UserError, match=r"runs\.jsonl: is not a file of this search"):
        Record(path)


def test_final_runs_count_only_with_the_settings_of_the_best_trial(tmp_path: Path) -> None:
    record = Record(tmp_path / FILE)
    record.add(Ended(job(number=0), history(5, 5), 1.0))
    record.add(Ended(job(number=4, stage="final"), history(1, 1), 1.0))
    assert len(record.finals("ours", 1, [4])) == 1
    assert record.finals("ours", 1, [5]) == []
    record.add(Ended(job(number=1, drawn={**SMALL, "gamma": 1.0}), history(2, 2), 1.0))
    assert record.finals("ours", 2, [4]) == []
    assert len(record.finals("ours", 1, [4])) == 1


def test_the_seconds_of_a_run_are_those_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks: list[object] = []
    monkeypatch.setattr(judging, "measure", lambda *given: clocks.append(given[-1]))
    workers.run(job())
    assert clocks == [time.process_time]


def test_a_run_that_fails_is_a_result() -> None:
    ended = workers.run(job(drawn={**SMALL, "gamma": 7.0}))
    assert ended.failure.startswith("UserError: --gamma must be between 0 and 1, got 7.0")
    assert (ended.history, score(ended.history)) == ([], math.inf)


def kill_itself(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_runs_come_from_processes_of_their_own_and_one_that_dies_is_a_failure() -> None:
    due = [0.05, 0.1]
    good, bad = job(due=due, number=7), job(drawn={**SMALL, "gamma": 7.0}, due=due)
    found = {one.job.number: one for one in workers.results(iter([good, bad]), processes=2)}
    assert [(each.player, each.seed) for each in found[7].history] == [("ours", 1007)] * 2
    assert found[0].failure.startswith("UserError: --gamma")
    dead, its = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=kill_itself, args=(its,), daemon=True)
    process.start()
    its.close()
    assert workers._result(dead, good, process).failure == "its process ended with exit status -9"


def in_turn(jobs: Iterator[Job], _processes: int) -> Iterator[Ended]:
    """Do each job here, with evaluations that tell by their number of lines which settings they are of."""
    for one in jobs:
        bad = 99 if one.stage == "trial" and one.number == 0 else round(1_000 * one.drawn.get("gamma", 1))
        lines = [Judged(one.name, one.seed, due, 5, bad, 0, 0, 0, 4_000, 1.0, False) for due in one.due]
        yield Ended(one, lines, 1.0)


FLAGS = ["--trials", "3", "--seeds", "4", "5", "--evaluations", "2", "--final-evaluations", "3"]


def search(folder: Path, *more: str) -> list[Ended]:
    tuning.main([*FLAGS, *more, "--dir", str(folder / "search")])
    return Record(folder / "search" / FILE).ended


def test_a_search_that_was_stopped_goes_on_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_optuna()
    monkeypatch.setattr(learners, "missing", lambda _: [])
    monkeypatch.setattr(workers, "results", in_turn)
    whole = search(tmp_path)
    expected = [(stage, number) for stage, numbers in (("trial", range(3)), ("final", (4, 5))) for number in numbers]
    assert [(one.job.stage, one.job.number) for one in whole] == [each for each in expected for _ in range(3)]
    path = tmp_path / "search" / FILE
    lines = path.read_bytes().splitlines(keepends=True)
    for kept in (0, 1, 5, 10, 15):
        path.write_bytes(b"".join(lines[:kept]))
        assert search(tmp_path) == whole
    best = {one.job.player: one.job.drawn for one in whole if one.job.stage == "final"}
    assert best["stable-baselines3"] == {}  # trial 0
    more = search(tmp_path, "--trials", "4", "--players", "ours")
    assert more[: len(whole)] == whole
    fourth = more[len(whole)].job
    assert (fourth.stage, fourth.player, fourth.number) == ("trial", "ours", 3)


def test_other_moments_than_before_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_optuna()
    monkeypatch.setattr(workers, "results", in_turn)
    search(tmp_path, "--players", "ours")
    with pytest.raises(UserError, match="has a trial run of 60 s and 2 evaluations, not of 5 s and 2; go on with the"):
        search(tmp_path, "--players", "ours", "--seconds", "5")
    with pytest.raises(UserError, match="has a final run of 300 s and 3 evaluations, not of 300 s and 4"):
        search(tmp_path, "--players", "ours", "--final-evaluations", "4")


def test_what_was_found_replaces_what_the_examples_had_come_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need_optuna()

    def failing(jobs: Iterator[Job], processes: int) -> Iterator[Ended]:
        for one in in_turn(jobs, processes):
            failed = (one.job.stage, one.job.player, one.job.number) == ("trial", "cleanrl-style", 1)
            yield one._replace(history=[], failure="ValueError: no") if failed else one

    monkeypatch.setattr(learners, "missing", lambda _: [])
    monkeypatch.setattr(workers, "results", failing)
    names = ["ours", "stable-baselines3", "cleanrl-style", "open-spiel", "ours, searched"]
    judging.write(tmp_path / "peers.csv", [line(8, player=name) for name in names])
    search(tmp_path, "--docs", str(tmp_path))
    left = dict.fromkeys(one.player for one in judging.read(tmp_path / "peers.csv"))
    searched = [f"{name}, searched" for name in names[:3]]
    assert list(left) == ["ours", searched[0], searched[1], searched[2], "open-spiel"]
    assert {one.seed for one in judging.read(tmp_path / "peers.csv") if one.player in searched} == {4, 5}
    assert (tmp_path / "peers.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "peers-tuning.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:5] == ["trial", "settings", "failure", "player", "seed"]
    assert {len(row) for row in rows} == {len(header)}
    assert len(rows) == 3 * 3 * 2 - 1
    [failed] = [row for row in rows if row[2]]
    assert [failed[0], *failed[2:5]] == ["1", "ValueError: no", "cleanrl-style", "1001"]
    printed = capsys.readouterr().out
    assert "cleanrl-style, trial 1: ValueError: no" in printed
    assert "best of stable-baselines3: trial 0, 99.0 lines: its example's settings" in printed


def test_more_processes_than_cores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--processes must be at most the cores, "):
        search(tmp_path, "--processes", "9999")
    assert not (tmp_path / "search").exists()
