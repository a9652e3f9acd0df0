"""Two loops as people write them: a network that plays both seats, and one that plays an opponent, each in some steps.

Without a mistake the first comes to a proof. A mistake is one field of `SelfPlay` that differs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np

import selfplay
from benchmarks.symptoms.learner import CELLS, FloatArray, Learner, Masked, Transitions
from tictactoe import Rewards, Rules, batch
from tictactoe.tree import BoolArray, IntArray

RULES = Rules()
BOARDS, EPSILON = 64, 0.5
SPARSE = Rewards(allow=0.0, loss=-1.0)


@dataclass(frozen=True)
class SelfPlay:
    """Say how a network learns by playing both seats; the defaults are right."""

    rewards: Rewards = SPARSE
    follows: Literal["opponent's turn", "own next turn"] = "opponent's turn"
    """What a move leads to, in the target."""
    sign: Literal[1, -1] = -1
    """With which the worth of that counts."""
    masked: Masked = "moves and targets"
    stale_mask: bool = False
    """Mask the target by the cells that were empty before the move, in place of those after it."""
    loser_told: bool = True
    """Remember also the move after which the opponent ended the game."""
    last_cell_wins: bool = True
    """Look for a line before looking for a full board."""


class Greedy:
    """Play the cell that is worth most, which `selfplay.evaluate` asks for."""

    def __init__(self, learner: Learner, masked: Masked) -> None:
        self.learner, self.masked = learner, masked

    def act(self, observation: Any, action_mask: Any = None) -> IntArray:
        """Return the cells [B] for observations [B, 3, 3, 3] of the mover's view; what is empty is seen in plane 0."""
        del action_mask
        seen = flat(np.asarray(observation))
        values = self.learner.values(seen)
        return best(values, seen.reshape(-1, CELLS, 3)[..., 0] == 1 if self.masked != "nothing" else None)


def best(values: FloatArray, legal: BoolArray | None) -> IntArray:
    """Return the cells [B] with the highest of the values [B, A], among the legal ones if there are such."""
    found: IntArray = (values if legal is None else np.where(legal, values, -np.inf)).argmax(axis=1)
    return found


def epsilon_greedy(values: FloatArray, legal: BoolArray, masked: Masked, generator: np.random.Generator) -> IntArray:
    """Return a cell for each board [B]: with probability epsilon a random empty one."""
    lots = best(generator.random(values.shape, dtype=np.float32), legal)
    greedy = best(values, None if masked == "nothing" else legal)
    return np.where(generator.random(len(values)) < EPSILON, lots, greedy)


def look(state: batch.State) -> tuple[FloatArray, BoolArray]:
    """Return what the movers see, [B, 27], and which cells are empty, [B, 9]."""
    return flat(batch.observe(RULES, state, "mover")), batch.action_mask(RULES, state)


def looked_at(how: SelfPlay, before: BoolArray, after: BoolArray) -> BoolArray:
    """Return the cells [B, 9] among which the target looks for the best: those empty after the move, if it is right."""
    if how.masked != "moves and targets":
        return np.ones_like(after)
    return before if how.stale_mask else after


class Waiting:
    """Hold each seat's last move on each board, until its own next turn or the end of the game says what came of it.

    Of a move that no longer waits `goes_on` is False.
    """

    def __init__(self) -> None:
        nothing = np.zeros(BOARDS, np.int64)
        seen, cells = np.zeros((BOARDS, 3 * CELLS), np.float32), np.zeros((BOARDS, CELLS), bool)
        self.own = Transitions(seen, nothing, nothing.astype(np.float32), nothing == 1, seen, cells)
        """Of the seat that is to move."""
        self.others = self.own

    def followed(self, seen: FloatArray, legal: BoolArray) -> Transitions:
        """Return the moves whose seats see this at their own next turn."""
        return chosen(self.own._replace(next_observation=seen, next_legal=legal), self.own.goes_on)

    def ended(self, reward: FloatArray, ended: BoolArray) -> Transitions:
        """Return the moves after which the opponent has ended the game, with what their seats are paid for that."""
        last = self.others._replace(reward=self.others.reward + reward, goes_on=np.zeros_like(ended))
        return chosen(last, ended & self.others.goes_on)

    def turn(self, moved: Transitions, ended: BoolArray) -> None:
        """Let the seats change; nothing waits for a game that has ended."""
        self.own, self.others = self.others._replace(goes_on=self.others.goes_on & ~ended), moved


