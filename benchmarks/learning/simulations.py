"""Count how many simulations of a search a learned player needs until it is proved unbeatable, as it learns.

    python -m benchmarks.learning.simulations --docs docs

AlphaZero is the recipe docs/recipes/alphazero.py, the DQN is `python train.py --mask`. Both search with the recipe's
PUCT. The DQN has no policy, so the softmax of its action values takes its place, and the value of a position is the
highest of them, from -1 to 1. Without a simulation the player is the network alone. The search adds no random numbers,
so the moves of all decision states say everything about a player, and each player is judged exactly. Plain lookahead
of some plies looks at every line of play to that depth, and values its ends by the same network.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import tyro
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import selfplay
from benchmarks import data, harness
from benchmarks.data import Result
from docs.recipes import alphazero
from selfplay import DQNConfig, pictures
from selfplay.files import write_csv
from selfplay.learner import Learner, copied_player
from selfplay.learning import loop
from selfplay.learning.algorithms import new_learner
from selfplay.settings import CustomConfig
from tictactoe import Rules, batch
from tictactoe.planes import words
from tictactoe.tree import FloatArray, IntArray, game_tree

TITLE = "Simulations until proved"
RULES = Rules()
SIMULATIONS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
BOARDS = 1_024
"""Searches at once."""

UNTIL_PROVED = {"PUCT": "simulations until proved", "lookahead": "plies of lookahead until proved"}
"""For each kind of search what it takes until no larger amount of it is beaten."""

Algorithm = Literal["AlphaZero", "DQN"]
UNITS: Mapping[Algorithm, str] = {"AlphaZero": "games", "DQN": "plies"}
GAMES = 3 * alphazero.BOARDS
"""Games of AlphaZero between two evaluations; games here are short, as they begin after some random moves."""


class Moves:
    """A player that looks up its move in every decision state."""

    def __init__(self, cells: IntArray) -> None:
        self.cells = np.zeros(len(game_tree(RULES)), np.int64)
        self.cells[game_tree(RULES).decisions] = cells

    def act(self, observation: IntArray, action_mask: IntArray | None = None) -> IntArray:
        """Return the cells [B] for observations [B, R, C, 3] of the mover."""
        del action_mask
        marks = observation.reshape(len(observation), RULES.cells, 3)
        moves: IntArray = self.cells[game_tree(RULES).find(words(marks[..., 1]), words(marks[..., 2]))]
        return moves


class Snapshot(NamedTuple):
    """A player during its training."""

    trained: str
    """How long it was trained, in the unit of its learner."""
    plies: int
    """Moves that it was trained on."""
    player: Any


def snapshots(algorithm: Algorithm, seed: int, evaluations: int) -> Iterator[Snapshot]:
    """Train, and yield the player before the first step, and at evaluations 1, 2, 4 and so on."""
    learner, config = training(algorithm, seed, evaluations)
    yield Snapshot("untrained", 0, copied_player(learner))
    for record in loop.train(learner, config):
        if record.number.bit_count() == 1:
            plies = getattr(learner, "plies", learner.steps)
            yield Snapshot(f"{record.steps:,} {UNITS[algorithm]}", plies, copied_player(learner))


def training(algorithm: Algorithm, seed: int, evaluations: int) -> tuple[Learner, DQNConfig | CustomConfig]:
    """Return an untrained learner, and the settings of its training."""
    if algorithm == "DQN":
        plies = evaluations * DQNConfig.eval_every
        of_dqn = DQNConfig(mask=True, seed=seed, total_steps=plies, stop="never", device="cpu")
        return new_learner(of_dqn), of_dqn
    games = evaluations * GAMES
    return alphazero.AlphaZero(seed), CustomConfig(seed=seed, total_steps=games, eval_every=GAMES, stop="never")


def valued_by(algorithm: Algorithm, player: Any, state: batch.State) -> tuple[FloatArray, FloatArray]:
    """Return the policy [B, A], -inf for taken cells, and the value [B], by a player's network."""
    if algorithm == "AlphaZero":
        return alphazero.valuation(RULES, player.network)(state)
    empty = batch.action_mask(RULES, state)
    values = np.where(empty, player.q_values(batch.observe(RULES, state, "mover")), -np.inf).astype(np.float64)
    policy = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    return np.where(empty, policy, -np.inf), values.max(axis=1).clip(-1, 1)


