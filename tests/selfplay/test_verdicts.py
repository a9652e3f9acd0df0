"""Names, runs, agents and models of other libraries are evaluated as they are."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Space
from numpy.typing import NDArray
from torch import Tensor, nn

import selfplay
from selfplay.runs.load import SHIPPED, SHIPPED_FOLDERS
from tests.runs import python, refused, saved
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules, solve

Planes = NDArray[np.int8]


def first_empty(observation: Planes) -> int:
    return int(observation[..., 0].argmax())


LOST = (58, 429)
"""Games that an agent loses as X and as O if it marks the first empty cell."""


class Batched:
    """An agent without a mask, which a type checker is to accept."""

    def act(self, observation: Planes) -> NDArray[np.intp]:
        cells: NDArray[np.intp] = observation[..., 0].reshape(len(observation), -1).argmax(axis=1)
        return cells


class Masked:
    """An agent with a mask that may be left out."""

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        return torch.as_tensor(Batched().act(observation))


class OneBoard:
    """An agent that takes one board alone, as in a game."""

    def act(self, observation: Planes) -> int:
        assert observation.shape == (3, 3, 3)
        return first_empty(observation)


class PredictModel:
    """A model as of Stable-Baselines3, whose observations have one form, maybe behind a normalization of its own."""

    def __init__(self, form: str, rows: int = 3, high: int = 1, normalizes: bool = False) -> None:
        self.form, self.normalizes = form, normalizes
        self.shape = (3 * rows * rows,) if form == "flat" else (rows, rows, 3)
        space: Space[Any] = Box(0, high, self.shape, np.int8)
        self.observation_space = Dict(observation=space) if form == "dict" else space

    def get_vec_normalize_env(self) -> Any:
        return SimpleNamespace(norm_obs=True, normalize_obs=lambda seen: 1 - seen) if self.normalizes else None

    def predict(
        self,
        observation: NDArray[Any] | dict[str, NDArray[Any]],
        state: tuple[NDArray[Any], ...] | None = None,
        episode_start: NDArray[Any] | None = None,
        deterministic: bool = False,
    ) -> tuple[NDArray[Any], tuple[NDArray[Any], ...] | None]:
        assert deterministic
        assert state is None
        assert episode_start is None
        assert isinstance(observation, dict) == (self.form == "dict")
        if isinstance(observation, dict):
            assert (observation["action_mask"] == observation["observation"][..., 0].reshape(-1, 9)).all()
            observation = observation["observation"]
        assert observation.shape[1:] == self.shape
        if self.normalizes:
            observation = 1 - observation
        return Batched().act(observation.reshape(len(observation), -1, 3)[:, None]), None


class ValueNetwork(nn.Module):
    """A module that values the empty cells alike; in training it must not be asked."""

    def __init__(self, dimensions: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.layer: nn.Module = nn.Linear(27, 9) if dimensions == 2 else nn.Identity()
        self.weight = nn.Parameter(torch.ones(1))
        self.graph = [self.weight * 2]  # as after a step of training; it cannot be copied
        self.to(dtype)

    def forward(self, planes: Tensor) -> Tensor:
        assert not self.training
        assert not torch.is_grad_enabled()
        assert planes.dim() == self.dimensions
        return planes.reshape(len(planes), -1, 3)[..., 0] * self.weight


class Convolution(nn.Module):
    """A module whose convolution gets the planes where it expects them, or as they are."""

    def __init__(self, permutes: bool = True) -> None:
        super().__init__()
        self.permutes = permutes
        self.convolution = nn.Conv2d(3, 1, 1, bias=False)
        with torch.no_grad():
            self.convolution.weight.copy_(torch.tensor([1.0, 0, 0])[None, :, None, None])

    def forward(self, observation: Tensor) -> Tensor:
        planes: Tensor = self.convolution(observation.permute(0, 3, 1, 2) if self.permutes else observation)
        return planes.flatten(1)


def careless(observation: Planes) -> int:
    """Mark the last cell once it is taken, else the first empty one."""
    return first_empty(observation) if observation[-1, -1, 0] else observation[..., 0].size - 1


def first_in_rows(rows: list[list[str]]) -> tuple[int, int]:
    return next((row, cells.index("")) for row, cells in enumerate(rows) if "" in cells)


def agents() -> dict[str, Any]:
    return {
        "function": first_empty,
        "array": lambda observation: np.array([[first_empty(observation)]]),
        "act": Batched(),
        "tensor": Masked(),
        "method": OneBoard().act,
        **{f"predict {form}": PredictModel(form) for form in ("planes", "flat", "dict")},
        "predict behind a normalization": PredictModel("planes", normalizes=True),
        "flat module": ValueNetwork(2),
        "module of planes": ValueNetwork(4),
        "module of bfloat16": ValueNetwork(4, torch.bfloat16),
        "module of half": ValueNetwork(2, torch.float16),
        "convolution": Convolution(),
        "numbers": selfplay.agent(lambda board: board.index(0)),
        "signs of the mover": selfplay.agent(lambda board: board.index(0), (0, 1, -1), perspective="mover"),
        "a text": selfplay.agent(lambda board: board.index(" "), " XO"),
        "rows": selfplay.agent(first_in_rows, ("", "X", "O"), rows=True),
    }


@pytest.mark.parametrize("name", agents())
def test_every_form_of_an_agent_gets_the_same_verdict(name: str) -> None:
    agent = agents()[name]
    verdict = selfplay.evaluate(agent)
    assert (verdict.first.losses, verdict.second.losses, verdict.illegal_states) == (*LOST, 0)
    assert selfplay.counterexamples(agent, seed=1).verdict.first == verdict.first
    assert not isinstance(agent, nn.Module) or agent.training  # as it was


class Guessing:
    """An agent that samples any cell, also a taken one, with probabilities in a list."""

    def probabilities(self, observation: Planes) -> list[list[float]]:
        return [[3 / board.size] * (board.size // 3) for board in observation]


class Valuing:
    """An agent that returns values, and not cells."""

    def act(self, observation: Planes) -> NDArray[np.float32]:
        return np.zeros((len(observation), 9), np.float32)


class Classifier:
    """A model as of scikit-learn, which predicts a class for each row of numbers."""

    def predict(self, rows: Any) -> Any:
        return rows[:, :9].argmax(axis=1)


def asked_with_a_state(observation: Planes, mask: Planes, state: Any) -> None:
    raise AssertionError(f"{observation}{mask}{state}")  # it cannot be called without its state


@pytest.mark.parametrize(
    ("agent", "named"),
    [
        (SimpleNamespace(act=lambda _: None), "None"),
        (lambda _: [1, 2], "[1, 2]"),
        (lambda _: 9, "9"),
        (Valuing(), "(2, 9)"),
        (nn.Linear(27, 5), "(2, 5)"),
        (nn.Sequential(nn.Linear(27, 9), nn.Threshold(9, float("nan"))), "nan"),
        (nn.Sequential(nn.Flatten(), nn.Linear(9, 9)), "takes 9 numbers"),
        (Convolution(permutes=False), "permute(0, 3, 1, 2)"),
        (PredictModel("planes", 4), "(4, 4, 3)"),
        (PredictModel("planes", high=9), "wrapper"),
        (Classifier(), "Classifier"),
        (OneBoard(), "agent.act"),
        (SimpleNamespace(act=lambda seen: (Batched().act(seen), None)), "[0]"),
        (SimpleNamespace(act=asked_with_a_state), "'state'"),
        (3, "int"),
        (Valuing, "class"),
        ("nowhere", "nowhere"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_board_is_solved(
    agent: Any, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for solving in ("game_tree", "solve", "follow"):
        monkeypatch.delattr(f"selfplay.judge.evaluate.{solving}")
    assert named in refused(selfplay.evaluate, agent)


@pytest.mark.parametrize(("view", "of_x"), [("absolute", 1), ("mover", 2)])
def test_a_mistake_that_comes_later_names_the_position(view: Any, of_x: int) -> None:
    def forgetful(observation: Planes) -> int | None:
        return None if observation[0, 0, of_x] and observation[..., 0].sum() == 8 else first_empty(observation)

    with pytest.raises(selfplay.UserError, match=r"X\.\./"):
        selfplay.evaluate(forgetful, perspective=view)
    with pytest.raises(selfplay.UserError, match=r"X\.\./") as caught:
        selfplay.evaluate(lambda observation: [8][int(observation[..., 1:].sum())], perspective=view)
    assert isinstance(caught.value.__cause__, IndexError)


@pytest.mark.parametrize("agent", [first_empty, "shipped"])
def test_rules_that_are_none_are_refused(agent: Any) -> None:
    assert "(3, 3, 3)" in refused(selfplay.evaluate, agent, (3, 3, 3))


def test_an_agent_that_is_shown_the_wrong_planes_is_told_of_the_others() -> None:
    player = selfplay.load("shipped")

    def act(observation: Planes) -> Any:
        """Play as the shipped player, if plane 1 holds one's own marks, of which there are never more."""
        mine, theirs = observation[..., 1:].sum(axis=(1, 2)).T
        return np.where(mine > theirs, Batched().act(observation), player.act(observation))

    def only_x(observation: Planes) -> Any:
        """Play as the shipped player as X, and otherwise mark the first empty cell."""
        mine, theirs = observation[..., 1:].sum(axis=(1, 2)).T
        return np.where(mine == theirs, player.act(observation), Batched().act(observation))

    wrong, right = (selfplay.evaluate(SimpleNamespace(act=act), perspective=view) for view in ("absolute", "mover"))
    assert "mover" in str(wrong.hint)
    assert right.hint is None

    def only_x_with_absolute_planes(observation: Planes) -> Any:
        assert (observation[..., 1].sum(axis=(1, 2)) >= observation[..., 2].sum(axis=(1, 2))).all()
        return only_x(observation)

    for agent in (only_x, only_x_with_absolute_planes):  # the other fails if it is shown the mover's planes
        assert "mover" not in str(selfplay.evaluate(SimpleNamespace(act=agent)).hint)


