"""What an update could cost less is measured of the update that training does."""

import pytest
import torch

from benchmarks.measuring.spread import spread
from benchmarks.training import loops, update_cost
from selfplay.dqn.config import PRESETS
from tests.benchmarks.reports import config_with, printed_rows


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # PyTorch's tracer reads it
def test_what_is_compiled_is_the_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update_cost, "BACKEND", "eager")
    config = config_with(hidden=(8,), batch_size=16)
    weights = []
    for make in (lambda agents: agents.learn, update_cost.compiled_parts):
        agents = loops.filled(config).agents
        update = make(agents)
        for _ in range(3):
            update()
        weights.append(agents.seats[0].state()["weights"])
    torch.testing.assert_close(*weights)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
def test_the_cost_of_an_update_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update_cost, "BACKEND", "eager")
    monkeypatch.setattr(update_cost, "PRESETS", dict.fromkeys(PRESETS, config_with(hidden=(8,), batch_size=16)))
    update_cost.main(["--rounds", "2", "--seconds", "0.001"])
    rows = printed_rows(capsys.readouterr().out)
    assert [cells[0] for cells in rows if cells[0]] == ["python train.py"] * 6 + ["--preset article"] * 6
    compiled = [cells for cells in rows if cells[4]]
    assert len(compiled) == 4
    assert all(float(cells[4]) > 0 for cells in compiled)


def test_compiling_pays_after_as_many_updates_as_it_saves_the_time_of() -> None:
    even = spread([100.0])
    assert update_cost.Cost("default", "compiled", even, spread([1.25]), 10.0).cells()[-1] == "4,000"
    assert update_cost.Cost("default", "compiled", even, spread([0.9]), 10.0).cells()[-1] == "never"
