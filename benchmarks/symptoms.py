"""Make the mistakes of docs/why-does-my-dqn-not-learn.md on purpose, and evaluate exactly what they lead to.

    python -m benchmarks.symptoms --docs docs            # all of them, with the seeds 0 to 4
    python -m benchmarks.symptoms --symptoms mask next   # some of them

The learner is the recipe docs/recipes/self_play_dqn.py, with a choice wherever people make a mistake. Without a mistake
it does the same as the recipe, to the bit; a test compares them. Rows named "exact" are computed by value iteration,
without learning, and the rows of flags are `python train.py`.
"""

import copy
import csv
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
import torch
import tyro
from torch import Tensor, nn

import selfplay
from benchmarks import data, harness
from benchmarks.data import Result
from benchmarks.learning.learners import configuration, ties_with_itself
from docs.recipes.self_play_dqn import (
    BATCH_SIZE,
    BOARDS,
    EPSILON,
    GAMMA,
    LEARNING_RATE,
    LEARNING_STARTS,
    MEMORY_SIZE,
    TAU,
    QNetwork,
)
from selfplay.files import write_csv
from tictactoe import Rewards, Rules, batch
from tictactoe.rewards import PRESETS
from tictactoe.tree import BoolArray, FloatArray, IntArray, game_tree

RULES, SPARSE, SHAPED = Rules(), PRESETS["sparse"], PRESETS["shaped"]
DRAW_IS_LOSS = replace(SPARSE, draw=-1.0)
PLIES, DQN_PLIES, TABLE_GAMES = 512_000, 1_500_000, 200_000
"""Usual length of a run of the recipe, of our DQN and of the table."""
PROVED, ILLEGAL = "proved", "ways by its own illegal move"
TAKEN, SIZE = "states in which it marks a taken cell", "size of what the target takes"
FORGETS, NO_AVERAGE = "--learning-rate-hold 0", "--hard-update 10"
PLAIN = "--symmetry none --counterexamples 0"
"""Flags of our DQN: a learning rate that never falls, a player that is the network itself, and plain self-play."""
FINES = (-10.0, -1.0, -0.5, 0.0)
"""Rewards for a taken cell."""
Arrays: TypeAlias = Mapping[str, Any]
"""Transitions by the name of their parts, [B, ...] each."""


# The recipe, with choices


@dataclass(frozen=True)
class Choices:
    """How the recipe learns; the defaults are right."""

    opponent: str = "itself"
    """"itself", or who replies inside the environment: a built-in opponent, or an "untrained" network.

    With an opponent inside, the next observation is the learner's own next turn."""
    seat: Literal[0, 1, "random"] = "random"
    """The learner's, if the opponent is inside the environment."""
    rewards: Rewards = SPARSE
    follows: Literal["opponent's turn", "own next turn"] = "opponent's turn"
    """Position that the target looks at in self-play."""
    sign: Literal[1, -1] = -1
    """Sign of that position's value in the target."""
    masked: Literal["nothing", "moves", "moves and targets"] = "moves and targets"
    """Where taken cells are left out."""
    stale_mask: bool = False
    """Mask the target by the cells that were empty before the move, not by those after it."""
    loser_told: bool = True
    """Remember also the move after which the opponent ended the game."""
    last_cell_wins: bool = True
    """Look for a line before looking for a full board."""


RIGHT = Choices()
OWN_TURN = Choices(follows="own next turn", sign=1)
VERSUS = Choices(opponent="random", sign=1)


