"""Play random legal games in other libraries, each in the fastest way that its documentation shows.

Gymnasium's and PettingZoo's own environments run in the same loops as ours (`face_loops.py`). The libraries
here have interfaces of their own. None of them is needed before it is called.
"""

import importlib
import importlib.util
import os
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from benchmarks.environment.face_loops import Chunk, Played
from benchmarks.environment.random_play import Stream

Delivery = Literal["step", "scan", "device"]


def pettingzoo_classic() -> Any:
    """Return PettingZoo's module of tic-tac-toe."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the way its documentation imports it is deprecated
        return importlib.import_module("pettingzoo.classic.tictactoe_v3")


def open_spiel(game: str, games: Sequence[Sequence[int]]) -> Chunk:
    """Play each order of cells until its game ends, with fresh NumPy arrays of observation and mask at each ply.

    Of the ways to get the observation as an array, `make_observation` was the fastest.
    """
    loaded = importlib.import_module("pyspiel").load_game(game)
    observation = importlib.import_module("open_spiel.python.observation").make_observation(loaded)

    def chunk() -> Played:
        plies = 0
        for cells in games:
            state = loaded.new_initial_state()
            for ply, cell in enumerate(cells, 1):
                state.apply_action(cell)
                observation.set_from(state, 0)
                observation.tensor.copy()
                np.array(state.legal_actions_mask(), np.int8)
                if state.is_terminal():
                    state.returns()
                    plies += ply
                    break
        return Played(plies, len(games))

    return chunk


def pgx_accelerated() -> bool:
    """Tell whether JAX is there and finds a GPU."""
    if importlib.util.find_spec("jax") is None:
        return False
    return bool(_jax().default_backend() == "gpu")


def _jax() -> Any:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # leaves torch its part of a GPU
    return importlib.import_module("jax")


def pgx(num_boards: int, steps: int, rng: np.random.Generator, delivery: Delivery, *, draw: bool) -> Chunk:
    """Play pgx's tic-tac-toe as its documentation does: `jit`, `vmap` and `auto_reset`, with a key for each board.

    `delivery` is how the caller gets observations, masks, rewards and ends: "step", as NumPy arrays (on a CPU the same
    memory) after each jitted step; "scan", stacked after one `lax.scan` over all steps, which no program outside
    the scan can act on in between; "device", as arrays on the device that JAX prefers, which is waited for once a
    chunk. `draw` draws the actions from the masks as the documentation does, else they are drawn before, as in
    `random_play.PreDrawn`. Either way they are chosen inside the jitted step.
    """
    jax, jnp = _jax(), importlib.import_module("jax.numpy")
    env = importlib.import_module("pgx").make("tic_tac_toe")
    auto_reset = importlib.import_module("pgx.experimental").auto_reset
    step_boards = jax.vmap(auto_reset(env.step, env.init))
    device = jax.devices()[0] if delivery == "device" else jax.local_devices(backend="cpu")[0]
    stream = Stream(9, num_boards, rng)

    def advance(carry: Any, _: Any = None) -> Any:
        state, cursor, key, cells, next_order = carry
        key, of_actions, of_games = jax.random.split(key, 3)
        if draw:
            logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
            actions = jax.random.categorical(of_actions, logits, axis=1)
        else:
            actions = cells[cursor]
        state = step_boards(state, actions, jax.random.split(of_games, num_boards))
        cursor = jnp.where(state.terminated, next_order[cursor], cursor + 1)
        delivered = (state.observation, state.legal_action_mask, state.rewards, state.terminated)
        return (state, cursor, key, cells, next_order), delivered

    one_step = jax.jit(advance)
    all_steps = jax.jit(lambda carry: jax.lax.scan(advance, carry, None, length=steps))
    with jax.default_device(device):
        key = jax.random.PRNGKey(int(rng.integers(2**31)))
        state = jax.jit(jax.vmap(env.init))(jax.random.split(key, num_boards))
        carry = (state, *(jnp.asarray(field) for field in (stream.start, key, stream.cells, stream.next_order)))

    call, calls = (all_steps, 1) if delivery == "scan" else (one_step, steps)

    def delivered_in_numpy() -> Played:
        nonlocal carry
        games = 0
        for _ in range(calls):
            carry, delivered = call(carry)
            _observation, _mask, _rewards, ended = (np.asarray(array) for array in delivered)
            games += int(np.count_nonzero(ended))
        return Played(num_boards * steps, games)

    def on_device() -> Played:
        nonlocal carry
        games = 0
        for _ in range(calls):
            carry, delivered = call(carry)
            games = games + delivered[3].sum()
        return Played(num_boards * steps, int(games))

    return on_device if delivery == "device" else delivered_in_numpy
