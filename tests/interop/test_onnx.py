"""A player that is exported plays what it plays here, so nobody beats it in onnxruntime or TorchScript either."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import selfplay

onnxruntime = pytest.importorskip("onnxruntime")


class Exported:
    """A player in onnxruntime."""

    def __init__(self, path: Path) -> None:
        self.session = onnxruntime.InferenceSession(path)

    def act(self, observation: NDArray[np.int8]) -> Any:
        [values] = self.session.run(None, {"observation": observation.astype(np.float32)})
        return values.argmax(axis=1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # PyTorch warns of its own exporters
@pytest.mark.parametrize("settings", [{}, {"mask": True}, {"networks": "separate"}, {"preset": "large", "mask": True}])
def test_an_exported_player_is_as_unbeatable_as_before(settings: dict[str, Any], tmp_path: Path) -> None:
    run = selfplay.train(**settings, seed=1000, run_dir=tmp_path / "run", progress=False)
    rules = run.config.rules
    module = run.player.module()
    boards = torch.zeros(2, rules.rows, rules.cols, 3)
    shapes = ({0: torch.export.Dim("boards")},)
    path = tmp_path / "player.onnx"
    torch.onnx.export(module, (boards,), path, input_names=["observation"], dynamic_shapes=shapes, verbose=False)
    traced = torch.jit.trace(module, (boards,))  # type: ignore[no-untyped-call]
    for agent in (Exported(path), traced):
        small = rules.cells < 12  # on 4,4,4 asking again about each position takes minutes
        verdict = selfplay.evaluate(agent, rules, every_state=False, ask_again=small)
        assert (verdict.complete, verdict.ways_to_beat, verdict.unbeatable) == (True, 0, small)
