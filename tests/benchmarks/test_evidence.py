"""The figures of the sweeps: what each setting took, beside the first on equal seeds."""

import math

import pytest

from benchmarks.pages import evidence
from selfplay.sweep.statistics import Estimate

SETTINGS = {
    "counterexamples=0.5": [("proved", 1_000, 10)] * 3,
    "counterexamples=0.0,mask=true": [("proved", 900, 9)] * 3,
    "batch_size=1000": [("proved", 1_000, 10), ("proved", 800, 8), ("proved", 1_200, 12)],
    "target=article": [("no proof", 2_000, 20)] * 3,
    "epsilon_end=0.1": [("proved", 1_000, 10)] * 3,
}
LINES = [
    f'"{setting}",{seed},{end},{steps},{updates}'
    for setting, runs in SETTINGS.items()
    for seed, (end, steps, updates) in enumerate(runs)
]
PROOF = "\n".join(["setting,seed,end,steps,updates", *LINES])


def test_settings_are_compared_on_equal_seeds() -> None:
    found = evidence.of_file("proof", PROOF)
    assert (found["runs"], found["comparisons"]) == ("15", "3")
    changed = found["counterexamples-0-mask"]
    assert changed["flags"] == "`--counterexamples 0 --mask`"
    assert (changed["plies.apart"], changed["plies.fewer"], changed["plies.more"]) == ("-100", "3", "0")
    assert found["plies"]["fewer"] == "`--counterexamples 0 --mask`"
    assert (found["plies"]["more"], found["plies"]["open"]) == ("`--target article`", "`--batch-size 1000`")
    never = found["target-article"]
    assert (never["proved"], never["plies.mean"], never["plies.apart"], never["plies.more"]) == (
        "0 of 3",
        "never",
        "-",
        "3",
    )


def test_samples_are_updates_times_the_batch_of_a_setting() -> None:
    found = evidence.of_file("proof", PROOF)
    assert found["batch-size-1000"]["samples.most"] == "12.0"
    assert found["nothing"]["samples.mean"] == "3.8"  # thousands, of 10 updates with the default's batch of 384
    assert found["samples"]["more"] == "`--batch-size 1000`, `--target article`"


def test_a_table_leaves_out_what_has_not_begun_to_act() -> None:
    found = evidence.of_file("proof", PROOF)
    assert found["epsilon-end-0.1"]["proved"] == "3 of 3"
    assert "--epsilon-end" not in found["table"]
    assert found["table"].count("\n") == 6
    past = "setting,seed,first_proof,evaluations,not_proved,all_optimal\ndefault,0,5,4,1,2\nepsilon_end=0.1,0,5,8,1,8\n"
    found = evidence.of_file("past", past)
    assert found["table"].splitlines()[2:] == [
        "| nothing | 25.00 | +0.00 | 50.00 | +0.00 |",
        "| `--epsilon-end 0.1` | 12.50 | -12.50 | 100.00 | +50.00 |",
    ]


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [((1_234.4, 1_000.0, math.inf), "+1,234 [+1,000, never]"), ((5.0, 5.0, 5.0), "+5"), ([math.nan] * 3, "-")],
)
def test_an_interval_is_in_brackets(estimate: tuple[float, float, float], shown: str) -> None:
    assert evidence.interval(Estimate(*estimate), 0, "+") == shown
