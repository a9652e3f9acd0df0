"""The files of the shipped player have the form that a run writes today, and the card names the file of its weights."""

import hashlib
import json

import selfplay
from selfplay.runs.load import SHIPPED_FOLDER


def test_the_shipped_folder_holds_a_run_of_today() -> None:
    run = selfplay.open("shipped")
    verdict = selfplay.evaluate(run)
    assert verdict.optimal
    assert run.verdict == verdict
    assert json.loads((SHIPPED_FOLDER / "evaluation.json").read_text()) == verdict.to_dict()
    assert {*run.snapshots} < {record.steps for record in run.records}
    content = (SHIPPED_FOLDER / "model.safetensors").read_bytes()
    assert hashlib.sha256(content).hexdigest() in (SHIPPED_FOLDER / "README.md").read_text()