class Training:
    """The recipe while it trains: one ply on every board at a time."""

    def __init__(self, choices: Choices, seed: int) -> None:
        torch.manual_seed(seed)
        self.choices, self.generator = choices, np.random.default_rng(seed)
        self.network = QNetwork().layers
        self.target_network = copy.deepcopy(self.network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), LEARNING_RATE)
        self.envs = make_envs(choices)
        self.observations, infos = self.envs.reset(seed=seed)
        self.legal = infos["action_mask"] == 1
        self.plies = self.added = self.games = self.spoilt = 0
        self.waiting: Arrays | None = None
        """In self-play with the own next turn, the last moves, whose next turn is after the opponents' replies."""
        self.memory: dict[str, Any] = {
            "observation": np.zeros((MEMORY_SIZE, 3, 3, 3), np.int8),
            "action": np.zeros(MEMORY_SIZE, np.int64),
            "reward": np.zeros(MEMORY_SIZE, np.float32),
            "next_observation": np.zeros((MEMORY_SIZE, 3, 3, 3), np.int8),
            "next_legal": np.zeros((MEMORY_SIZE, 9), bool),
            "done": np.zeros(MEMORY_SIZE, bool),
        }

    def step(self) -> None:
        """Move once on each board, remember it, and learn from a batch."""
        moved = self.move()
        self.plies += BOARDS
        if self.choices.follows == "opponent's turn" or self.choices.opponent != "itself":
            self.remember(moved)
        else:
            if self.waiting is not None:
                self.remember(own_next_turn(self.waiting, moved, self.choices))
            self.waiting = moved
        if self.plies >= LEARNING_STARTS:
            self.update()

    def move(self) -> Arrays:
        """Choose a cell on each board, epsilon-greedily, and return the transitions."""
        choices, observations, legal = self.choices, self.observations, self.legal
        values = action_values(self.network, observations).numpy()
        greedy = (values if choices.masked == "nothing" else np.where(legal, values, -np.inf)).argmax(axis=1)
        random_cell = (legal * self.generator.random((BOARDS, 9))).argmax(axis=1)
        actions = np.where(self.generator.random(BOARDS) < EPSILON, random_cell, greedy)
        seats = getattr(self.envs.unwrapped, "seats", None)
        self.observations, rewards, done, _, infos = self.envs.step(actions)
        self.legal = infos["action_mask"] == 1
        if seats is not None and done.any():
            last = infos["final_info"]
            self.games += int(done.sum())
            self.spoilt += int((done & last["illegal"] & (last["winner"] == seats)).sum())
        if not choices.last_cell_wins:
            full = observations[..., 0].sum(axis=(1, 2)) == 1
            rewards = np.where(full, choices.rewards.draw, rewards)
        next_legal = np.ones_like(legal)
        if choices.masked == "moves and targets":
            next_legal = legal if choices.stale_mask else self.legal
        # Where a game has ended the next one's observation follows, and the target does not look at it.
        return {
            "observation": observations,
            "action": actions,
            "reward": rewards,
            "next_observation": self.observations,
            "next_legal": next_legal,
            "done": done,
        }

    def remember(self, new: Arrays) -> None:
        """Put transitions in the place of the oldest ones."""
        places = (self.added + np.arange(len(new["action"]))) % MEMORY_SIZE
        for name, part in self.memory.items():
            part[places] = new[name]
        self.added += len(places)

    def update(self) -> None:
        """Move the values of a batch towards their targets, and the target network towards the network."""
        rows = self.generator.integers(min(self.added, MEMORY_SIZE), size=BATCH_SIZE)
        seen = {name: torch.from_numpy(part[rows]) for name, part in self.memory.items()}
        best = best_values(self.target_network, seen["next_observation"], seen["next_legal"])
        target = seen["reward"] + self.choices.sign * GAMMA * best * ~seen["done"]
        value = self.network(seen["observation"].float()).gather(1, seen["action"][:, None]).squeeze(1)
        loss = nn.functional.mse_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target_network.parameters(), self.network.parameters(), strict=True):
                slow.lerp_(fast, TAU)

    def evaluate(self) -> selfplay.Verdict:
        """Evaluate the target network, with the mask with which it moves."""
        player = Greedy(self.target_network, masked=self.choices.masked != "nothing")
        return selfplay.evaluate(player, RULES, perspective="mover")


def make_envs(choices: Choices) -> Any:
    """Return the boards, with the opponent inside unless the learner plays both seats."""
    settings: dict[str, Any] = {"perspective": "mover", "rewards": choices.rewards, "autoreset_mode": "SameStep"}
    if choices.opponent == "itself":
        return gymnasium.make_vec("tictactoe:TicTacToe-v0", BOARDS, **settings)
    settings["seat"] = choices.seat
    if choices.opponent != "untrained":
        return gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", BOARDS, opponent=choices.opponent, **settings)
    envs: Any = gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", BOARDS, **settings)
    envs.unwrapped.set_opponent(Greedy(QNetwork().layers, masked=False).act)
    return envs


