"""The public functions that judge an agent of any form: its exact verdict, and what beats it."""

import os
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from selfplay.errors import UserError
from selfplay.judge.ask import AgentPolicy, agent_policy
from selfplay.judge.counterexamples import Counterexamples, find_counterexamples
from selfplay.judge.evaluate import BOTH_SEATS, POSITIONS, evaluate_policy
from selfplay.judge.mistakes import Mistake, find_mistakes
from selfplay.judge.move_values import ALL_STATES_CELLS
from selfplay.judge.progress import EvaluationProgress
from selfplay.judge.verdict import Verdict
from selfplay.named_players import Perspective, check_not_searched, print_to_stderr, resolve
from selfplay.protocols import AnyAgent
from selfplay.runs.result import Run
from selfplay.settings import Count, as_path, converted
from tictactoe import Rules, batch

Evaluated: TypeAlias = AnyAgent | str | os.PathLike[str] | Run
"""A thing that can be evaluated: an agent, or the name of one, a run folder, or a run."""


def evaluate(
    agent: Evaluated,
    rules: Rules | None = None,
    positions: int = POSITIONS,
    perspective: Perspective = "absolute",
    every_state: bool = True,
    seat: int | None = None,
    ask_again: bool = True,
) -> Verdict:
    """Evaluate an agent exactly: make its own moves, without a mask, and try every legal reply.

    If there are no ways to beat it, it is proved unbeatable. If there are some, their number shows how far training
    still has to go and does not rank agents: a constant agent has fewer than a good one. How often it loses to
    uniformly random play does, which is the `loss` of each seat.

    The agent is one of these:

    - "shipped" or "shipped-5x5x4", a built-in opponent such as "heuristic", a run folder, a `Run`, or a trained player;
    - a function of one observation [R, C, 3], or of {"observation", "action_mask"} as a PettingZoo policy, that returns
      a cell;
    - an object with `act(observation)`, which maps [B, R, C, 3] to cells [B], or one observation to a cell;
    - an object with `probabilities(observation)`, [B, A], if it samples its moves: each with a probability above
      0 is followed;
    - a Stable-Baselines3 model, or anything with its `predict`, which is asked with `deterministic=True`;
    - a PyTorch module, which maps planes [B, 3A] or [B, R, C, 3] to the value of each cell, [B, A]. It chooses the
      highest, in evaluation mode; the last axis holds the planes empty, X and O.

    What an agent has decides how it is asked. `probabilities` comes before `act`, a module, `predict` and a call.
    `perspective` is the one that it was trained on, "absolute" or "mover". The default rules are the agent's `rules`,
    or 3,3,3 if it has none. With `seat`, 0 or 1, it is judged in that seat alone. Before it is called unbeatable it is
    asked again about every position of its own play; `ask_again=False` leaves that out, and proves nothing.

    On boards of up to 16 cells all states are looked at. On larger boards, and with `every_state=False`, only the
    positions that the agent's own play leads to are followed, at most `positions` distinct ones at each ply of a seat,
    which take about 200 bytes each. Whether it is optimal is not known then, but a slow agent is asked far less often.
    One of our players with `mask` is followed on larger boards only until it can no longer lose.

    An evaluation that takes over 5 seconds prints a line on stderr now and then: how many positions it has asked about.

    Raises:
        ValueError: the board has more than 64 cells, or there is no such perspective.
        UserError: it is not an agent, cannot be asked, answers differently when asked again about a position, or its
            answer is not a cell, or probabilities, for each board; `rules` is not a `Rules`, or `positions` no count.
    """
    positions = converted("positions", positions, Count)
    if seat is not None and seat not in BOTH_SEATS:
        raise UserError(f"seat must be 0, for X, or 1, for O, got {seat!r}")
    seats = BOTH_SEATS if seat is None else (seat,)
    policy = _policy(agent, rules, perspective)
    return evaluate_policy(policy, every_state, positions, seats, ask_again).verdict


def counterexamples(
    agent: Evaluated,
    rules: Rules | None = None,
    positions: int = POSITIONS,
    perspective: Perspective = "absolute",
    seed: int = 0,
) -> Counterexamples:
    """Find the positions of an agent's own play from which some replies beat it, in both seats.

    At most `positions` positions are followed at each ply. If there are more, `seed` chooses a random part of them. The
    other arguments and the errors are those of `evaluate`.
    """
    positions = converted("positions", positions, Count)
    return find_counterexamples(_policy(agent, rules, perspective), positions, np.random.default_rng(seed))


def mistakes(agent: Evaluated, rules: Rules | None = None, perspective: Perspective = "absolute") -> list[Mistake]:
    """Return the moves of an agent that do not keep the value of the position, in every state of a small board.

    The worst come first. A missed win is one of `value` 1. The arguments are those of `evaluate`.

    Raises:
        UserError: as in `evaluate`, or the board has more than 12 cells.
    """
    policy = replace(_policy(agent, rules, perspective), symmetric=False)  # every position is wanted, not one image
    if policy.rules.cells > ALL_STATES_CELLS:
        raise UserError(f"mistakes are known on boards of up to {ALL_STATES_CELLS} cells, not on {policy.rules}")
    return find_mistakes(evaluate_policy(policy))


def _policy(agent: Evaluated, rules: Rules | None, perspective: Perspective) -> AgentPolicy:
    """Return the policy of an agent on a board on which it can be followed.

    Raises:
        UserError: there is no agent of that name, it plays on another board, or `rules` is not a `Rules`.
        ValueError: the board has more than 64 cells.
    """
    if not isinstance(rules, Rules | None):
        raise UserError(f"rules must be a tictactoe.Rules, e.g. Rules(3, 3, 3), not {rules!r}")
    if isinstance(agent, Run):
        agent = agent.player
    progress = EvaluationProgress(print_to_stderr)
    if isinstance(agent, str | os.PathLike):
        named = resolve(str(as_path(agent)), perspective, rules, progress)
        check_not_searched(named, "an evaluation")
        policy = named.policy
    else:
        policy = agent_policy(agent, rules, perspective, progress=progress)
    batch.check_fits(policy.rules)
    return policy
