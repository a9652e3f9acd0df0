"""The figures of the sweeps: what each setting took, and beside the first on equal seeds."""

import math

import numpy as np
import pytest

from benchmarks.pages import evidence
from benchmarks.sweeps import targets
from selfplay.sweep.statistics import Estimate

PROOF = """\
setting,seed,end,steps,updates,seconds
counterexamples=0.5,0,proved,1000,10,1.25
counterexamples=0.5,1,proved,1000,10,1.75
"counterexamples=0.0,mask=true",0,proved,900,9,1.25
"counterexamples=0.0,mask=true",1,proved,900,9,1.75
batch_size=1000,0,proved,800,8,1.25
batch_size=1000,1,proved,1200,12,1.75
target=article,0,no proof,2000,20,1.25
target=article,1,no proof,2000,20,1.75
"""
PAST = """\
setting,seed,end,since_proof,not_proved,all_optimal
default,0,proved,4,1,2
epsilon_end=0.1,0,no proof,8,0,8
"""


def test_settings_are_compared_on_equal_seeds() -> None:
    found = dict(evidence.flat(evidence.of_file("proof", PROOF)))
    expected = {
        "counterexamples-0-mask.flags": "`--counterexamples 0 --mask`",
        "counterexamples-0-mask.plies.apart": "-100",
        "counterexamples-0-mask.plies.fewer": "2",
        "target-article.proved": "0 of 2",
        "target-article.plies.more": "2",
        "plies.fewer": "`--counterexamples 0 --mask`",
        "plies.more": "`--target article`",
        "plies.open": "`--batch-size 1000`",
        "nothing.samples.mean": "3.8",  # thousands, of 10 updates with the default's batch of 384
        "batch-size-1000.samples.most": "12.0",
        "nothing.seconds.mean": "1.50 [1.25, 1.75]",
        "proved": "6 of 8",
        "comparisons": "3",
    }
    assert {name: found[name] for name in expected} == expected
    assert found["table"].count("\n") == 6


def test_what_happens_past_the_proof_is_compared_in_percent() -> None:
    assert evidence.of_file("past", PAST)["table"].splitlines()[2:] == [
        "| nothing | 1 of 1 | 25.00 | +0.00 | 50.00 | +0.00 |",
        "| `--epsilon-end 0.1` | 0 of 1 | 0.00 | -25.00 | 100.00 | +50.00 |",
    ]


def test_the_picture_of_the_targets_shows_every_run_and_the_median() -> None:
    of_article = [[(10, games), (20, games)] for games in (300, 200, 700)]
    [axes] = targets.plot({"default": [[(10, 5), (20, 0)], [(10, 1)]], "target=article": of_article}).axes
    thick = [line.get_xydata() for line in axes.get_lines() if line.get_linewidth() > 1]
    assert len(axes.get_lines()) == 7
    assert np.array(thick).tolist() == [[[10, 3], [20, 0]], [[10, 300], [20, 300]]]


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [((1_234.4, 1_000.0, math.inf), "+1,234 [+1,000, never]"), ((5.0, 5.0, 5.0), "+5"), ([math.nan] * 3, "-")],
)
def test_an_interval_is_in_brackets(estimate: tuple[float, float, float], shown: str) -> None:
    assert Estimate(*estimate).text(0, "+") == shown
