"""The experiments of `docs/why-does-my-dqn-not-learn.md`, by symptom and by what is changed.

An experiment trains with a seed for a part of the usual time, and returns exact numbers by name.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np

import selfplay
from benchmarks.data import Result
from benchmarks.dqn import DQN, Greedy
from benchmarks.learning.learners import configuration, ties_with_itself
from benchmarks.symptoms import table, value_iteration
from benchmarks.symptoms.loops import BOARDS, RULES, SPARSE, SelfPlay, Versus, self_play, values, versus
from benchmarks.symptoms.value_iteration import PayOff
from tictactoe import Rewards
from tictactoe.tree import FloatArray

PLIES, DQN_PLIES, TABLE_GAMES = 512_000, 1_500_000, 200_000
"""Usual length of the loops, of our DQN's runs and of the table's."""
PROVED, ILLEGAL = "proved", "illegal games"
TAKEN, SIZE = "states in which it marks a taken cell", "size of what the target takes"
FORGETS, NO_AVERAGE = "--learning-rate-hold 0", "--hard-update 10"
PLAIN = "--symmetry none --counterexamples 0"
"""Flags of our DQN: a learning rate that never falls, a player that is the network itself, and plain self-play."""
FINES = (-10.0, -1.0, -0.5, 0.0)
"""Rewards for a taken cell."""
DRAW_IS_LOSS = Rewards(draw=-1.0, allow=0.0, loss=-1.0)
Experiment: TypeAlias = Callable[[int, float], Result]


def numbers(verdict: selfplay.Verdict, **more: float) -> Result:
    """Return what every experiment says of a player."""
    first, second = verdict.first, verdict.second
    return {
        PROVED: verdict.unbeatable,
        "games lost as X": first.losses,
        "games lost as O": second.losses,
        ILLEGAL: first.illegal + second.illegal,
        **more,
    }


def own(how: SelfPlay, seed: int, part: float, watched: str = "") -> Result:
    """Train the loop that plays both seats; measure what is `watched` after a quarter of its time and at its end."""
    plies = round(PLIES * part)
    more: dict[str, float] = {}

    def watch(ply: int, dqn: DQN) -> None:
        for when, at in (("at a quarter", plies // 4), ("at the end", plies)):
            if watched and ply <= at < ply + BOARDS:
                more[f"{watched}, {when}"] = taken_chosen(dqn) if watched == TAKEN else target_size(dqn)

    return numbers(self_play(how, seed, plies, watch)[1], **more)


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


def single(how: Versus, seed: int, part: float) -> Result:
    """Train the loop that plays an opponent."""
    verdict, spoilt = versus(how, seed, round(PLIES * part / 2))  # the opponent plays the other half
    seats = {"X": verdict.first, "O": verdict.second}
    more = {f"% not lost to random as {mark}": 100 * (1 - (seat.loss or 0)) for mark, seat in seats.items()}
    return numbers(verdict, **more, **({"% of games the opponent spoilt": 100 * spoilt} if spoilt else {}))


def records(flags: str, seed: int, part: float) -> Iterator[selfplay.Record]:
    """Train our DQN by flags of `python train.py`, also past its first proof; yield a record at each evaluation."""
    config = configuration(f"{flags} --stop never --total-steps {round(DQN_PLIES * part)}", seed)
    return selfplay.training(config)


def past_proof(flags: str, seed: int, part: float) -> Result:
    """Train our DQN by other flags, and count what becomes of its first proof."""
    found = list(records(flags, seed, part))
    beaten = [record.evaluation.games_lost for record in found]
    first = beaten.index(0) if 0 in beaten else len(beaten)
    later = beaten[first:]
    verdict = found[-1].evaluation
    if not later:
        return numbers(verdict, **{"plies to the first proof": np.inf})
    more = {
        "plies to the first proof": found[first].steps,
        "evaluations from then on, % not proved": 100 * float(np.mean(np.array(later) > 0)),
        "most games lost then": max(later),
    }
    return numbers(verdict, **more)


def ties(flags: str, seed: int, part: float) -> Result:
    """Count how often our DQN ties with itself while it learns, and can be beaten all the same."""
    beaten = []
    for record in records(flags, seed, part):
        if ties_with_itself(record.player):
            beaten.append(record.evaluation.games_lost)
    could = [games for games in beaten if games]
    more = {
        "evaluations at which it ties with itself": len(beaten),
        "of these, it could be beaten at": len(could),
        "most games lost then": max(could, default=0),
    }
    return numbers(record.evaluation, **more)


def tabular(opponent: table.Opponent, follows: table.Follows, epsilon: float, seed: int, part: float) -> Result:
    """Train a table."""
    return numbers(table.evaluate(table.learn(opponent, follows, epsilon, round(TABLE_GAMES * part), seed)))


def exact(values: FloatArray, opening: bool) -> Result:
    """Evaluate exact values, and say what the opening is worth."""
    verdict = value_iteration.evaluate(values)
    taken = {f"{TAKEN}, at the end": verdict.illegal_states} if verdict.illegal_states else {}
    return numbers(verdict, **taken, **(value_iteration.opening(values) if opening else {}))


def against_best(
    pay: Rewards | PayOff, _seed: int, _part: float, gamma: float = 1.0, barred: bool = True, opening: bool = False
) -> Result:
    """Compute the values against the best replies."""
    pay = value_iteration.environment_reward(pay) if isinstance(pay, Rewards) else pay
    return exact(value_iteration.against_best(pay, gamma, barred), opening)


def against_random(rewards: Rewards, _seed: int, _part: float) -> Result:
    """Compute the values against random replies."""
    pay = value_iteration.environment_reward(rewards)
    return exact(value_iteration.against_random(pay, rewards.loss), opening=True)


def fined(illegal: float) -> Rewards:
    """Return rewards of 1, 0 and -1 with a price for a taken cell."""
    return Rewards(illegal=illegal, allow=0.0, loss=-1.0)


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
        "itself": partial(own, SelfPlay()),
        "random": partial(single, Versus()),
        "heuristic": partial(single, Versus("heuristic")),
        "optimal": partial(single, Versus("optimal")),
        "random, always X": partial(single, Versus(seat=0)),
        "untrained network": partial(single, Versus("untrained", masked="nothing")),
    },
    "next": {
        "opponent's turn, minus": partial(own, SelfPlay()),
        "opponent's turn, plus": partial(own, SelfPlay(sign=1)),
        "own next turn, plus": partial(own, SelfPlay(follows="own next turn", sign=1)),
        "own next turn, minus": partial(own, SelfPlay(follows="own next turn", sign=-1)),
        "own next turn, the loser's last move left out": partial(
            own, SelfPlay(follows="own next turn", sign=1, loser_told=False)
        ),
    },
    "block": {
        "`allow` 0, random opponent": partial(single, Versus()),
        "`allow` -1, random opponent": partial(single, Versus(rewards=Rewards())),
        "exact, only the next reward counts, `allow` 0": partial(against_best, SPARSE, gamma=0.0),
        "exact, only the next reward counts, `allow` -1": partial(against_best, Rewards(), gamma=0.0),
        "exact, the future counts, `allow` 0": partial(against_best, SPARSE),
        "exact, the future counts, `allow` -1": partial(against_best, Rewards()),
    },
    "illegal": {
        **{
            f"illegal {fine:g}": partial(own, SelfPlay(masked="nothing", rewards=fined(fine)), watched=TAKEN)
            for fine in FINES
        },
        **{f"exact, illegal {fine:g}": partial(against_best, fined(fine), barred=False) for fine in FINES},
    },
    "mask": {
        "moves and targets": partial(own, SelfPlay(), watched=SIZE),
        "moves only": partial(own, SelfPlay(masked="moves"), watched=SIZE),
        "moves only, own next turn": partial(
            own, SelfPlay(follows="own next turn", sign=1, masked="moves"), watched=SIZE
        ),
        "moves, and targets by the mask before the move": partial(own, SelfPlay(stale_mask=True), watched=SIZE),
    },
    "draw": {
        "exact, against the best, draw 0": partial(against_best, SPARSE, opening=True),
        "exact, against the best, draw -1": partial(against_best, DRAW_IS_LOSS, opening=True),
        "exact, against random, draw 0": partial(against_random, SPARSE),
        "exact, against random, draw -1": partial(against_random, DRAW_IS_LOSS),
        "learned, draw -1": partial(own, SelfPlay(rewards=DRAW_IS_LOSS)),
    },
    "last": {
        "exact": partial(against_best, value_iteration.last_cell_draws),
        "learned": partial(own, SelfPlay(last_cell_wins=False)),
    },
}
