"""What every player is, trained or not: something that picks a cell on each of a batch of boards."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from numpy.typing import NDArray

from tictactoe import Rules

if TYPE_CHECKING:
    from torch import Tensor

Array: TypeAlias = Any
"""A NumPy array or a torch tensor."""


class Agent(Protocol):
    """Decide for a seat, or for both."""

    def act(self, observation: Array, action_mask: Array | None = None) -> NDArray[Any]:
        """Return greedy actions [B] for observations [B, R, C, 3].

        With `action_mask` [B, A] only the actions marked in it are chosen.
        """


class StochasticAgent(Protocol):
    """Decide for a seat, or for both, by drawing moves."""

    def probabilities(self, observation: Array, action_mask: Array | None = None) -> Array:
        """Return the probability [B, A] of each move, for observations [B, R, C, 3]."""


AnyAgent: TypeAlias = Agent | StochasticAgent | Callable[[Array], Any]
"""An agent that can be evaluated; a function returns the cell for one observation [R, C, 3]."""


class Player(Agent, Protocol):
    """Play greedily what was learned, and show the value of each cell."""

    @property
    def rules(self) -> Rules:
        """Return the rules of the game it was trained on."""

    def q_values(self, observation: Array) -> Array:
        """Return the value [B, A] of each cell to the mover, of observations [B, R, C, 3] of either perspective."""

    def tensors(self) -> "dict[str, Tensor]":
        """Return what it has learned, by the names that it has in model.safetensors."""