def self_play(
    how: SelfPlay, seed: int, plies: int, watch: Callable[[int, Learner], None] | None = None
) -> tuple[Learner, selfplay.Verdict]:
    """Train for so many plies in all; `watch` is called after each ply of all boards, with their number."""
    learner, generator = Learner(seed, how.sign), np.random.default_rng(seed)
    state = batch.reset(RULES, BOARDS, np)
    waiting = Waiting()
    for ply in range(BOARDS, plies + 1, BOARDS):
        seen, legal = look(state)
        if how.follows == "own next turn":
            learner.remember(waiting.followed(seen, looked_at(how, legal, legal)))
        actions = epsilon_greedy(learner.values(seen), legal, how.masked, generator)
        played = batch.step(RULES, how.rewards, state, actions)
        reward, other_reward, ended = played.reward, played.other_reward, played.terminated
        if not how.last_cell_wins:
            full = played.state.ply == CELLS
            reward, other_reward = np.where(full, how.rewards.draw, reward), np.where(full, 0, other_reward)
        after, after_legal = look(played.state)
        there = looked_at(how, legal, after_legal)
        moved = Transitions(seen, actions, reward.astype(np.float32), ~ended, after, there)
        if how.follows == "opponent's turn":
            learner.remember(moved)
        else:
            learner.remember(chosen(moved, ended))
            if how.loser_told:
                learner.remember(waiting.ended(other_reward.astype(np.float32), ended))
            waiting.turn(moved, ended)
        state = batch.restart(played.state, ended)
        learner.learn()
        if watch is not None:
            watch(ply, learner)
    return learner, selfplay.evaluate(Greedy(learner, how.masked), RULES, perspective="mover")


def chosen(transitions: Transitions, which: BoolArray) -> Transitions:
    """Return those of the transitions that `which` [B] names."""
    return Transitions._make(part[which] for part in transitions)


@dataclass(frozen=True)
class Versus:
    """Say how a network learns as a single agent whose opponent is a part of its world."""

    opponent: str = "random"
    """A built-in one, or "untrained": a network that learns nothing and may play taken cells."""
    seat: Literal[0, 1, "random"] = "random"
    rewards: Rewards = SPARSE
    masked: Masked = "moves and targets"


def versus(how: Versus, seed: int, plies: int) -> tuple[Learner, selfplay.Verdict, float]:
    """Train for so many of its own plies; return also which part of the games an opponent's taken cell ended."""
    learner, generator = Learner(seed, 1), np.random.default_rng(seed)
    envs: Any = gymnasium.make_vec(
        "tictactoe:TicTacToeVersus-v0", num_envs=BOARDS, autoreset_mode="SameStep", rewards=vars(how.rewards),
        opponent="random" if how.opponent == "untrained" else how.opponent, seat=how.seat, perspective="mover",
    )  # fmt: skip
    if how.opponent == "untrained":
        envs.unwrapped.set_opponent(Greedy(Learner(seed + 1_000_000, 1), "nothing").act)
    observations, infos = envs.reset(seed=seed)
    games = spoilt = 0
    for _ in range(BOARDS, plies + 1, BOARDS):
        seen, legal = flat(observations), infos["action_mask"] == 1
        actions = epsilon_greedy(learner.values(seen), legal, how.masked, generator)
        seats = envs.unwrapped.seats
        observations, rewards, ended, _, infos = envs.step(actions)
        next_legal = infos["action_mask"] == 1 if how.masked == "moves and targets" else np.ones_like(legal)
        after = flat(observations)  # of the next game where one has ended, and there the target does not look at it
        learner.remember(Transitions(seen, actions, rewards.astype(np.float32), ~ended, after, next_legal))
        learner.learn()
        games += int(ended.sum())
        if ended.any():
            last = infos["final_info"]
            spoilt += int((ended & last["illegal"] & (last["winner"] == seats)).sum())
    return learner, selfplay.evaluate(Greedy(learner, how.masked), RULES, perspective="mover"), spoilt / games


def flat(observations: Any) -> FloatArray:
    """Return observations [B, 3, 3, 3] as the network takes them, [B, 27]."""
    flattened: FloatArray = observations.reshape(len(observations), -1).astype(np.float32)
    return flattened
