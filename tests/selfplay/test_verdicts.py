"""Names, runs, agents and models of other libraries are evaluated as they are."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import selfplay
from selfplay.judging.report import verdict_text
from selfplay.learning.api import SHIPPED_FOLDER
from tests.runs import refused, saved
from tictactoe import Rules

Planes = NDArray[np.int8]


def first_empty(observation: Planes) -> int:
    return int(observation[..., 0].argmax())


LOST = (58, 429)
"""Games that an agent loses as X and as O if it marks the first empty cell."""


class Batched:
    """Act without a mask, as a type checker is to accept."""

    def act(self, observation: Planes) -> NDArray[np.intp]:
        cells: NDArray[np.intp] = observation[..., 0].reshape(len(observation), -1).argmax(axis=1)
        return cells


class Masked:
    """Act with a mask that may be left out."""

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        return torch.as_tensor(Batched().act(observation))


class OneBoard:
    """Act on one board alone, as in a game."""

    def act(self, observation: Planes) -> int:
        assert observation.shape == (3, 3, 3)
        return first_empty(observation)


class Model:
    """Predict as a model of Stable-Baselines3 does, whose observations have one form."""

    def __init__(self, form: str, rows: int = 3) -> None:
        self.form, self.shape = (
            form,
            {"planes": (rows, rows, 3), "flat": (3 * rows * rows,), "dict": (rows, rows, 3)}[form],
        )

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
        if observation.shape[1:] != self.shape:
            raise ValueError(f"Error: Unexpected observation shape {observation.shape}")
        return Batched().act(observation.reshape(len(observation), -1, 3)[:, None]), None


class Values(nn.Module):
    """Value the empty cells alike, and in training something else, which must not be asked."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self.dimensions, self.weight = dimensions, nn.Parameter(torch.ones(1))

    def forward(self, planes: Tensor) -> Tensor:
        assert not self.training
        assert not torch.is_grad_enabled()
        if planes.dim() != self.dimensions:
            raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
        return planes.reshape(len(planes), -1, 3)[..., 0] * self.weight


def careless(observation: Planes) -> int:
    """Mark the last cell once it is taken, else the first empty one."""
    return first_empty(observation) if observation[-1, -1, 0] else observation[..., 0].size - 1


def pettingzoo_policy(observation: dict[str, Any]) -> Any:
    assert observation["observation"].shape == (3, 3, 3)
    return observation["action_mask"].argmax()


def agents() -> dict[str, Any]:
    return {
        "function": first_empty,
        "array": lambda observation: np.array([[first_empty(observation)]]),
        "act": Batched(),
        "tensor": Masked(),
        "one board": OneBoard(),
        "method": OneBoard().act,
        **{f"predict {form}": Model(form) for form in ("planes", "flat", "dict")},
        "flat module": Values(2),
        "module of planes": Values(4),
        "PettingZoo": pettingzoo_policy,
    }


@pytest.mark.parametrize("name", agents())
def test_every_form_of_an_agent_gets_the_same_verdict(name: str) -> None:
    agent = agents()[name]
    verdict = selfplay.evaluate(agent)
    assert (verdict.first.losses, verdict.second.losses, verdict.illegal_states) == (*LOST, 0)
    assert selfplay.counterexamples(agent, seed=1).verdict.first == verdict.first
    assert not isinstance(agent, nn.Module) or agent.training  # as it was


