"""The DQN's parts: replay memory, moves, updates, and who moves, stores and learns in self-play."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from selfplay.dqn.dqn import DQNAgent, InterleavedSelfPlay, ReplayMemory, Transitions, learning_rate
from selfplay.dqn.muon import muon
from tests.runs import python
from tests.selfplay.dqn.scripted import CPU, config_with, constant_values, make, one_hot, play, remembered
from tictactoe import Rewards, Rules, batch


def numbered(numbers: Sequence[int]) -> Transitions:
    """Return transitions that hold a number in each of their fields."""
    number = torch.tensor(numbers, dtype=torch.float32)
    observation = number[:, None].expand(-1, 27)
    return Transitions(observation, number.long(), observation, number, number)


def stored(memory: ReplayMemory) -> set[int]:
    sampled = memory.sample(4096, torch.Generator().manual_seed(0))
    for field in sampled:
        assert torch.equal(field.reshape(4096, -1)[:, -1], sampled.reward)  # transitions stay whole
    return {int(number) for number in sampled.reward}


def test_transitions_are_paid_by_the_rewards_of_the_settings() -> None:
    self_play = make(config_with(rewards=Rewards(win=2, illegal=-3.5, allow=-0.25)))
    for _ in range(150):
        self_play.advance()
    memory = self_play.agents[0].memory
    assert set(memory.transitions.reward[: memory.added].tolist()) == {0, 2, -3.5, -0.25}


def test_the_memory_holds_the_newest_transitions_and_zeros_before_the_first() -> None:
    memory = ReplayMemory(5, 9, CPU)
    assert stored(memory) == {0}
    for numbers, expected in (
        ([1], {1}),
        ([2, 3], {1, 2, 3}),
        ([4, 5], {1, 2, 3, 4, 5}),  # filled exactly
        ([6, 7, 8], {4, 5, 6, 7, 8}),
        ([9, 10, 11], {7, 8, 9, 10, 11}),  # across the end of the ring
    ):
        memory.add(numbered(numbers))
        assert stored(memory) == expected


@pytest.mark.parametrize(("explore", "taken"), [("legal", [0, 4, 8]), ("any", [])])
def test_random_moves_are_sampled_evenly_from_the_empty_cells_or_from_all(explore: str, taken: list[int]) -> None:
    self_play = make(config_with(explore=explore))
    observation = play(self_play, [4, 0, 8])[3].expand(10_000 * (9 - len(taken)), -1)
    counts = torch.bincount(self_play.agents[0].act(observation, 1.0), minlength=9)
    expected = torch.tensor([0 if cell in taken else 10_000 for cell in range(9)])
    assert (counts - expected).abs().max() < 500  # more than five standard deviations
    assert not counts[taken].any()


def test_epsilon_is_the_share_of_random_moves() -> None:
    self_play = make(config_with(explore="any"))
    (agent,) = self_play.agents
    constant_values(agent, [0, 0, 1, 0, 0, 0, 0, 0, 0], [0] * 9)
    observation = play(self_play, [4])[1].expand(90_000, -1)
    counts = torch.bincount(agent.act(observation, 0.3), minlength=9).tolist()
    assert abs(counts.pop(2) - 90_000 * (0.7 + 0.3 / 9)) < 700
    assert all(abs(count - 3_000) < 300 for count in counts)  # whether and where to explore are independent
    assert (agent.act(observation, 0.0) == 2).all()


@pytest.mark.parametrize(("mask", "expected"), [(False, 4), (True, 7)])
def test_only_a_masked_agent_avoids_a_taken_cell_it_values_most(mask: bool, expected: int) -> None:
    self_play = make(config_with(mask=mask))
    constant_values(self_play.agents[0], [0, 0, 0, 0, 9, 0, 0, 5, 0], [0] * 9)
    assert self_play.agents[0].act(play(self_play, [4])[1], 0.0).tolist() == [expected]


@pytest.mark.parametrize(("loss", "sum_of_five"), [("mse", 9 + 1 + 16 + 4), ("huber", 2.5 + 0.5 + 3.5 + 1.5)])
def test_the_loss_is_that_of_the_actions_taken(loss: str, sum_of_five: float) -> None:
    self_play = make(config_with(symmetry="none", loss=loss))
    (agent,) = self_play.agents
    constant_values(agent, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [0.0] * 9)
    play(self_play, [0, 3, 1, 4, 2])
    update = agent.update(remembered(agent), torch.zeros(5))
    assert update.values.tolist() == [0, 3, 1, 4, 2]
    assert float(update.loss) == pytest.approx(sum_of_five / 5)


class ObjectOfPyTorch(DQNAgent):
    """An agent that learns with PyTorch's own object."""

    adam: torch.optim.Adam | None = None

    def descend(self, rate: float) -> None:
        """Let the object take the step."""
        self.adam = self.adam or torch.optim.Adam(self.weights, fused=True)
        self.adam.param_groups[0]["lr"] = rate
        self.adam.step()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "changes", [{}, {"networks": "separate"}, {"message_rounds": 1, "rules": Rules(4, 4, 4), "mask": True}], ids=str
)
def test_adam_is_that_of_pytorch_bit_by_bit(changes: dict[str, Any], seed: int) -> None:
    config = config_with(seed=seed, learning_rate_hold=50, **changes)
    one, other = (InterleavedSelfPlay(config, CPU, agent=agent) for agent in (DQNAgent, ObjectOfPyTorch))
    for _ in range(203):
        one.advance()
        other.advance()
    for ours, theirs in zip(one.agents, other.agents, strict=True):
        assert ours.updates == 200
        assert all(torch.equal(each, again) for each, again in zip(ours.weights, theirs.weights, strict=True))


