"""What is said of a sweep: its settings are compared on equal seeds, with p-values corrected for their number."""

import math

import numpy as np
import pytest

from benchmarks.sweeps import tables


def sweep(lines: str) -> list[dict[str, str]]:
    """Return the runs of a small sweep, a line each."""
    header, *rows = (line.split(" ") for line in lines.splitlines())
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_settings_are_compared_on_equal_seeds() -> None:
    runs = sweep("""setting seed end steps
counterexamples=0.5 0 proved 1000
counterexamples=0.5 1 proved 1000
counterexamples=0.0,mask=true 0 proved 900
counterexamples=0.0,mask=true 1 proved 900
batch_size=1000 0 proved 800
batch_size=1000 1 proved 1200
target=article 0 no-proof 2000
target=article 1 no-proof 2000
hidden=32 0 proved 1500
hidden=32 1 no-proof 2000""")
    settings = {"counterexamples": "0.5", "batch_size": "100"}
    control, without, batch, article, narrow = tables.time_to_proof(runs, settings)
    assert control["changed"] == "nothing"
    assert control["true share, %"] == "34 to 100"  # Wilson's interval of 2 of 2
    assert (without["changed"], without["difference"]) == ("`--counterexamples 0 --mask`", "-100")
    assert (article["proved"], article["plies, median"], article["difference"]) == ("0 of 2", "never", "-")
    assert batch["most plies"] == "1,200"
    assert (narrow["proved"], narrow["plies, median"][:5], narrow["difference"]) == ("1 of 2", "1,500", "+500")
    # Two seeds are too few for a clear difference.
    assert [line["the difference is"] for line in (control, without, batch, article)] == ["-", "small", "small", "open"]


def test_a_difference_is_clear_small_or_open() -> None:
    seeds = range(20)
    settings = {"default": 1000, "warmup=1": 1500, "warmup=2": 400, "warmup=3": math.inf, "warmup=4": 1010}
    lines = [
        f"{setting} {seed} {'proved' if math.isfinite(steps) else 'no-proof'} {np.nan_to_num(steps + seed):.0f}"
        for setting, steps in settings.items()
        for seed in seeds
    ]
    lines += [f"warmup=5 {seed} proved {1000 + (-1) ** seed * (seed + 300)}" for seed in seeds]
    lines += [f"warmup=6 {seed} proved {1000 + seed + (-1) ** seed}" for seed in seeds]
    found = tables.time_to_proof(sweep("\n".join(["setting seed end steps", *lines])), {})
    said = [line["the difference is"] for line in found]
    assert said == ["-", "clear", "clear", "clear", "clear", "open", "small"]  # also a run without a proof
    assert found[2]["p"] == "< 0.001"


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Holm's: 4 * 0.005, 3 * 0.01, 2 * 0.03, and no less
        ([0.9, 0.6], [1.0, 1.0]),
        ([0.02], [0.02]),
        ([], []),
    ],
)
def test_p_values_are_corrected_for_their_number(p_values: list[float], corrected: list[float]) -> None:
    assert tables.holm(p_values) == pytest.approx(corrected)


def test_a_setting_that_changed_since_a_sweep_is_named() -> None:
    then = {"batch_size": "384", "gone": "1", "gamma": "0.99"}
    assert tables.changes(then, then) == "none"
    changes = tables.changes(then, {"batch_size": "512", "gamma": "0.99", "new": "2"})
    assert changes == "`batch_size` was 384, is 512; `gone` was 1, is no setting"
