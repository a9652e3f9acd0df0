"""Play random legal games in other libraries, each in the fastest way that its documentation shows.

Gymnasium's and PettingZoo's own environments run in the same loops as ours; the libraries here have APIs of their own.
None of them is imported before it is called.
"""

import importlib
import warnings
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from benchmarks.environment.loops import Chunk, Games, Presampled, sampled_cell


def pettingzoo_classic() -> Any:
    """Return PettingZoo's module of tic-tac-toe."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the way its documentation imports it is deprecated
        return importlib.import_module("pettingzoo.classic.tictactoe_v3")


Delivery: TypeAlias = Literal["lists", "lists and mask", "arrays"]
"""At each ply OpenSpiel returns lists of the observation and of the legal cells, or the mask as a list, or arrays."""


PgxDelivery: TypeAlias = Literal["step", "scan"]


def open_spiel(game: str, games: Games, delivery: Delivery = "arrays") -> Chunk:
    """Play each order of cells until its game ends, with a new observation and the legal cells at each ply.

    "lists" are what a state itself returns. "arrays" are what a learner needs; of the ways to get the observation as
    an array, `make_observation` was the fastest.
    """
    loaded = importlib.import_module("pyspiel").load_game(game)
    observe = open_spiel_observe(loaded, delivery)

    def chunk() -> int:
        plies = 0
        for cells in next(games):
            state = loaded.new_initial_state()
            for ply, cell in enumerate(cells, 1):
                state.apply_action(cell)
                observe(state)
                if state.is_terminal():
                    state.returns()
                    plies += ply
                    break
        return plies

    return chunk


def open_spiel_from_mask(game: str, plies: int, delivery: Delivery, rng: np.random.Generator) -> Chunk:
    """Play games whose cells are sampled from what is delivered: from the list of legal cells, or from the mask."""
    loaded = importlib.import_module("pyspiel").load_game(game)
    observe = open_spiel_observe(loaded, delivery)

    def choose(legal: Any) -> int:
        if delivery == "arrays":
            return sampled_cell(legal, rng)
        if delivery == "lists and mask":
            legal = [cell for cell, is_legal in enumerate(legal) if is_legal]
        return int(legal[int(rng.random() * len(legal))])

    def chunk() -> int:
        done = 0
        while done < plies:
            state = loaded.new_initial_state()
            legal = observe(state)
            while not state.is_terminal():
                state.apply_action(choose(legal))
                legal = observe(state)
                done += 1
            state.returns()
        return done

    return chunk


def open_spiel_observe(game: Any, delivery: Delivery) -> Callable[[Any], Any]:
    """Return a function that makes the observation of a state, and returns its legal cells as a list or as a mask."""
    if delivery == "arrays":
        observation = importlib.import_module("open_spiel.python.observation").make_observation(game)

        def observe_arrays(state: Any) -> Any:
            observation.set_from(state, 0)
            observation.tensor.copy()
            return np.array(state.legal_actions_mask(), np.int8)

        return observe_arrays

    def observe_lists(state: Any) -> Any:
        state.observation_tensor(0)
        return state.legal_actions() if delivery == "lists" else state.legal_actions_mask()

    return observe_lists


def pgx(num_boards: int, steps: int, rng: np.random.Generator, delivery: PgxDelivery, *, from_mask: bool) -> Chunk:
    """Play pgx's tic-tac-toe on a CPU, with observations, masks, rewards and ends as NumPy arrays of the same memory.

    They are delivered after each jitted "step", or stacked after one `lax.scan` over all steps, which no program
    outside the scan can act on in between.
    """
    call, carry = pgx_call(num_boards, steps, rng, delivery, from_mask=from_mask)

    def chunk() -> int:
        nonlocal carry
        for _ in range(1 if delivery == "scan" else steps):
            carry, delivered = call(carry)
            _observation, _mask, _rewards, _ended = (np.asarray(array) for array in delivered)
        return num_boards * steps

    return chunk


def pgx_call(
    num_boards: int, steps: int, rng: np.random.Generator, delivery: PgxDelivery, *, from_mask: bool
) -> tuple[Callable[[Any], tuple[Any, Any]], Any]:
    """Return a jitted function that plays one step or scans over all, and what it begins with.

    It plays as pgx's documentation does, with `jit`, `vmap`, `auto_reset` and a key for each board. It takes and
    returns what it carries from call to call, and returns what it delivers. Actions are sampled from the masks as the
    documentation does, or before as in `loops.Presampled`; either way they are chosen inside the jitted step.
    """
    env = importlib.import_module("pgx").make("tic_tac_toe")
    jax, jnp = importlib.import_module("jax"), importlib.import_module("jax.numpy")
    auto_reset = importlib.import_module("pgx.experimental").auto_reset
    step_boards = jax.vmap(auto_reset(env.step, env.init))
    sampled = Presampled(9, num_boards, rng)

    def advance(carry: Any, _: Any = None) -> Any:
        state, cursor, key, cells, next_order = carry
        key, of_actions, of_games = jax.random.split(key, 3)
        if from_mask:
            logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
            actions = jax.random.categorical(of_actions, logits, axis=1)
        else:
            actions = cells[cursor]
        state = step_boards(state, actions, jax.random.split(of_games, num_boards))
        cursor = jnp.where(state.terminated, next_order[cursor], cursor + 1)
        delivered = (state.observation, state.legal_action_mask, state.rewards, state.terminated)
        return (state, cursor, key, cells, next_order), delivered

    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        key = jax.random.PRNGKey(int(rng.integers(2**31)))
        state = jax.jit(jax.vmap(env.init))(jax.random.split(key, num_boards))
        carry = (state, *(jnp.asarray(field) for field in (sampled.cursor, key, sampled.cells, sampled.next_order)))
    if delivery == "step":
        return jax.jit(advance), carry
    return jax.jit(lambda carry: jax.lax.scan(advance, carry, None, length=steps)), carry