class Guessing:
    """Sample any cell, also a taken one, with probabilities in a list."""

    def probabilities(self, observation: Planes) -> list[list[float]]:
        return [[3 / board.size] * (board.size // 3) for board in observation]


class Valuing:
    """Act by values, and not by cells."""

    def act(self, observation: Planes) -> NDArray[np.float32]:
        return np.zeros((len(observation), 9), np.float32)


class Predicting:
    """Predict something else than a pair."""

    def predict(self, _observation: Any, deterministic: bool) -> Any:
        return deterministic and "the centre"


GRADIENTS = torch.ones(9, requires_grad=True)


@pytest.mark.parametrize(
    ("agent", "gist"),
    [
        (
            SimpleNamespace(act=lambda _: None),
            "the agent returned None in the position .../.../...: wanted int(cell), 0 to 8 (is a `return` missing?)",
        ),
        (lambda _: 0.5, "the agent returned 0.5 in the position .../.../...: wanted int(cell), 0 to 8"),
        (lambda _: [1, 2], "the agent returned [1, 2] in the position .../.../...: wanted int(cell), 0 to 8"),
        (lambda _: [[1], [2, 3]], "the agent returned [[1], [2, 3]] in the position .../.../...: wanted int(cell)"),
        (lambda _: 9, "the agent returned 9 in the position .../.../...: wanted int(cell), 0 to 8"),
        (lambda _: GRADIENTS, "the agent returned array([1., 1."),
        (lambda _: (np.array(4), None), "the agent returned (array(4), None) in the position"),
        (Valuing(), "the agent's actions must be 2 integers, one for each board, got ndarray of shape (2, 9)"),
        (Predicting(), "the agent's actions must be 2 integers, one for each board, got str"),
        (nn.Linear(27, 5), "a module must return [boards, 9] values, one for each cell, got (2, 5)"),
        (nn.LSTM(27, 9), "a module must return [boards, 9] values, one for each cell, got tuple"),
        (nn.Sequential(nn.Linear(27, 9), nn.Threshold(9, float("nan"))), "values, one for each cell, got nan"),
        (nn.Sequential(nn.Flatten(2), nn.Linear(12, 9)), "Error: mat1 and mat2 shapes cannot be multiplied (6x9"),
        (
            Model("planes", 4),
            "a Model cannot be asked about a board of shape (3, 3, 3): ValueError: Error: Unexpected obser",
        ),
        (
            SimpleNamespace(act=lambda seen, mask: (seen, mask)),
            "if it needs the mask too, write lambda observation: agent.act(observation, observation[..., 0].ravel())",
        ),
        (3, "an object of type int is not an agent: write a function of one observation that returns int(cell)"),
        (Valuing, "a class is not an agent: make an object of it first"),
        ("nowhere", "nowhere is neither a run folder, nor one of shipped, random, heuristic, rule, optimal"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_board_is_solved(
    agent: Any, gist: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for solving in ("TabulatedPolicy", "solve", "ForwardSearch"):
        monkeypatch.delattr(f"selfplay.judging.evaluate.{solving}")
    assert gist in refused(selfplay.evaluate, agent)


@pytest.mark.parametrize(("view", "of_x"), [("absolute", 1), ("mover", 2)])
def test_a_mistake_that_comes_later_names_the_position(view: Any, of_x: int) -> None:
    def forgetful(observation: Planes) -> int | None:
        return None if observation[0, 0, of_x] and observation[..., 0].sum() == 8 else first_empty(observation)

    with pytest.raises(gymnasium.error.InvalidAction, match=r"^the agent returned None in the position X\.\./.*: "):
        selfplay.evaluate(forgetful, perspective=view)
    with pytest.raises(IndexError) as caught:
        selfplay.evaluate(lambda observation: [8][int(observation[..., 1:].sum())], perspective=view)
    notes = getattr(caught.value, "__notes__", ["before Python 3.11"])
    assert notes in (["The agent was asked about the position X../.../...."], ["before Python 3.11"])


@pytest.mark.parametrize("agent", [first_empty, "shipped"])
def test_rules_that_are_none_are_refused_in_one_line(agent: Any) -> None:
    said = "rules must be a tictactoe.Rules, e.g. Rules(3, 3, 3), not (3, 3, 3)"
    assert refused(selfplay.evaluate, agent, (3, 3, 3)) == said


def test_a_verdict_names_the_perspective_that_an_agent_of_the_user_was_shown() -> None:
    for perspective in ("absolute", "mover"):
        for verdict in (
            selfplay.evaluate(first_empty, perspective=perspective),
            selfplay.evaluate(Guessing(), Rules(1, 17, 3), positions=9, perspective=perspective),
        ):
            assert repr(verdict).endswith(f"; perspective='{perspective}')")
            assert verdict_text(verdict).endswith(f" It was shown the planes of perspective {perspective}.")
    ours = selfplay.evaluate(selfplay.load("shipped"), perspective="mover"), selfplay.evaluate("random")
    assert "perspective" not in f"{ours}{[*map(verdict_text, ours)]}"


def test_names_folders_and_runs_are_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    saved(tmp_path / "it", rows=3, cols=4)
    shipped = selfplay.evaluate(selfplay.load("shipped"))
    assert shipped.unbeatable
    for name in ("shipped", SHIPPED_FOLDER, str(SHIPPED_FOLDER)):
        assert selfplay.evaluate(name) == shipped
    wide = selfplay.evaluate(selfplay.load(tmp_path / "it"))
    assert wide.decision_states != shipped.decision_states
    assert selfplay.evaluate("~/it") == selfplay.evaluate(tmp_path / "it", Rules(3, 4, 3)) == wide
    assert selfplay.evaluate("random").first.losses == 77_904
    assert selfplay.evaluate("optimal").optimal
    assert selfplay.evaluate("rule", Rules(1, 17, 3)).complete
    assert "plays on 3,4,3, not on 3,3,3; leave out rules=" in refused(selfplay.evaluate, "~/it", Rules())
    assert "search each position of 5,5,4" in refused(selfplay.evaluate, "optimal", Rules(5, 5, 4))


@pytest.mark.parametrize(
    ("agent", "exploitability"), [(careless, 1.0), (Guessing(), None)], ids=["careless", "guessing"]
)
def test_a_verdict_on_a_board_that_is_not_followed_whole_says_what_is_known(agent: Any, exploitability: Any) -> None:
    verdict = selfplay.evaluate(agent, Rules(6, 7, 4), positions=3_000)
    assert {verdict.complete, verdict.unbeatable, verdict.unexploitable, verdict.optimal} == {False}
    assert verdict.exploitability == exploitability
    assert verdict.games_lost > 0  # enough to know the worst result in each seat, where no move is sampled
    assert (verdict.optimal_fraction, verdict.illegal_states, verdict.first.win) == (None,) * 3


def test_our_players_are_opponents_as_they_are() -> None:
    env = gymnasium.make("tictactoe:TicTacToeVersus-v0", opponent=selfplay.load("shipped"), seat="random")
    winners, generator = set(), np.random.default_rng(0)
    for seed in range(40):
        _, info = env.reset(seed=seed)
        ended = False
        while not ended:
            _, _, ended, _, info = env.step(generator.choice(np.flatnonzero(info["action_mask"])))
        winners.add(int(info["winner"]) == env.unwrapped.seat if info["winner"] >= 0 else None)  # type: ignore[attr-defined]
    assert winners == {False, None}  # it wins or draws
    boards = gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", num_envs=3, opponent=selfplay.load("shipped"), seat=1)
    observation, _ = boards.reset(seed=0)
    assert (observation[..., 1].sum(axis=(1, 2)) == 1).all()