def own_next_turn(moved: Arrays, replied: Arrays, choices: Choices) -> Arrays:
    """Return moves with the position after the opponents' replies, or with the loss that these have brought."""
    goes_on = ~moved["done"]
    lost = goes_on & (replied["reward"] == choices.rewards.win)
    found = {
        **moved,
        "reward": np.where(lost, choices.rewards.loss, moved["reward"]),
        "next_observation": replied["next_observation"],
        "next_legal": replied["next_legal"],
        "done": moved["done"] | replied["done"],
    }
    if choices.loser_told:
        return found
    kept = ~(goes_on & replied["done"])
    return {name: part[kept] for name, part in found.items()}


@torch.no_grad()
def action_values(network: nn.Module, observations: Any) -> Tensor:
    """Return the values [B, 9] of observations [B, 3, 3, 3]."""
    values: Tensor = network(torch.as_tensor(observations).float())
    return values


def best_values(network: nn.Module, observations: Any, legal: Tensor) -> Tensor:
    """Return the highest value [B] among the legal cells [B, 9]."""
    return action_values(network, observations).masked_fill(~legal, -torch.inf).amax(dim=1)


class Greedy:
    """The player that marks the cell of the highest value, if `masked` among the empty ones."""

    def __init__(self, network: nn.Module, masked: bool) -> None:
        self.network, self.masked = network, masked

    def act(self, observation: Any, action_mask: Any = None) -> IntArray:
        """Return cells [B] for mover's views [B, 3, 3, 3]; plane 0 says which are empty."""
        del action_mask
        observations = torch.as_tensor(np.asarray(observation))
        values = action_values(self.network, observations)
        if self.masked:
            values = values.masked_fill(observations[..., 0].flatten(1) == 0, -torch.inf)
        cells: IntArray = values.argmax(dim=1).numpy()
        return cells


# What is measured of learners


def numbers(verdict: selfplay.Verdict, more: Mapping[str, float]) -> Result:
    """Return what every row says of a player."""
    return {
        PROVED: verdict.unbeatable,
        "ways by a line as X": verdict.first.losses,
        "ways by a line as O": verdict.second.losses,
        ILLEGAL: verdict.first.illegal + verdict.second.illegal,
        **more,
    }


