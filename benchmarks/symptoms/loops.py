"""Two loops as people write them: a network that plays both seats, and one that plays an opponent.

Without a mistake the first one's player is proved unbeatable. A mistake is one field of `SelfPlay` that differs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
import torch

import selfplay
from benchmarks.dqn import CELLS, DQN, FloatArray, Greedy, Settings, Transitions
from tictactoe import Rewards, Rules, batch
from tictactoe.tree import BoolArray, IntArray

RULES = Rules()
BOARDS, EPSILON = 64, 0.5
SPARSE = Rewards(allow=0.0, loss=-1.0)
Masked: TypeAlias = Literal["nothing", "moves", "moves and targets"]
"""Where taken cells are left out."""


@dataclass(frozen=True)
class SelfPlay:
    """Say how a network learns by playing both seats; the defaults are right."""

    rewards: Rewards = SPARSE
    follows: Literal["opponent's turn", "own next turn"] = "opponent's turn"
    """Position that the target looks at."""
    sign: Literal[1, -1] = -1
    """Sign of that position's value in the target."""
    masked: Masked = "moves and targets"
    stale_mask: bool = False
    """Mask the target by the cells that were empty before the move, not by those after it."""
    loser_told: bool = True
    """Remember also the move after which the opponent ended the game."""
    last_cell_wins: bool = True
    """Look for a line before looking for a full board."""

    def target_mask(self, before: BoolArray, after: BoolArray) -> BoolArray:
        """Return the cells [B, 9] among which the target takes the best, by those empty before and after the move."""
        if self.masked != "moves and targets":
            return np.ones_like(after)
        return before if self.stale_mask else after


@dataclass(frozen=True)
class Versus:
    """Say how a network learns as a single agent whose opponent is a part of its environment."""

    opponent: str = "random"
    """Built-in opponent, or "untrained": a network that learns nothing and may play taken cells."""
    seat: Literal[0, 1, "random"] = "random"
    rewards: Rewards = SPARSE
    masked: Masked = "moves and targets"


def make_dqn(seed: int, sign: int) -> DQN:
    """Return the DQN of both loops."""
    return DQN(Settings((128, 128), learning_rate=3e-3, batch_size=256, memory_size=20_000, tau=0.02, sign=sign), seed)


@torch.no_grad()
def values(dqn: DQN, observation: FloatArray) -> FloatArray:
    """Return the values [B, 9] of the target network, the steadier of the two."""
    found: FloatArray = dqn.target_network(torch.as_tensor(observation)).numpy()
    return found


def learn(dqn: DQN) -> None:
    """Do one update once the memory holds a batch."""
    if dqn.added >= dqn.settings.batch_size:
        dqn.update()
        dqn.move_target()


def epsilon_greedy(values: FloatArray, legal: BoolArray, masked: Masked, generator: np.random.Generator) -> IntArray:
    """Return a cell for each board [B], a random empty one with probability epsilon."""
    explored = np.where(legal, generator.random(values.shape, dtype=np.float32), -np.inf).argmax(axis=1)
    greedy = (values if masked == "nothing" else np.where(legal, values, -np.inf)).argmax(axis=1)
    cells: IntArray = np.where(generator.random(len(values)) < EPSILON, explored, greedy)
    return cells


def look(state: batch.State) -> tuple[FloatArray, BoolArray]:
    """Return the movers' views [B, 27] and the empty cells [B, 9]."""
    return flat(batch.observe(RULES, state, "mover")), batch.action_mask(RULES, state)


def flat(observations: Any) -> FloatArray:
    """Return observations [B, 3, 3, 3] as the network takes them, [B, 27]."""
    flattened: FloatArray = observations.reshape(len(observations), -1).astype(np.float32)
    return flattened


def select(transitions: Transitions, which: BoolArray) -> Transitions:
    """Return the transitions that `which` [B] marks."""
    return Transitions._make(part[which] for part in transitions)


