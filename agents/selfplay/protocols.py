"""The protocols of agents and players: they choose a cell on each of a batch of boards."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tictactoe import Rules

if TYPE_CHECKING:
    from torch import Tensor

Array: TypeAlias = Any
"""A NumPy array or a torch tensor."""


class Agent(Protocol):
    """An agent."""

    def act(self, observation: Array, /) -> Any:
        """Return the cells [B] for observations [B, R, C, 3]; an optional second argument may be an action mask."""


class StochasticAgent(Protocol):
    """An agent that samples its moves."""

    def probabilities(self, observation: Array, /) -> Array:
        """Return the probability [B, A] of each move, for observations [B, R, C, 3]."""


class Model(Protocol):
    """An agent with the interface of a Stable-Baselines3 model."""

    def predict(self, observation: Array, /, *, deterministic: bool) -> tuple[Any, Any]:
        """Return the cells [B] for observations, and a state that is not used."""


AnyAgent: TypeAlias = Agent | StochasticAgent | Model | Callable[[Any], Any]
"""An agent that can be evaluated; a function returns the cell for one observation [R, C, 3], and a PyTorch module
the value of each cell [B, A]."""


class Player(Agent, Protocol):
    """A trained, greedy policy, which also shows the value of each cell."""

    @property
    def rules(self) -> Rules:
        """Return the rules of the game it was trained on."""

    def act(self, observation: Array, action_mask: Array | None = None) -> Array:
        """Return the greedy cells [B] for observations [B, R, C, 3], or one cell for one observation [R, C, 3].

        With an `action_mask`, [B, A] or [A], only the cells marked in it are chosen.
        """

    def q_values(self, observation: Array) -> Array:
        """Return the value of each cell to the mover, [B, A], or [A] of one observation, of either perspective."""

    def tensors(self) -> "dict[str, Tensor]":
        """Return the learned tensors, by their names in model.safetensors."""