def test_an_agent_that_knows_only_what_it_meets_is_proved_in_its_own_play() -> None:
    player = selfplay.load("shipped")
    known: dict[bytes, int] = {}

    def met(observation: Planes) -> int:
        return known.setdefault(observation.tobytes(), int(player.act(observation)))

    selfplay.evaluate(met, every_state=False)
    book = dict(known)
    agent = lambda observation: book[observation.tobytes()]  # noqa: E731
    assert "every_state=False" in refused(selfplay.evaluate, agent)
    assert selfplay.evaluate(agent, every_state=False).unbeatable


@pytest.mark.parametrize("seat", [0, 1])
def test_an_agent_of_one_seat_is_judged_in_it(seat: int) -> None:
    def plays_one_seat(observation: Planes) -> int:
        assert observation[..., 1:].sum() % 2 == seat
        return first_empty(observation)

    verdict = selfplay.evaluate(plays_one_seat, seat=seat)
    assert (verdict.first.losses, verdict.second.losses)[seat] == LOST[seat]
    assert (verdict.first.losses, verdict.second.losses)[1 - seat] == 0
    assert (verdict.unbeatable, verdict.optimal, verdict.exploitability) == (False, False, None)
    best = selfplay.evaluate("optimal", seat=seat)
    assert (best.ways_to_beat, best.seat, best.unbeatable, best.judged[0].unbeaten) == (0, seat, False, True)
    assert "2" in refused(selfplay.evaluate, plays_one_seat, seat=2)


