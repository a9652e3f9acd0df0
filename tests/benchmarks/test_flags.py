"""What a script is told is checked before anything is measured."""

from types import ModuleType

import pytest

from benchmarks import __main__ as overview
from benchmarks.environment import faces
from benchmarks.learning import bigger_boards, learners, published, targets, time_to_unbeatable
from benchmarks.peers import __main__ as peers
from benchmarks.peers.tuning import __main__ as tuning
from benchmarks.scaling import __main__ as scaling
from benchmarks.symptoms import __main__ as symptoms
from benchmarks.training import article_speed, device_work, kills, profile, update_cost
from selfplay.errors import UserError

MISTAKES = [
    (overview, "--rounds 0", "--rounds must be at least 1, got 0"),
    (overview, "--seed -1", "--seed must be 0 or more"),
    (overview, "--only", "--only must be at least one"),
    (overview, "--json .", r"--json \.: is a folder; name a file in it"),
    (overview, "--json pyproject.toml/a.json", "pyproject.toml: is not a folder"),
    (faces, "--seconds 0", "--seconds must be above 0"),
    (faces, "--seconds nan", "--seconds must be above 0"),
    (faces, "--subjects", "--subjects must be at least one"),
    (scaling, "--docs nowhere", "nowhere: is not a folder; make it first"),
    (learners, "--markdown nowhere/table.md", "nowhere: is not a folder"),
    (published, "--shorten 0", "--shorten must be at least 1, got 0"),
    (targets, "--seeds", "--seeds must be at least one"),
    (bigger_boards, "--rows 9x9x9", "--rows must be some of 4x4x4"),
    (time_to_unbeatable, "--unit-steps 0", "--unit-steps must be at least 1"),
    (article_speed, "--steps 0", "--steps must be at least 1"),
    (device_work, "--boards 0", "--boards must be at least 1"),
    (kills, "--kills 0", "--kills must be at least 1"),
    (kills, "--settings nonsense", "--settings must be some of default, mask"),
    (profile, "--seeds", "--seeds must be at least one"),
    (update_cost, "--nonsense", "Unrecognized options: --nonsense"),
    (symptoms, "maks", "symptoms must be some of worse, ties"),
    (symptoms, "--part 0", "--part must be above 0"),
    (peers, "--evaluations 0", "--evaluations must be at least 1"),
    (peers, "--players", "name it by --docs"),
    (tuning, "--trials 0", "--trials must be at least 1"),
    (tuning, "--players", "--players must be at least one"),
    (tuning, "--dir nowhere/search", "nowhere: is not a folder; make it first"),
    (tuning, "--dir pyproject.toml", "pyproject.toml: is not a folder"),
]


@pytest.mark.parametrize(("script", "args", "message"), MISTAKES, ids=[mistake[1] for mistake in MISTAKES])
def test_a_mistake_is_named_before_anything_is_measured(script: ModuleType, args: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        script.main(args.split())