def known(algorithm: Algorithm, player: Any) -> tuple[FloatArray, FloatArray]:
    """Return the policy [S, A] and the value [S] of all states: by a player's network, or the result of a game."""
    tree = game_tree(RULES)
    policy, value = np.zeros((len(tree), RULES.cells)), tree.result.astype(np.float64)
    policy[tree.decisions], value[tree.decisions] = valued_by(algorithm, player, decision_states())
    return policy, value


def decision_states() -> batch.State:
    """Return all decision states, in the order of the tree."""
    tree = game_tree(RULES)
    return batch.State(*(part[tree.decisions].astype(np.int64) for part in (tree.mover, tree.opponent, tree.ply)))


def searched(roots: batch.State, policy: FloatArray, value: FloatArray, most: int) -> dict[int, IntArray]:
    """Return the moves [B] after each number of simulations up to `most`; policy and value are those of all states."""

    def valued(state: batch.State) -> tuple[FloatArray, FloatArray]:
        states = game_tree(RULES).find(state.mover, state.opponent)
        return policy[states], value[states]

    moves: dict[int, list[IntArray]] = {simulations: [] for simulations in SIMULATIONS if simulations <= most}
    for part in np.array_split(np.arange(len(roots.ply)), math.ceil(len(roots.ply) / BOARDS)):
        search = alphazero.Search(RULES, batch.State(*(field[part] for field in roots)), valued, most)
        for simulations in range(most + 1):
            if simulations:
                search.simulate()
            if simulations in moves:
                moves[simulations].append(search.preferences().argmax(axis=1))
    return {simulations: np.concatenate(parts) for simulations, parts in moves.items()}


def looked_ahead(policy: FloatArray, value: FloatArray) -> dict[int, IntArray]:
    """Return the moves in all decision states after plain lookahead of each number of plies, from 0 to all."""
    tree = game_tree(RULES)
    after = tree.successors(tree.decisions)
    moves: dict[int, IntArray] = {0: policy[tree.decisions].argmax(axis=1)}
    for plies in range(1, RULES.cells + 1):
        worth = np.where(after < 0, -np.inf, -value[after])
        moves[plies] = worth.argmax(axis=1)
        value = value.copy()
        value[tree.decisions] = worth.max(axis=1)
    return moves


def judged(algorithm: Algorithm, player: Any, most: int) -> list[Result]:
    """Return the exact verdict on a player with each number of simulations, and with each lookahead."""
    policy, value = known(algorithm, player)
    moves = {"PUCT": searched(decision_states(), policy, value, most), "lookahead": looked_ahead(policy, value)}
    lines = []
    for search, of_amounts in moves.items():
        for amount, cells in of_amounts.items():
            verdict = selfplay.evaluate(Moves(cells), RULES, perspective="mover", every_state=False)
            first, second = verdict.first, verdict.second
            line = {"search": search, "amount": amount, "ways": verdict.ways_to_beat}
            lines.append(line | {"first_loss": first.loss, "second_loss": second.loss})
    return lines


def summarized(plies: int, lines: Sequence[Result]) -> Result:
    """Return how a player fares without lookahead and with one ply, and what it needs to be proved."""
    lookahead = [line for line in lines if line["search"] == "lookahead"]
    found: Result = {"plies": plies}
    for name, line in zip(("alone", "with one ply"), lookahead, strict=False):
        found[f"losses {name}, %"] = losses(line)
    for search, column in UNTIL_PROVED.items():
        of_search = [line for line in lines if line["search"] == search]
        proved = [line["ways"] == 0 for line in of_search]
        place = harness.held_from(proved)
        found[column] = math.inf if place is None else of_search[place]["amount"]
        if search == "PUCT":
            found["proved with fewer, but not with all"] = any(proved[:place])
    return found


def losses(line: Result) -> float:
    """Return how often a player loses to random play, the mean of both seats in percent."""
    return 50 * float(line["first_loss"] + line["second_loss"])


