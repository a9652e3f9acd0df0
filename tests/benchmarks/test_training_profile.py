"""The profile of training leaves no time out and counts none twice."""

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from selfplay.dqn.interleaved import InterleavedAgents

from benchmarks.training import profile
from benchmarks.training.profile import PARTS, REST, Profile, Stopwatch
from selfplay.dqn import self_play
from selfplay.errors import UserError
from tests.benchmarks.reports import config_with, printed_rows


def test_a_stopwatch_charges_every_instant_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    watch = Stopwatch()

    def passing(seconds: float, inner: Sequence[object] = ()) -> None:
        now[0] += seconds
        for call in inner:
            call()  # type: ignore[operator]

    adam = watch.timed("Adam", lambda: passing(2.0))
    update = watch.timed("forward and backward", lambda: passing(5.0, [adam, adam]))
    passing(1.0, [update])
    passing(0.5)
    watch.charge()
    assert {part: seconds for part, seconds in watch.seconds.items() if seconds} == {
        "forward and backward": 5.0,
        "Adam": 4.0,
        REST: 1.5,
    }
    assert watch.calls == {"forward and backward": 1, "Adam": 2}


def test_a_call_that_fails_is_charged_too() -> None:
    watch = Stopwatch()

    def failing() -> None:
        raise UserError("no")

    with pytest.raises(UserError, match="no"):
        watch.timed("act", failing)()
    assert watch.calls["act"] == 1
    before = dict(watch.seconds)
    watch.charge()
    assert {part for part in PARTS if watch.seconds[part] != before[part]} == {REST}


def test_a_profile_has_every_part_and_leaves_training_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(vars(self_play)), dict(vars(InterleavedAgents))
    config = config_with(total_steps=2_048, num_envs=256, warmup=256, eval_every=1_024, stop="never")
    monkeypatch.setattr(profile, "RUNS", {"a run": config})
    done = profile.profile("a run", 1000)
    assert (dict(vars(self_play)), dict(vars(InterleavedAgents))) == before
    assert tuple(done.seconds) == tuple(PARTS)
    assert all(seconds > 0 for seconds in done.seconds.values())
    assert sum(profile.share([done], part) for part in PARTS) == pytest.approx(1)
    steps, updates = 8, 8
    of_steps = dict.fromkeys(("act", "remember"), steps) | {"step": 3 * steps, "observe": steps + 1}
    of_updates = dict.fromkeys(("sample", "targets", "forward and backward", "Adam", "target network"), updates)
    assert {part: done.calls[part] for part in of_steps | of_updates} == of_steps | of_updates
    assert done.calls["evaluation"] == 2


def test_shares_are_of_all_runs_together() -> None:
    seconds = dict.fromkeys(PARTS, 0.0)
    runs = [
        Profile("a run", 0, seconds | {"act": 1.0, REST: 1.0}, {"act": 10}, 1.9),
        Profile("a run", 0, seconds | {"act": 6.0, REST: 2.0}, {"act": 40}, 7.9),
    ]
    rows = {row[0]: row[1:3] for row in profile.table_rows({"a run": runs})}
    assert rows["act"] == ["70.0 (50.0 to 75.0)", "140,000"]
    assert rows[REST] == ["30.0 (25.0 to 50.0)", "60,000"]


def test_the_command_profiles_the_default_and_the_article(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile, "RUNS", {name: replace(config, hidden=(8,)) for name, config in profile.RUNS.items()})
    profile.main(["--seeds", "1000", "--shorten", "10000"])
    printed = capsys.readouterr().out
    assert "python train.py, seed 1000: 4 steps, 1 updates" in printed
    assert "--preset article, seed 1000: 100 steps, 1 updates" in printed
    assert " times as long as without" in printed
    assert set(PARTS) <= {cells[0] for cells in printed_rows(printed)}