class PendingMoves:
    """Hold each seat's last move on each board until its own next turn or the end of the game.

    Once a move is no longer pending, its `goes_on` is False.
    """

    def __init__(self) -> None:
        nothing = np.zeros(BOARDS, np.int64)
        observations, cells = np.zeros((BOARDS, 3 * CELLS), np.float32), np.zeros((BOARDS, CELLS), bool)
        self.own = Transitions(observations, nothing, nothing.astype(np.float32), nothing == 1, observations, cells)
        """Moves of the seat to move."""
        self.others = self.own

    def completed(self, observation: FloatArray, legal: BoolArray) -> Transitions:
        """Return the moves whose seats are to move again, in this position."""
        return select(self.own._replace(next_observation=observation, next_legal=legal), self.own.goes_on)

    def ended(self, reward: FloatArray, ended: BoolArray) -> Transitions:
        """Return the moves after which the opponent ended the game, with their seats' rewards for that."""
        last = self.others._replace(reward=self.others.reward + reward, goes_on=np.zeros_like(ended))
        return select(last, ended & self.others.goes_on)

    def turn(self, moved: Transitions, ended: BoolArray) -> None:
        """Change seats; nothing is pending in a game that has ended."""
        self.own, self.others = self.others._replace(goes_on=self.others.goes_on & ~ended), moved


def self_play(
    how: SelfPlay, seed: int, plies: int, watch: Callable[[int, DQN], None] = lambda *_: None
) -> tuple[DQN, selfplay.Verdict]:
    """Train for a number of plies; `watch` is called with the plies so far after each ply of all boards."""
    dqn, generator = make_dqn(seed, how.sign), np.random.default_rng(seed)
    state = batch.reset(RULES, BOARDS, np)
    pending = PendingMoves()
    for ply in range(BOARDS, plies + 1, BOARDS):
        seen, legal = look(state)
        if how.follows == "own next turn":
            dqn.remember(pending.completed(seen, how.target_mask(legal, legal)))
        actions = epsilon_greedy(values(dqn, seen), legal, how.masked, generator)
        played = batch.step(RULES, how.rewards, state, actions)
        reward, other_reward, ended = played.reward, played.other_reward, played.terminated
        if not how.last_cell_wins:
            full = played.state.ply == CELLS
            reward, other_reward = np.where(full, how.rewards.draw, reward), np.where(full, 0, other_reward)
        after, after_legal = look(played.state)
        moved = Transitions(
            seen, actions, reward.astype(np.float32), ~ended, after, how.target_mask(legal, after_legal)
        )
        if how.follows == "opponent's turn":
            dqn.remember(moved)
        else:
            dqn.remember(select(moved, ended))
            if how.loser_told:
                dqn.remember(pending.ended(other_reward.astype(np.float32), ended))
            pending.turn(moved, ended)
        state = batch.restart(played.state, ended)
        learn(dqn)
        watch(ply, dqn)
    player = Greedy(dqn.target_network, masked=how.masked != "nothing")
    return dqn, selfplay.evaluate(player, RULES, perspective="mover")


def versus(how: Versus, seed: int, plies: int) -> tuple[selfplay.Verdict, float]:
    """Train for a number of the network's own plies; return also the part of the games that the opponent spoilt.

    It spoils a game by a taken cell.
    """
    dqn, generator = make_dqn(seed, 1), np.random.default_rng(seed)
    envs: Any = gymnasium.make_vec(
        "tictactoe:TicTacToeVersus-v0", num_envs=BOARDS, autoreset_mode="SameStep", rewards=vars(how.rewards),
        opponent="random" if how.opponent == "untrained" else how.opponent, seat=how.seat, perspective="mover",
    )  # fmt: skip
    if how.opponent == "untrained":
        envs.unwrapped.set_opponent(Greedy(make_dqn(seed + 1_000_000, 1).target_network, masked=False).act)
    observations, infos = envs.reset(seed=seed)
    games = spoilt = 0
    for _ in range(BOARDS, plies + 1, BOARDS):
        seen, legal = flat(observations), infos["action_mask"] == 1
        actions = epsilon_greedy(values(dqn, seen), legal, how.masked, generator)
        seats = envs.unwrapped.seats
        observations, rewards, ended, _, infos = envs.step(actions)
        next_legal = infos["action_mask"] == 1 if how.masked == "moves and targets" else np.ones_like(legal)
        # Where a game has ended the next one's observation follows, and the target does not look at it.
        after = flat(observations)
        dqn.remember(Transitions(seen, actions, rewards.astype(np.float32), ~ended, after, next_legal))
        learn(dqn)
        games += int(ended.sum())
        if ended.any():
            last = infos["final_info"]
            spoilt += int((ended & last["illegal"] & (last["winner"] == seats)).sum())
    player = Greedy(dqn.target_network, masked=how.masked != "nothing")
    return selfplay.evaluate(player, RULES, perspective="mover"), spoilt / games