def test_the_shipped_player_is_read_whatever_the_default_type_of_numbers_is() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert selfplay.evaluate("shipped").optimal
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.filterwarnings("ignore:.torch.jit.trace:DeprecationWarning")  # of PyTorch, whose users still do it
@pytest.mark.parametrize("changes", [{}, {"mask": True}, {"networks": "separate"}, {"message_rounds": 1}])
def test_a_player_as_one_module_plays_what_the_player_plays(changes: dict[str, Any]) -> None:
    """Traced, on boards of either perspective; the networks are not trained, so that mistakes are many."""
    config = config_with(symmetry="canonical", **changes)
    player = make(config).player()
    module = player.module()
    boards = [torch.as_tensor(seen) for seen in (ABSOLUTE, MOVER)]
    traced = torch.jit.trace(module, (boards[0][:2],), check_trace=False)  # type: ignore[no-untyped-call]
    for seen in boards:
        for each in (module, traced):
            assert np.array_equal(each(seen).argmax(dim=1).numpy(), player.act(seen.numpy()))


def test_a_function_that_samples_is_refused_after_a_few_questions() -> None:
    generator, asked = np.random.default_rng(0), []

    def sampling(observation: Planes) -> int:
        asked.append(observation)
        return int(generator.choice(np.flatnonzero(observation[..., 0])))

    assert "position" in refused(selfplay.evaluate, sampling)
    assert len(asked) < 50


