"""Make the mistakes of docs/why-does-my-dqn-not-learn.md on purpose, and evaluate exactly what they lead to.

    python -m benchmarks.symptoms --docs docs            # all of them, with the seeds 0 to 4
    python -m benchmarks.symptoms --symptoms mask next   # some of them

The learner is the recipe docs/recipes/self_play_dqn.py, with a choice wherever people make a mistake. Without a mistake
it does the same as the recipe, to the bit; a test compares them. The rows "table" train a table in a dict.
"""

import copy
import csv
import random
from collections.abc import Callable, Mapping, Sequence
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
from tictactoe import Rewards, Rules
from tictactoe.rewards import PRESETS
from tictactoe.tree import IntArray

RULES, SPARSE, SHAPED = Rules(), PRESETS["sparse"], PRESETS["shaped"]
DRAW_IS_LOSS = replace(SPARSE, draw=-1.0)
PLIES, TABLE_GAMES = 512_000, 200_000
"""Usual length of a run of the recipe and of the table."""
PROVED, ILLEGAL = "proved", "ways by its own illegal move"
TAKEN, SIZE = "states where it marks a taken cell", "size of the next value"
FINES = (-10.0, -1.0, -0.5, 0.0)
"""Rewards for a taken cell."""
Arrays: TypeAlias = Mapping[str, Any]
"""Transitions by the name of their parts, [B, ...] each."""


# The recipe, with choices


@dataclass(frozen=True)
class Choices:
    """How the recipe learns; the defaults are right."""

    opponent: str = "itself"
    """"itself", or the built-in opponent that replies inside the environment.

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
        self.plies = self.added = 0
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
        self.observations, rewards, done, _, infos = self.envs.step(actions)
        self.legal = infos["action_mask"] == 1
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
    settings |= {"seat": choices.seat, "opponent": choices.opponent}
    return gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", BOARDS, **settings)


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


# The rows of the page

Experiment: TypeAlias = Callable[[int, float], Result]
"""Trains with a seed for a part of the usual length, and returns exact numbers by name."""


def illegal_rows() -> dict[str, Experiment]:
    """Return the rows with different rewards for a taken cell."""
    rows: dict[str, Experiment] = {}
    for fine in FINES:
        choices = Choices(masked="nothing", rewards=replace(SPARSE, illegal=fine))
        rows[f"illegal {fine:g}"] = partial(learned, choices, watched=TAKEN)
    return rows


EXPERIMENTS: Mapping[str, Mapping[str, Experiment]] = {
    "table": {
        "against random, own next turn, epsilon 0.1": partial(tabular, "random", "own next turn", 0.1),
        "own next turn, epsilon 0.1": partial(tabular, "itself", "own next turn", 0.1),
        "opponent's turn, minus, epsilon 0.1": partial(tabular, "itself", "opponent's turn", 0.1),
        "opponent's turn, minus, epsilon 0.5": partial(tabular, "itself", "opponent's turn", 0.5),
        "opponent's turn, minus, epsilon 1": partial(tabular, "itself", "opponent's turn", 1.0),
    },
    "opponent": {
        "itself": partial(learned, RIGHT),
        "random": partial(learned, VERSUS),
        "heuristic": partial(learned, replace(VERSUS, opponent="heuristic")),
        "optimal": partial(learned, replace(VERSUS, opponent="optimal")),
        "random, always X": partial(learned, replace(VERSUS, seat=0)),
        "random, reward `allow` -1": partial(learned, replace(VERSUS, rewards=SHAPED)),
    },
    "next": {
        "opponent's turn, minus": partial(learned, RIGHT),
        "opponent's turn, plus": partial(learned, replace(RIGHT, sign=1)),
        "own next turn, plus": partial(learned, OWN_TURN),
        "own next turn, minus": partial(learned, replace(OWN_TURN, sign=-1)),
        "own next turn, the loser's last move left out": partial(learned, replace(OWN_TURN, loser_told=False)),
        "a win on the last cell is a draw": partial(learned, replace(RIGHT, last_cell_wins=False)),
        "a draw costs as much as a loss": partial(learned, replace(RIGHT, rewards=DRAW_IS_LOSS)),
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
        seeds: Seeds of every row.
        part: Part of the usual length of a run; less for a quick look.
        docs: Folder to write symptoms.csv into, in place of what it holds of the same symptoms.
    """
    measured_on = harness.start("Why does my DQN not learn?", seeds=seeds)
    rows: list[Sequence[object]] = [("symptom", "what", "seed", "measure", "value")]

    def measure(row: tuple[str, str], seed: int) -> Result:
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
