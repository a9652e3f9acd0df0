"""Judge a network written in JAX, such as one trained in pgx, exactly: is there a way to beat it?

Put your own network and weights in place of `logits` and `WEIGHTS`. The network sees what pgx shows it: a plane with
the marks of the seat to move, and one with those of the other. It is asked about many boards at once, so the verdict
takes seconds. This one has learned nothing. It needs `pip install jax`.
"""

import jax
import numpy as np
import tyro
from jax import numpy as jnp

import selfplay

KEYS = jax.random.split(jax.random.PRNGKey(0))
WEIGHTS = jax.random.normal(KEYS[0], (18, 64)), jax.random.normal(KEYS[1], (64, 9))


def logits(observation: jax.Array) -> jax.Array:
    """Return a number for each cell, [B, 9], for pgx's observations [B, 3, 3, 2]."""
    return jax.nn.relu(observation.reshape(-1, 18) @ WEIGHTS[0]) @ WEIGHTS[1]


class Judged:
    """The network as `selfplay.evaluate` asks it."""

    def act(self, observation: np.ndarray) -> np.ndarray:
        """Return the best empty cells [B], for observations [B, 3, 3, 3] with the planes empty, mine and theirs."""
        empty = observation[..., 0].reshape(-1, 9) == 1
        return np.asarray(jnp.where(empty, logits(jnp.asarray(observation[..., 1:])), -jnp.inf).argmax(axis=1))


def main() -> selfplay.Verdict:
    """Judge the network, which marks only empty cells."""
    verdict = selfplay.evaluate(Judged(), perspective="mover")
    print(verdict)
    return verdict


if __name__ == "__main__":
    tyro.cli(main)