def test_mistakes_are_every_move_that_does_not_keep_the_value() -> None:
    found, verdict = selfplay.mistakes(first_empty), selfplay.evaluate(first_empty)
    assert verdict.decision_states is not None
    assert verdict.optimal_states is not None
    assert len(found) == verdict.decision_states - verdict.optimal_states
    solution = solve(Rules())
    for mistake in found:
        value, best = solution.lookup(mistake.mover, mistake.opponent)
        assert (mistake.value, mistake.cell in best) == (value, False)
        assert mistake.value_after < value
    assert found[0].value - found[0].value_after == 2  # a win turned into a loss
    assert selfplay.mistakes("shipped") == []
    fork = next(mistake for mistake in found if mistake.board == "O.X\n...\n...")
    assert (fork.cell, fork.plies, fork.reached) == (1, 6, False)
    assert "4,4,4" in refused(selfplay.mistakes, first_empty, Rules(4, 4, 4))


def test_how_often_an_agent_that_samples_loses_by_its_own_illegal_move_is_known() -> None:
    first = selfplay.evaluate(Guessing()).first
    assert first.loss is not None
    assert first.illegal_loss is not None
    assert 0 < first.illegal_loss < first.loss


def test_names_folders_and_runs_are_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    saved(tmp_path / "it", rows=3, cols=4)
    shipped = selfplay.evaluate(selfplay.load("shipped"))
    assert shipped.unbeatable
    for name in ("shipped", SHIPPED_FOLDERS[SHIPPED], str(SHIPPED_FOLDERS[SHIPPED])):
        assert selfplay.evaluate(name) == shipped
    wide = selfplay.evaluate(selfplay.load(tmp_path / "it"))
    assert wide.decision_states != shipped.decision_states
    assert selfplay.evaluate("~/it") == selfplay.evaluate(tmp_path / "it", Rules(3, 4, 3)) == wide
    assert selfplay.evaluate("random").first.losses == 77_904
    assert selfplay.evaluate("optimal").optimal
    assert selfplay.evaluate("rule", Rules(1, 17, 3)).complete
    assert "3,4,3" in refused(selfplay.evaluate, "~/it", Rules())
    assert "5,5,4" in refused(selfplay.evaluate, "optimal", Rules(5, 5, 4))


@pytest.mark.parametrize(
    ("agent", "exploitability"), [(careless, 1.0), (Guessing(), None)], ids=["careless", "guessing"]
)
def test_a_verdict_on_a_board_that_is_not_followed_whole_says_what_is_known(agent: Any, exploitability: Any) -> None:
    verdict = selfplay.evaluate(agent, Rules(6, 7, 4), positions=3_000)
    assert {verdict.complete, verdict.unbeatable, verdict.unexploitable, verdict.optimal} == {False}
    assert verdict.exploitability == exploitability
    assert verdict.ways_to_beat > 0  # enough to know the worst result in each seat, where no move is sampled
    assert (verdict.optimal_fraction, verdict.illegal_states, verdict.first.win) == (None,) * 3


@pytest.mark.parametrize("judge", [selfplay.evaluate, selfplay.counterexamples])
def test_positions_are_a_count_and_may_be_written_as_a_whole_float(judge: Any) -> None:
    assert str(judge("heuristic", positions=1e4)) == str(judge("heuristic", positions=10_000))
    for wrong in (0, 2.5, "lots"):
        message = refused(judge, "heuristic", positions=wrong)
        assert "positions" in message
        assert str(wrong) in message


NOT_NEEDED = (
    "matplotlib",
    "numba",
    "rich",
    "safetensors",
    "scipy",
    "tensorboard",
    "torch",
    "tyro",
)


def test_judging_a_function_needs_only_what_the_environment_needs() -> None:
    code = f"""
import sys
sys.modules |= dict.fromkeys({NOT_NEEDED})  # an import of one of these fails
import selfplay
verdict = selfplay.evaluate(lambda observation: observation[..., 0].argmax())
assert selfplay.counterexamples("rule").shortest
assert verdict._repr_html_()
print(verdict.first.losses, verdict.second.losses)
"""
    done = python("-c", code, cwd=Path())
    assert done.returncode == 0, done.stderr
    assert tuple(map(int, done.stdout.split())) == LOST