@pictures.styled()
def plot(lines: Sequence[Result], results: Mapping[str, Sequence[Result]]) -> Figure:
    """Plot how often each player loses, and how much search it needs until it is proved."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    figure.suptitle("3,3,3: how much search does a learned player need until it is proved unbeatable?")
    (first, second), (third, fourth) = figure.subplots(2, 2)
    plot_losses(first, "AlphaZero", lines)
    plot_losses(second, "DQN", lines)
    plot_until_proved(third, "PUCT", [*SIMULATIONS, math.inf], results)
    plot_until_proved(fourth, "lookahead", range(RULES.cells + 1), results)
    return figure


def plot_losses(axes: Axes, algorithm: Algorithm, lines: Sequence[Result]) -> None:
    """Plot a learner's losses to random play over the simulations of a move, with a curve for each moment."""
    chosen = [line for line in lines if (line["learner"], line["search"]) == (algorithm, "PUCT")]
    amounts = list(dict.fromkeys(line["amount"] for line in chosen))
    for trained in dict.fromkeys(line["trained"] for line in chosen):
        medians = []
        for amount in amounts:
            of_seeds = [line for line in chosen if (line["trained"], line["amount"]) == (trained, amount)]
            medians.append(statistics.median(map(losses, of_seeds)))
        axes.plot(medians, marker=".", label=trained)
    axes.set(xlabel="simulations of a move", ylabel="losses to random play, %", ylim=(-0.002, 100))
    axes.set_xticks(range(len(amounts)), map(str, amounts), rotation=45)
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_yticks([0, 0.01, 0.1, 1, 10, 100], ["0: proved", "0.01", "0.1", "1", "10", "100"])
    seeds = len({line["seed"] for line in chosen})
    axes.set_title(f"{algorithm}, median of {seeds} runs")
    axes.legend(title="trained for", loc="upper left", bbox_to_anchor=(1, 1))


def plot_until_proved(
    axes: Axes, search: str, amounts: Sequence[float], results: Mapping[str, Sequence[Result]]
) -> None:
    """Plot how much of a search each player needs until it is proved, over the plies of its training."""
    heights = {amount: height for height, amount in enumerate(amounts)}
    for number, algorithm in enumerate(UNITS):
        rows = [of_row for row, of_row in results.items() if row.startswith(algorithm)]
        for seed, of_seed in enumerate(zip(*rows, strict=True)):
            plies = [result["plies"] for result in of_seed]
            needed = [heights[result[UNTIL_PROVED[search]]] for result in of_seed]
            label = None if seed else algorithm
            axes.plot(plies, needed, marker=".", color=f"C{number}", alpha=0.7, label=label)
    axes.set_xscale("symlog", linthresh=500)
    axes.set(xlabel="plies of training", ylabel=UNTIL_PROVED[search])
    axes.set_xticks([0, 1_000, 10_000], ["0", "1,000", "10,000"])
    axes.set_yticks(range(len(amounts)), ["more" if math.isinf(amount) else str(amount) for amount in amounts])
    axes.set_title("a line for each run")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def main(
    algorithms: tuple[Algorithm, ...] = get_args(Algorithm),
    seeds: tuple[int, ...] = (0, 1, 2),
    evaluations: int = 16,
    most_simulations: int = SIMULATIONS[-1],
    docs: Path | None = None,
) -> None:
    """Count how many simulations a learned player needs until it is proved unbeatable.

    Args:
        algorithms: What learns.
        seeds: Seeds of each.
        evaluations: Length of each training, in evaluations; those of a power of two are judged.
        most_simulations: Largest number of simulations of a move.
        docs: Folder of the pages, in which the results are saved.
    """
    measured_on = harness.start(TITLE, seeds=seeds)
    results: dict[str, list[Result]] = {}
    lines: list[Result] = []
    for seed in seeds:
        for algorithm in algorithms:
            for snapshot in snapshots(algorithm, seed, evaluations):
                found = judged(algorithm, snapshot.player, most_simulations)
                run = {"learner": algorithm, "seed": seed, "trained": snapshot.trained, "plies": snapshot.plies}
                lines += [run | line for line in found]
                row = f"{algorithm}, {snapshot.trained}"
                results.setdefault(row, []).append(summarized(snapshot.plies, found))
                print(f"{row}, seed {seed}: {results[row][-1]}", flush=True)
    harness.present(results, f"proved from there to {most_simulations:,} simulations")
    if docs is not None:
        data.save(docs, TITLE, results, measured_on)
        write_csv(docs / "simulations.csv", [[*lines[0]], *([*line.values()] for line in lines)])
        (docs / "simulations.png").write_bytes(pictures.png(plot(lines, results)))


if __name__ == "__main__":
    tyro.cli(main)
