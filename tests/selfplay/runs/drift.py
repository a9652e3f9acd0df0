"""A custom learner, as small as can be: its weights drift at random, and its player is linear in the planes."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tictactoe import Rules


class Linear:
    """A player that marks the empty cell with the highest value."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self.weights = weights

    def act(self, observation: NDArray[np.int8]) -> NDArray[np.int64]:
        planes = np.asarray(observation).reshape(-1, 27)
        cells: NDArray[np.int64] = np.where(planes[:, ::3], planes @ self.weights, -np.inf).argmax(axis=1)
        return cells

    def tensors(self) -> dict[str, Any]:
        """Return what only our own players are saved by."""
        return {}


class Drift:
    """A learner whose weights change at random."""

    rules = Rules()

    def __init__(self, scale: float = 0.5, seed: int = 0) -> None:
        self.settings = {"scale": scale, "seed": seed}
        self.rng = np.random.default_rng(seed)
        self.weights = np.zeros((27, 9))
        self.steps, self.taught = 0, 0

    def advance(self, most: int) -> None:
        self.steps += min(most, 10)
        self.weights += self.settings["scale"] * self.rng.standard_normal(self.weights.shape)

    def player(self) -> Any:
        return Linear(self.weights)

    def teach(self, mover: NDArray[Any], opponent: NDArray[Any], move: NDArray[Any]) -> None:
        assert len(mover) == len(opponent) == len(move)
        self.taught += len(mover)

    def metrics(self) -> Mapping[str, float]:
        return {"weights/mean": float(self.weights.mean())}

    def state(self) -> Mapping[str, Any]:
        counts = {"steps": self.steps, "taught": self.taught}
        return {"weights": self.weights, "counts": counts, "generator": self.rng.bit_generator.state}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.weights = state["weights"]
        self.steps, self.taught = state["counts"]["steps"], state["counts"]["taught"]
        self.rng.bit_generator.state = state["generator"]


class DriftAsFunction(Drift):
    """The same learner with a plain function as its player, and none of what is optional."""

    teach = property()
    metrics = property()

    def player(self) -> Callable[[NDArray[np.int8]], int]:
        def choose(observation: NDArray[np.int8]) -> int:
            return int(Linear(self.weights).act(observation)[0])

        return choose
