"""The experiments of `docs/why-does-my-dqn-not-learn.md`, by symptom and by what is changed.

An experiment trains with a seed for a part of the usual time, and returns exact numbers by name.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

import selfplay
from benchmarks.dqn import DQN, Greedy
from benchmarks.harness import Result
from benchmarks.learning.learners import ties_with_itself
from benchmarks.symptoms import table, value_iteration
from benchmarks.symptoms.loops import BOARDS, RULES, SPARSE, SelfPlay, Versus, self_play, values, versus
from tictactoe import Rewards
from tictactoe.tree import FloatArray

PLIES, DQN_PLIES, TABLE_GAMES = 512_000, 1_500_000, 200_000
"""Usual length of the loops, of our DQN's runs and of the table's."""
PROVED, ILLEGAL = "proved", "lines ended by a taken cell"
TAKEN, SIZE = "states in which it marks a taken cell", "size of what the target takes"
DRAW_IS_LOSS = Rewards(draw=-1.0, allow=0.0, loss=-1.0)
Experiment: TypeAlias = Callable[[int, float], Result]


def numbers(evaluation: selfplay.Verdict, **more: float) -> Result:
    """Return what every experiment says of a player."""
    first, second = evaluation.first, evaluation.second
    return {
        PROVED: evaluation.unbeatable,
        "lost lines as X": first.losses,
        "lost lines as O": second.losses,
        ILLEGAL: first.illegal + second.illegal,
        **more,
    }


def own(how: SelfPlay, watched: Mapping[str, Callable[[DQN], float]] = MappingProxyType({})) -> Experiment:
    """Train the loop that plays both seats; measure what is `watched` after a quarter of its time and at its end."""

    def measure(seed: int, part: float) -> Result:
        plies = round(PLIES * part)
        more: dict[str, float] = {}

        def watch(ply: int, dqn: DQN) -> None:
            for when, at in (("at a quarter", plies // 4), ("at the end", plies)):
                if ply <= at < ply + BOARDS:
                    more.update({f"{name}, {when}": of(dqn) for name, of in watched.items()})

        _, evaluation = self_play(how, seed, plies, watch)
        return numbers(evaluation, **more)

    return measure


def taken_chosen(dqn: DQN) -> float:
    """Return in how many of the 4,520 positions a taken cell has the highest value."""
    player = Greedy(dqn.target_network, masked=False)
    return selfplay.evaluate(player, RULES, perspective="mover").illegal_states or 0


def target_size(dqn: DQN) -> float:
    """Return the mean absolute value that targets have taken from the latest 2,000 positions in the memory."""
    assert dqn.memory is not None
    latest = (dqn.added - 1 - np.arange(2_000)) % dqn.settings.memory_size
    rows = latest[dqn.memory.goes_on[latest]]
    found = np.where(dqn.memory.next_legal[rows], values(dqn, dqn.memory.next_observation[rows]), -np.inf)
    return float(np.abs(found.max(axis=1)).mean())


def single(how: Versus) -> Experiment:
    """Train the loop that plays an opponent."""

    def measure(seed: int, part: float) -> Result:
        evaluation, spoilt = versus(how, seed, round(PLIES * part / 2))  # the opponent plays the other half
        sides = evaluation.first, evaluation.second
        more = {
            f"% not lost to random as {mark}": 100 * (1 - (side.loss or 0))
            for mark, side in zip("XO", sides, strict=True)
        }
        return numbers(evaluation, **more, **({"% of games the opponent spoilt": 100 * spoilt} if spoilt else {}))

    return measure


def records(seed: int, part: float, settings: Any) -> Iterator[selfplay.Record]:
    """Train our DQN, also past its first proof, and yield a record at each evaluation."""
    plies = round(DQN_PLIES * part)
    return selfplay.training(selfplay.DQNConfig(seed=seed, total_steps=plies, stop="never", device="cpu", **settings))


def past_proof(**settings: Any) -> Experiment:
    """Train our DQN with other settings, and count what becomes of its first proof."""

    def measure(seed: int, part: float) -> Result:
        found = list(records(seed, part, settings))
        beaten = [record.evaluation.games_lost for record in found]
        first = beaten.index(0) if 0 in beaten else len(beaten)
        later = beaten[first:]
        more = {
            "plies to the first proof": found[first].steps if later else np.inf,
            "evaluations from then on, % not proved": 100 * float(np.mean(np.array(later) > 0)) if later else np.nan,
            "most lines that beat it then": max(later, default=np.nan),
        }
        return numbers(found[-1].evaluation, **more)

    return measure


def ties(**settings: Any) -> Experiment:
    """Count how often our DQN ties with itself while it learns, and can be beaten all the same."""

    def measure(seed: int, part: float) -> Result:
        beaten = []
        for record in records(seed, part, settings):
            if ties_with_itself(record.player):
                beaten.append(record.evaluation.games_lost)
        could = [lines for lines in beaten if lines]
        more = {
            "evaluations at which it ties with itself": len(beaten),
            "of these, it could be beaten at": len(could),
            "most lines that beat it then": max(could, default=0),
        }
        return numbers(record.evaluation, **more)

    return measure


def tabular(opponent: table.Opponent, follows: table.Follows, epsilon: float) -> Experiment:
    """Train a table."""
    return lambda seed, part: numbers(
        table.evaluate(table.learn(opponent, follows, epsilon, round(TABLE_GAMES * part), seed))
    )


def exact(compute: Callable[[], FloatArray], opening: bool = False) -> Experiment:
    """Evaluate exact values, which no seed changes, and say what the opening is worth."""

    def measure(_seed: int, _part: float) -> Result:
        found = compute()
        evaluation = value_iteration.evaluate(found)
        taken = {f"{TAKEN}, at the end": evaluation.illegal_states} if evaluation.illegal_states else {}
        return numbers(evaluation, **taken, **(value_iteration.opening(found) if opening else {}))

    return measure


def against_best(rewards: Rewards, gamma: float = 1.0, barred: bool = True, opening: bool = False) -> Experiment:
    """Compute the values against the best replies."""
    pay = value_iteration.environment_reward(rewards)
    return exact(lambda: value_iteration.against_best(pay, gamma, barred), opening)


def against_random(rewards: Rewards) -> Experiment:
    """Compute the values against random replies."""
    pay = value_iteration.environment_reward(rewards)
    return exact(lambda: value_iteration.against_random(pay, rewards.loss), opening=True)


def fined(illegal: float) -> Rewards:
    """Return rewards of 1, 0 and -1 with a price for a taken cell."""
    return Rewards(illegal=illegal, allow=0.0, loss=-1.0)


EXPERIMENTS: Mapping[str, Mapping[str, Experiment]] = {
    "worse": {
        "`python train.py`": past_proof(),
        "`--learning-rate-hold 0`": past_proof(learning_rate_hold=0),
        "`--hard-update 10`": past_proof(hard_update=10),
        "`--hard-update 10 --learning-rate-hold 0`": past_proof(hard_update=10, learning_rate_hold=0),
        "the same and `--symmetry none --counterexamples 0`": past_proof(
            hard_update=10, learning_rate_hold=0, symmetry="none", counterexamples=0.0
        ),
    },
    "ties": {"`--symmetry none --counterexamples 0`": ties(symmetry="none", counterexamples=0.0)},
    "table": {
        "own next turn, random opponent, epsilon 0.1": tabular("random", "own next turn", 0.1),
        "own next turn, plays itself, epsilon 0.1": tabular("itself", "own next turn", 0.1),
        "opponent's turn with a minus, plays itself, epsilon 0.1": tabular("itself", "opponent's turn", 0.1),
        "opponent's turn with a minus, plays itself, epsilon 0.5": tabular("itself", "opponent's turn", 0.5),
        "opponent's turn with a minus, plays itself, epsilon 1": tabular("itself", "opponent's turn", 1.0),
    },
    "opponent": {
        "itself": own(SelfPlay()),
        "random": single(Versus()),
        "heuristic": single(Versus("heuristic")),
        "optimal": single(Versus("optimal")),
        "random, always X": single(Versus(seat=0)),
        "untrained network": single(Versus("untrained", masked="nothing")),
    },
    "next": {
        "opponent's turn, minus": own(SelfPlay()),
        "opponent's turn, plus": own(SelfPlay(sign=1)),
        "own next turn, plus": own(SelfPlay(follows="own next turn", sign=1)),
        "own next turn, minus": own(SelfPlay(follows="own next turn", sign=-1)),
        "own next turn, the loser's last move left out": own(
            SelfPlay(follows="own next turn", sign=1, loser_told=False)
        ),
    },
    "block": {
        "`allow` 0, random opponent": single(Versus()),
        "`allow` -1, random opponent": single(Versus(rewards=Rewards())),
        "exact, only the next reward counts, `allow` 0": against_best(SPARSE, gamma=0.0),
        "exact, only the next reward counts, `allow` -1": against_best(Rewards(), gamma=0.0),
        "exact, the future counts, `allow` 0": against_best(SPARSE),
        "exact, the future counts, `allow` -1": against_best(Rewards()),
    },
    "illegal": {
        "illegal -10": own(SelfPlay(masked="nothing"), {TAKEN: taken_chosen}),
        "illegal -1": own(SelfPlay(masked="nothing", rewards=fined(-1.0)), {TAKEN: taken_chosen}),
        "illegal -0.5": own(SelfPlay(masked="nothing", rewards=fined(-0.5)), {TAKEN: taken_chosen}),
        "illegal 0": own(SelfPlay(masked="nothing", rewards=fined(0.0)), {TAKEN: taken_chosen}),
        "exact, illegal -10": against_best(SPARSE, barred=False),
        "exact, illegal -1": against_best(fined(-1.0), barred=False),
        "exact, illegal -0.5": against_best(fined(-0.5), barred=False),
        "exact, illegal 0": against_best(fined(0.0), barred=False),
    },
    "mask": {
        "moves and targets": own(SelfPlay(), {SIZE: target_size}),
        "moves only": own(SelfPlay(masked="moves"), {SIZE: target_size}),
        "moves only, own next turn": own(
            SelfPlay(follows="own next turn", sign=1, masked="moves"), {SIZE: target_size}
        ),
        "moves, and targets by the mask before the move": own(SelfPlay(stale_mask=True), {SIZE: target_size}),
    },
    "draw": {
        "exact, against the best, draw 0": against_best(SPARSE, opening=True),
        "exact, against the best, draw -1": against_best(DRAW_IS_LOSS, opening=True),
        "exact, against random, draw 0": against_random(SPARSE),
        "exact, against random, draw -1": against_random(DRAW_IS_LOSS),
        "learned, draw -1": own(SelfPlay(rewards=DRAW_IS_LOSS)),
    },
    "last": {
        "exact": exact(lambda: value_iteration.against_best(value_iteration.last_cell_draws)),
        "learned": own(SelfPlay(last_cell_wins=False)),
    },
}
