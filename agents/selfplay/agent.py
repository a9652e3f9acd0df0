"""What every player is, trained or not: something that picks a cell on each of a batch of boards."""

from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from tictactoe import Rules

Array: TypeAlias = Any
"""A NumPy array or a torch tensor."""


class Agent(Protocol):
    """Decide for a seat, or for both."""

    def act(self, observation: Array, action_mask: Array | None = None) -> NDArray[Any]:
        """Return greedy actions [B] for observations [B, R, C, 3] of either perspective.

        With `action_mask` [B, A] only the actions marked in it are chosen.
        """
        ...


class Player(Agent, Protocol):
    """Play greedily as training has taught it, and show what it makes of each cell."""

    @property
    def rules(self) -> Rules:
        """Return the rules of the game it was trained on."""
        ...

    def q_values(self, observation: Array) -> Array:
        """Return the value [B, A] of each cell to the mover, of observations [B, R, C, 3] of either perspective."""
        ...
