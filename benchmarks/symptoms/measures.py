"""What an experiment measures: one run with a seed, and the exact numbers that it comes to."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import selfplay
from benchmarks.measuring.counts import known
from benchmarks.symptoms import endless, table
from benchmarks.symptoms.learner import MEMORY, Learner
from benchmarks.symptoms.loops import BOARDS, RULES, Greedy, SelfPlay, Versus, self_play, versus
from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.games import self_play_cells
from selfplay.evaluation.verdict import Verdict
from tictactoe import Rewards
from tictactoe.tree import FloatArray

OWN_PLIES = 512_000
"""Of the loops."""
EARLY, END = "at a quarter", "at the end"
"""Of a run: when something is looked at."""
TAKEN, SIZE = "states in which it marks a taken cell", "size of what the target takes"


class Found(NamedTuple):
    """Hold what one run has come to."""

    evaluation: Verdict
    """At its end."""
    more: Mapping[str, float] = {}
    """What else there is to say, by name."""


Measure: TypeAlias = Callable[[int, float], Found]
"""Trains with a seed, for so much of the usual time, and returns what it came to."""
Watched: TypeAlias = Callable[[Learner], float]
"""What is looked at while it learns."""


def own(how: SelfPlay, watched: Mapping[str, Watched] = MappingProxyType({})) -> Measure:
    """Measure the loop that plays both seats, and what is named after a quarter of its time and at its end."""

    def measure(seed: int, part: float) -> Found:
        plies = round(OWN_PLIES * part)
        more: dict[str, float] = {}

        def watch(ply: int, learner: Learner) -> None:
            for when, at in ((EARLY, plies // 4), (END, plies)):
                if ply <= at < ply + BOARDS:
                    more.update({f"{name}, {when}": of(learner) for name, of in watched.items()})

        _, evaluation = self_play(how, seed, plies, watch)
        return Found(evaluation, more)

    return measure


def taken_chosen(learner: Learner) -> float:
    """Return in how many of the 4,520 positions the highest value is that of a taken cell."""
    return known(selfplay.evaluate(Greedy(learner, "nothing"), RULES, perspective="mover").illegal_states)


def looked_up(learner: Learner) -> float:
    """Return the mean size of what the targets have taken for the worth of the newest positions in the memory."""
    assert learner.memory is not None
    newest = (learner.added - 1 - np.arange(2_000)) % MEMORY
    kept = learner.memory
    rows = newest[kept.goes_on[newest]]
    values = np.where(kept.next_legal[rows], learner.values(kept.next_observation[rows]), -np.inf)
    return float(np.abs(values.max(axis=1)).mean())


def single(how: Versus) -> Measure:
    """Measure the loop that plays an opponent."""

    def measure(seed: int, part: float) -> Found:
        _, evaluation, spoilt = versus(how, seed, round(OWN_PLIES * part / 2))  # the opponent plays the other half
        sides = evaluation.first, evaluation.second
        more = {
            f"% not lost to random as {mark}": 100 * (1 - known(side.loss))
            for mark, side in zip("XO", sides, strict=True)
        }
        return Found(evaluation, more | ({"% of games the opponent spoilt": 100 * spoilt} if spoilt else {}))

    return measure


def history(seed: int, part: float, **settings: Any) -> Iterator[selfplay.Record]:
    """Train our DQN with some settings, also past its first proof, and yield a record at each evaluation."""
    plies = round(1_500_000 * part)
    return selfplay.training(selfplay.DQNConfig(seed=seed, total_steps=plies, stop="never", device="cpu", **settings))


def past_proof(**settings: Any) -> Measure:
    """Measure what our DQN comes to with other settings, and what becomes of its first proof."""

    def measure(seed: int, part: float) -> Found:
        records = list(history(seed, part, **settings))
        beaten = [full(record).games_lost for record in records]
        first = beaten.index(0) if 0 in beaten else len(beaten)
        later = beaten[first:]
        more = {
            "plies to the first proof": records[first].steps if later else np.inf,
            "evaluations from then on, % not proved": 100 * float(np.mean(np.array(later) > 0)) if later else np.nan,
            "most lines that beat it then": max(later, default=np.nan),
        }
        return Found(full(records[-1]), more)

    return measure


def ties(**settings: Any) -> Measure:
    """Measure how often our DQN ties with itself while it learns, and can be beaten all the same."""

    def measure(seed: int, part: float) -> Found:
        beaten = []
        for record in history(seed, part, **settings):
            if ties_with_itself(record.player):
                beaten.append(full(record).games_lost)
        could = [lines for lines in beaten if lines]
        more = {
            "evaluations at which it ties with itself": len(beaten),
            "of these, it could be beaten at": len(could),
            "most lines that beat it then": max(could, default=0),
        }
        return Found(full(record), more)

    return measure


def full(record: selfplay.Record) -> Verdict:
    """Return a record's evaluation, which on 3,3,3 is one of all positions."""
    return record.evaluation


def ties_with_itself(player: selfplay.Agent) -> bool:
    """Tell whether the game of a player against itself fills the board without a line."""
    cells = self_play_cells(AgentPolicy(player, RULES))
    lines = [RULES.has_line(sum(1 << cell for cell in cells[seat::2])) for seat in (0, 1)]
    return len(set(cells)) == RULES.cells and not any(lines)


def tabular(opponent: table.Opponent, follows: table.Follows, epsilon: float) -> Measure:
    """Measure a table after 200,000 games."""
    return lambda seed, part: Found(table.judged(table.learn(opponent, follows, epsilon, round(200_000 * part), seed)))


def exact(values: Callable[[], FloatArray], opening: bool = False) -> Measure:
    """Say what endless learning ends in, which no seed changes, and what it makes of the opening."""

    def measure(_seed: int, _part: float) -> Found:
        found = values()
        evaluation = endless.judged(found)
        taken = {f"{TAKEN}, {END}": evaluation.illegal_states} if evaluation.illegal_states else {}
        return Found(evaluation, taken | (endless.opening(found) if opening else {}))

    return measure


def zero_sum(rewards: Rewards, future: float = 1.0, barred: bool = True, opening: bool = False) -> Measure:
    """Say what endless learning against the best replies ends in."""
    return exact(lambda: endless.against_the_best(endless.paid(rewards), future, barred), opening)


def met_random(rewards: Rewards) -> Measure:
    """Say what endless learning against random replies ends in, and what it makes of the opening."""
    return exact(lambda: endless.against_random(endless.paid(rewards), rewards.loss), opening=True)