@pytest.mark.parametrize("shape", [(4, 4), (6, 50), (50, 6), (32, 32)])
def test_muon_is_that_of_pytorch_but_for_its_short_numbers(shape: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(shape, generator=generator)
    ours, momentum, theirs = start.clone(), torch.zeros(shape), start.clone().requires_grad_()
    other = torch.optim.Muon([theirs], lr=0.01, weight_decay=0, adjust_lr_fn="match_rms_adamw")
    for _ in range(3):
        gradient = torch.randn(shape, generator=generator)
        theirs.grad = gradient.clone()
        other.step()  # type: ignore[no-untyped-call]
        muon(ours, gradient, momentum, 0.01)
    moved = theirs.detach() - start
    assert (ours - theirs.detach()).norm() < 0.05 * moved.norm()  # theirs are rounded to 8 bits in between


def test_muon_takes_the_matrices_and_adam_vectors_and_the_weights_of_planes_and_of_the_value() -> None:
    board = {"message_rounds": 2, "message_width": 5, "hidden": (6,), "rules": Rules(4, 4, 4)}
    adams, muons = (make(config_with(optimizer=name, **board)) for name in ("adam", "muon"))
    for self_play in (adams, muons):
        play(self_play, [0, 5, 1, 6, 2])
        self_play.learn()
    for one, other in zip(adams.agents[0].weights, muons.agents[0].weights, strict=True):
        by_adam = one.ndim == 1 or min(one.shape) in (1, 3)
        assert torch.equal(one, other) == by_adam


def test_a_run_needs_no_compiler(tmp_path: Path) -> None:
    arguments = ["train", "--total-steps", "3200", "--run-dir", str(tmp_path / "it")]
    code = f"""\
import contextlib, sys
from selfplay.cli.main import main
with contextlib.suppress(SystemExit):
    main({arguments})
print([name for name in ("torch._dynamo", "torch._inductor") if name in sys.modules])"""
    assert python("-c", code, cwd=tmp_path).stdout.splitlines()[-1] == "[]"
    assert (tmp_path / "it" / "model.safetensors").exists()


def test_the_learning_rate_is_held_and_then_falls_unless_the_hold_is_0() -> None:
    falling, constant = config_with(learning_rate=0.1, learning_rate_hold=100), config_with(learning_rate_hold=0)
    assert [learning_rate(falling, update) for update in (1, 100, 200, 1_000)] == pytest.approx([0.1, 0.1, 0.05, 0.01])
    assert learning_rate(constant, 10**9) == constant.learning_rate


@pytest.mark.parametrize(
    ("settings", "parts"), [({"soft_update": 0.25}, [0.25] * 4), ({"hard_update": 3}, [0, 0, 1, 0])]
)
def test_the_target_network_follows_softly_or_is_copied_now_and_then(
    settings: dict[str, Any], parts: list[float]
) -> None:
    self_play = make(config_with(**settings))
    (agent,) = self_play.agents
    play(self_play, [0, 3, 1, 4, 2])
    for part in parts:
        before = [weights.clone() for weights in agent.target_weights]
        self_play.learn()
        for old, new, online in zip(before, agent.target_weights, agent.weights, strict=True):
            torch.testing.assert_close(new, old + part * (online - old))
            assert not torch.equal(old, online)


@pytest.mark.parametrize(("power", "counts"), [(1, [1, 2, 3, 4, 5]), (3, [6, 24, 60, 120, 210])])
def test_in_the_average_the_nth_update_counts_about_n_to_the_power(power: int, counts: list[int]) -> None:
    self_play = make(config_with(average_power=power))
    (agent,) = self_play.agents
    play(self_play, [0, 3, 1, 4, 2])
    sums = [torch.zeros_like(weights) for weights in agent.weights]
    for number, count in enumerate(counts, 1):
        self_play.learn()
        for total, weights in zip(sums, agent.weights, strict=True):
            total += count * weights.detach()
        for total, average in zip(sums, agent.average_weights, strict=True):
            torch.testing.assert_close(average, total / sum(counts[:number]))


def test_the_player_plays_with_the_average_of_each_seats_network() -> None:
    self_play = make(config_with(), separate=True)
    for agent, cell in zip(self_play.agents, (2, 6), strict=True):
        constant_values(agent, one_hot(1), one_hot(3), one_hot(cell))
    state = batch.State(np.array([0, 0]), np.array([0, 16]), np.array([0, 1]))
    for perspective in ("absolute", "mover"):
        assert self_play.player().act(batch.observe(Rules(), state, perspective)).tolist() == [2, 6]
