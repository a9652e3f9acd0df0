"""What the published update is put back by does what was published, and nothing else changes."""

import math
from types import SimpleNamespace

import pytest
import torch

from benchmarks.learning import published_update
from benchmarks.learning.published_update import RMSProp, clipped_error, measure
from selfplay import DQNConfig, training


def test_steps_of_rmsprop_are_the_published_ones() -> None:
    weights, gradient = torch.tensor([1.0, -2.0]), torch.zeros(2)
    weights.grad = gradient
    optimizer = RMSProp(weights, learning_rate=0.1, hold=2)
    expected, means, squares = [1.0, -2.0], [0.0, 0.0], [0.0, 0.0]
    for step, slopes in enumerate(([0.5, -3.0], [0.1, 2.0], [0.0, 1.0]), 1):
        gradient.copy_(torch.tensor(slopes))
        optimizer.step()
        for place, slope in enumerate(slopes):
            means[place] = 0.95 * means[place] + 0.05 * slope
            squares[place] = 0.95 * squares[place] + 0.05 * slope**2
            size = math.sqrt(squares[place] - means[place] ** 2 + 0.01)
            expected[place] -= 0.1 * min(1, 2 / step) * slope / size
        assert weights.tolist() == pytest.approx(expected, rel=1e-5)


def test_the_gradient_of_the_clipped_error_is_the_error_between_minus_1_and_1() -> None:
    values = torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
    targets = torch.tensor([0.25, 3.0, -7.0])
    [clipped] = torch.autograd.grad(clipped_error(values, targets), values)
    [squared] = torch.autograd.grad(torch.nn.functional.mse_loss(values, targets), values)
    assert (clipped / squared * (values - targets)).tolist() == pytest.approx([-0.25, -1, 1])


def test_our_own_row_is_a_plain_run_and_the_others_are_not() -> None:
    plies = 30_000
    before = [record.metrics["loss/td"] for record in training(DQNConfig(seed=3, total_steps=plies, device="cpu"))]
    runs = {update: measure(update, 3, plies) for update in published_update.UPDATES}
    after = [record.metrics["loss/td"] for record in training(DQNConfig(seed=3, total_steps=plies, device="cpu"))]
    assert before == after
    assert all(run.plies == math.inf for run in runs.values())


@pytest.mark.parametrize(("proofs", "plies"), [([0, 1, 0, 1, 1], 4), ([1, 1], 1), ([1, 0], math.inf), ([0], math.inf)])
def test_what_counts_is_the_first_of_the_proofs_that_lasted(
    monkeypatch: pytest.MonkeyPatch, proofs: list[int], plies: float
) -> None:
    records = [SimpleNamespace(steps=steps, proof=proof) for steps, proof in enumerate(proofs, 1)]
    monkeypatch.setattr(published_update, "training", lambda _config: records)
    monkeypatch.setattr(published_update, "is_proof", lambda record: bool(record.proof))
    assert measure("ours", 0, 2_048).plies == plies


def test_the_parts_are_put_back_where_the_agent_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    step, loss = RMSProp.step, published_update.clipped_error

    def noted_step(optimizer: RMSProp) -> None:
        used.append("RMSProp")
        step(optimizer)

    def noted_loss(values: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        used.append("clipped")
        return loss(values, targets)

    monkeypatch.setattr(RMSProp, "step", noted_step)
    monkeypatch.setattr(published_update, "clipped_error", noted_loss)
    for update, expected in zip(published_update.UPDATES, ([], ["RMSProp"], ["RMSProp"], ["clipped"]), strict=True):
        used.clear()
        measure(update, 0, 2_048)
        assert sorted(set(used)) == expected