def learned(choices: Choices, seed: int, part: float, watched: str = "") -> Result:
    """Train the recipe; measure what is `watched` after a quarter of the run and at its end."""
    training = Training(choices, seed)
    plies = round(PLIES * part)
    if choices.opponent != "itself":
        plies //= 2  # the opponent plays the other half
    more = {}
    looks = {plies // 4: "at a quarter", plies: "at the end"}
    while training.plies + BOARDS <= plies:
        training.step()
        for at, when in looks.items():
            if watched and training.plies <= at < training.plies + BOARDS:
                more[f"{watched}, {when}"] = taken_chosen(training) if watched == TAKEN else target_size(training)
    verdict = training.evaluate()
    if choices.opponent != "itself":
        for mark, seat in (("X", verdict.first), ("O", verdict.second)):
            more[f"% not lost to random as {mark}"] = 100 * (1 - (seat.loss or 0))
        if training.spoilt:
            more["% of games the opponent spoilt"] = 100 * training.spoilt / training.games
    return numbers(verdict, more)


def taken_chosen(training: Training) -> float:
    """Return in how many of the 4,520 positions a taken cell has the highest value."""
    player = Greedy(training.target_network, masked=False)
    return selfplay.evaluate(player, RULES, perspective="mover").illegal_states or 0


def target_size(training: Training) -> float:
    """Return the mean absolute value that targets have taken from the latest 2,000 positions in the memory."""
    latest = (training.added - 1 - np.arange(2_000)) % MEMORY_SIZE
    rows = latest[~training.memory["done"][latest]]
    legal = torch.from_numpy(training.memory["next_legal"][rows])
    best = best_values(training.target_network, training.memory["next_observation"][rows], legal)
    return float(best.abs().mean())


def records(flags: str, seed: int, part: float) -> Iterator[selfplay.Record]:
    """Train our DQN by flags of `python train.py`, also past its first proof; yield a record at each evaluation."""
    config = configuration(f"{flags} --stop never --total-steps {round(DQN_PLIES * part)}", seed)
    return selfplay.training(config)


def past_proof(flags: str, seed: int, part: float) -> Result:
    """Train our DQN by other flags, and count what becomes of its first proof."""
    found = list(records(flags, seed, part))
    beaten = [record.verdict.ways_to_beat for record in found]
    if 0 not in beaten:
        return numbers(found[-1].verdict, {"plies to the first proof": np.inf})
    first = beaten.index(0)
    later = np.array(beaten[first:])
    more = {
        "plies to the first proof": found[first].steps,
        "evaluations from then on, % not proved": 100 * float(np.mean(later > 0)),
        "most ways to beat it then": int(later.max()),
    }
    return numbers(found[-1].verdict, more)


def ties(flags: str, seed: int, part: float) -> Result:
    """Count how often our DQN ties with itself while it learns, and can be beaten all the same."""
    beaten = []
    for record in records(flags, seed, part):
        if ties_with_itself(record.player):
            beaten.append(record.verdict.ways_to_beat)
    more = {
        "evaluations at which it ties with itself": len(beaten),
        "of these, it could be beaten at": sum(games > 0 for games in beaten),
        "most ways to beat it then": max(beaten, default=0),
    }
    return numbers(record.verdict, more)


# A table, as most people write it first

CELLS = [RULES.cells_of(marks) for marks in range(512)]
HAS_LINE = [RULES.has_line(marks) for marks in range(512)]
FULL, STEP, TABLE_GAMMA = 511, 0.1, 0.9
Board: TypeAlias = tuple[int, int]
"""Bitboards of the mover and of the opponent."""


class Table(dict[Board, dict[int, float]]):
    """The value of each empty cell to the mover, by position; 0 until it is learned."""

    def __missing__(self, board: Board) -> dict[int, float]:
        """Return the new values of a position."""
        self[board] = dict.fromkeys(CELLS[FULL & ~(board[0] | board[1])], 0.0)
        return self[board]

    def learn(self, board: Board, cell: int, target: float) -> None:
        """Move a value a step towards a target."""
        self[board][cell] += STEP * (target - self[board][cell])

    def best(self, board: Board) -> float:
        """Return the highest value of a position."""
        return max(self[board].values())

    def choose(self, board: Board) -> int:
        """Return the cell of the highest value."""
        values = self[board]
        return max(values, key=values.__getitem__)


def play_and_learn(
    opponent: Literal["random", "itself"],
    follows: Literal["own next turn", "opponent's turn"],
    epsilon: float,
    games: int,
    seed: int,
) -> Table:
    """Play some games and learn from each ply of the learner's; against "random" it has the seats in turn."""
    generator, table = random.Random(seed), Table()
    own_turn = follows == "own next turn"
    for game in range(games):
        mover = other = 0
        last: list[tuple[Board, int] | None] = [None, None]  # each seat's last position and cell
        for ply in range(9):
            seat, board = ply % 2, (mover, other)
            learns = opponent == "itself" or seat == game % 2
            before, rivals_before = last[seat], last[1 - seat]
            if learns and own_turn and before is not None:
                table.learn(*before, TABLE_GAMMA * table.best(board))
            if not learns or generator.random() < epsilon:
                cell = generator.choice(list(table[board]))
            else:
                cell = table.choose(board)
            mover |= 1 << cell
            won = HAS_LINE[mover]
            if won or mover | other == FULL:
                if learns:
                    table.learn(board, cell, float(won))
                if own_turn and rivals_before is not None:
                    table.learn(*rivals_before, -float(won))
                break
            if learns and not own_turn:
                table.learn(board, cell, -TABLE_GAMMA * table.best((other, mover)))
            if learns:
                last[seat] = board, cell
            mover, other = other, mover
    return table


def tabular(
    opponent: Literal["random", "itself"],
    follows: Literal["own next turn", "opponent's turn"],
    epsilon: float,
    seed: int,
    part: float,
) -> Result:
    """Train a table, and evaluate its greedy player."""
    table = play_and_learn(opponent, follows, epsilon, round(TABLE_GAMES * part), seed)

    def agent(observation: Any) -> int:
        planes = np.asarray(observation).reshape(9, 3).astype(np.int64)
        mine, theirs = (int(planes[:, plane] @ (1 << np.arange(9))) for plane in (1, 2))
        return table.choose((mine, theirs))

    return numbers(selfplay.evaluate(agent, RULES, perspective="mover"), {})


# Exact values. A game lasts nine plies at most, so nine sweeps over all positions settle every value.

TREE = game_tree(RULES)
DECISIONS = TREE.decisions
STATE = batch.State(*(marks[DECISIONS].astype(np.int64) for marks in (TREE.mover, TREE.opponent, TREE.ply)))
OUTCOMES = [batch.play(RULES, STATE, np.full(len(DECISIONS), cell)) for cell in range(RULES.cells)]
LEGAL = np.stack([~outcome.illegal for outcome in OUTCOMES], axis=1)
"""[4520, 9], as are the next four."""
GOES_ON = np.stack([~outcome.terminated for outcome in OUTCOMES], axis=1)
WINS = np.stack([outcome.win for outcome in OUTCOMES], axis=1)
DRAWS = np.stack([outcome.draw for outcome in OUTCOMES], axis=1)
AFTER: Any = np.stack([TREE.find(outcome.state.mover, outcome.state.opponent) for outcome in OUTCOMES], axis=1)
"""Number of the position that a cell leads to."""


def paid(rewards: Rewards) -> FloatArray:
    """Return the environment's reward of each cell, [4520, 9]."""
    return np.stack([np.asarray(batch.reward(rewards, outcome)) for outcome in OUTCOMES], axis=1)


def paid_on_a_full_board_last() -> FloatArray:
    """Return 1 for each cell that makes a line, unless it fills the board."""
    return np.where(WINS & (STATE.ply[:, None] < RULES.cells - 1), 1.0, 0.0)


def best_of(values: FloatArray, legal: BoolArray) -> FloatArray:
    """Return the highest value of each position, 0 of those that are finished."""
    best = np.zeros(len(TREE))
    best[DECISIONS] = np.where(legal, values, -np.inf).max(axis=1)
    return best


def values_against_best(rewards: FloatArray, gamma: float = 1.0, barred: bool = True) -> FloatArray:
    """Return the value of each cell, [4520, 9], if the opponent pays what a seat gets and replies best.

    Taken cells are `barred`, or end the game with their reward.
    """
    legal = LEGAL if barred else np.ones_like(LEGAL)
    values = np.zeros(LEGAL.shape)
    for _ in range(RULES.cells):
        values = rewards - gamma * GOES_ON * best_of(values, legal)[AFTER]
    return np.where(legal, values, -np.inf)


def values_against_random(rewards: FloatArray, loss: float) -> FloatArray:
    """Return the value of each cell, [4520, 9], against random replies; a reply that completes a line pays `loss`."""
    chances = LEGAL / LEGAL.sum(axis=1, keepdims=True)
    reply_pays = np.where(WINS, loss, np.where(DRAWS, rewards, 0.0))
    values = np.zeros(LEGAL.shape)
    for _ in range(RULES.cells):
        replied = np.zeros(len(TREE))
        replied[DECISIONS] = (chances * (reply_pays + GOES_ON * best_of(values, LEGAL)[AFTER])).sum(axis=1)
        values = rewards + GOES_ON * replied[AFTER]
    return np.where(LEGAL, values, -np.inf)


class EveryBestMove:
    """The player that marks each of the best cells with the same probability, so that all of them are followed."""

    def __init__(self, values: FloatArray) -> None:
        best = values > values.max(axis=1, keepdims=True) - 1e-9
        self.chances = best / best.sum(axis=1, keepdims=True)

    def probabilities(self, observation: Any, action_mask: Any = None) -> FloatArray:
        """Return the probability of each cell, [B, 9], for mover's views [B, 3, 3, 3]."""
        del action_mask
        planes = np.asarray(observation).reshape(-1, RULES.cells, 3).astype(np.int64)
        mine, theirs = (planes[..., plane] @ (1 << np.arange(RULES.cells)) for plane in (1, 2))
        chances: FloatArray = self.chances[np.searchsorted(DECISIONS, TREE.find(mine, theirs))]
        return chances


def exact(values: Callable[[], FloatArray], _seed: int, _part: float, opening: bool = False) -> Result:
    """Evaluate the player of every best cell, and say what the `opening` is worth."""
    found = values()
    verdict = selfplay.evaluate(EveryBestMove(found), RULES, perspective="mover")
    more: dict[str, float] = {}
    if verdict.illegal_states:
        more[f"{TAKEN}, at the end"] = verdict.illegal_states
    if opening:
        empty_board = found[np.searchsorted(DECISIONS, TREE.find(np.array([0]), np.array([0])))[0]]
        for name, cell in (("corner", 0), ("edge", 1), ("centre", 4)):
            more[f"worth of the {name}"] = float(empty_board[cell])
    return numbers(verdict, more)


# The rows of the page

Experiment: TypeAlias = Callable[[int, float], Result]
"""Trains with a seed for a part of the usual length, and returns exact numbers by name."""


def illegal_rows() -> dict[str, Experiment]:
    """Return the rows with different rewards for a taken cell."""
    rows: dict[str, Experiment] = {}
    for fine in FINES:
        choices = Choices(masked="nothing", rewards=replace(SPARSE, illegal=fine))
        rows[f"illegal {fine:g}"] = partial(learned, choices, watched=TAKEN)
    for fine in FINES:
        rewards = paid(replace(SPARSE, illegal=fine))
        rows[f"exact, illegal {fine:g}"] = partial(exact, partial(values_against_best, rewards, barred=False))
    return rows


EXPERIMENTS: Mapping[str, Mapping[str, Experiment]] = {
    "worse": {
        "`python train.py`": partial(past_proof, ""),
        **{f"`{flags}`": partial(past_proof, flags) for flags in (FORGETS, NO_AVERAGE, f"{NO_AVERAGE} {FORGETS}")},
        f"the same and `{PLAIN}`": partial(past_proof, f"{NO_AVERAGE} {FORGETS} {PLAIN}"),
    },
    "ties": {f"`{PLAIN}`": partial(ties, PLAIN)},
    "table": {
        "own next turn, random opponent, epsilon 0.1": partial(tabular, "random", "own next turn", 0.1),
        "own next turn, plays itself, epsilon 0.1": partial(tabular, "itself", "own next turn", 0.1),
        "opponent's turn with a minus, plays itself, epsilon 0.1": partial(tabular, "itself", "opponent's turn", 0.1),
        "opponent's turn with a minus, plays itself, epsilon 0.5": partial(tabular, "itself", "opponent's turn", 0.5),
        "opponent's turn with a minus, plays itself, epsilon 1": partial(tabular, "itself", "opponent's turn", 1.0),
    },
    "opponent": {
        "itself": partial(learned, RIGHT),
        "random": partial(learned, VERSUS),
        "heuristic": partial(learned, replace(VERSUS, opponent="heuristic")),
        "optimal": partial(learned, replace(VERSUS, opponent="optimal")),
        "random, always X": partial(learned, replace(VERSUS, seat=0)),
        "untrained network": partial(learned, replace(VERSUS, opponent="untrained", masked="nothing")),
    },
    "next": {
        "opponent's turn, minus": partial(learned, RIGHT),
        "opponent's turn, plus": partial(learned, replace(RIGHT, sign=1)),
        "own next turn, plus": partial(learned, OWN_TURN),
        "own next turn, minus": partial(learned, replace(OWN_TURN, sign=-1)),
        "own next turn, the loser's last move left out": partial(learned, replace(OWN_TURN, loser_told=False)),
    },
    "block": {
        "`allow` 0, random opponent": partial(learned, VERSUS),
        "`allow` -1, random opponent": partial(learned, replace(VERSUS, rewards=SHAPED)),
        "exact, only the next reward counts, `allow` 0": partial(
            exact, partial(values_against_best, paid(SPARSE), gamma=0.0)
        ),
        "exact, only the next reward counts, `allow` -1": partial(
            exact, partial(values_against_best, paid(SHAPED), gamma=0.0)
        ),
        "exact, the future counts, `allow` 0": partial(exact, partial(values_against_best, paid(SPARSE))),
        "exact, the future counts, `allow` -1": partial(exact, partial(values_against_best, paid(SHAPED))),
    },
    "illegal": illegal_rows(),
    "mask": {
        "moves and targets": partial(learned, RIGHT, watched=SIZE),
        "moves only": partial(learned, replace(RIGHT, masked="moves"), watched=SIZE),
        "moves only, own next turn": partial(learned, replace(OWN_TURN, masked="moves"), watched=SIZE),
        "moves, and targets by the mask before the move": partial(
            learned, replace(RIGHT, stale_mask=True), watched=SIZE
        ),
    },
    "draw": {
        "exact, against the best, draw 0": partial(exact, partial(values_against_best, paid(SPARSE)), opening=True),
        "exact, against the best, draw -1": partial(
            exact, partial(values_against_best, paid(DRAW_IS_LOSS)), opening=True
        ),
        "exact, against random, draw 0": partial(
            exact, partial(values_against_random, paid(SPARSE), SPARSE.loss), opening=True
        ),
        "exact, against random, draw -1": partial(
            exact, partial(values_against_random, paid(DRAW_IS_LOSS), DRAW_IS_LOSS.loss), opening=True
        ),
        "learned, draw -1": partial(learned, replace(RIGHT, rewards=DRAW_IS_LOSS)),
    },
    "last": {
        "exact": partial(exact, partial(values_against_best, paid_on_a_full_board_last())),
        "learned": partial(learned, replace(RIGHT, last_cell_wins=False)),
    },
}


def table_of(results: Mapping[str, Sequence[Result]]) -> list[list[str]]:
    """Return a symptom's table; taken cells have a column only where they ended some game."""
    shown = results
    if not any(result[ILLEGAL] for of_row in results.values() for result in of_row):
        shown = {
            what: [{name: value for name, value in result.items() if name != ILLEGAL} for result in of_row]
            for what, of_row in results.items()
        }
    return harness.summary(shown)


def read(docs: Path) -> dict[str, dict[str, list[Result]]]:
    """Return what docs/symptoms.csv holds, by symptom and row: a result for each seed."""
    found: dict[str, dict[str, list[Result]]] = {}
    with (docs / "symptoms.csv").open(newline="") as file:
        for (symptom, what, _), lines in groupby(csv.DictReader(file), itemgetter("symptom", "what", "seed")):
            result: Result = {line["measure"]: float(line["value"]) for line in lines}
            result[PROVED] = result[PROVED] == 1
            found.setdefault(symptom, {}).setdefault(what, []).append(result)
    return found


def main(
    symptoms: tuple[str, ...] = tuple(EXPERIMENTS),
    seeds: tuple[int, ...] = tuple(range(5)),
    part: float = 1.0,
    docs: Path | None = None,
) -> None:
    """Run the experiments, and print a table for each symptom as it ends.

    Args:
        symptoms: Which of them.
        seeds: Seeds of every row but those that are exact.
        part: Part of the usual length of a run; less for a quick look.
        docs: Folder to write symptoms.csv into, in place of what it holds of the same symptoms.
    """
    measured_on = harness.start("Why does my DQN not learn?", seeds=seeds)
    rows: list[Sequence[object]] = [("symptom", "what", "seed", "measure", "value")]

    def measure(row: tuple[str, str], seed: int) -> Result:
        if row[1].startswith("exact") and seed != seeds[0]:  # which no seed changes
            return {}
        result = EXPERIMENTS[row[0]][row[1]](seed, part)
        rows.extend((*row, seed, name, round(float(value), 4)) for name, value in result.items())
        return result

    for symptom in symptoms:
        results = harness.in_turns(product([symptom], EXPERIMENTS[symptom]), seeds, measure)
        print(harness.markdown(table_of({what: of_row for (_, what), of_row in results.items()})))
    if docs is not None:
        path = docs / "symptoms.csv"
        if path.exists():
            with path.open(newline="") as file:
                for *row, value in list(csv.reader(file))[1:]:
                    if row[0] not in symptoms:
                        rows.append((*row, float(value)))
        write_csv(path, rows)
        data.save(docs, "symptoms", dict.fromkeys(symptoms, ()), measured_on)


if __name__ == "__main__":
    tyro.cli(main)
