"""The experiments behind `docs/why-does-my-dqn-not-learn.md`: what is changed, by the name of the symptom."""

from collections.abc import Mapping

from benchmarks.symptoms.endless import against_the_best, won_on_the_last_cell_is_drawn
from benchmarks.symptoms.loops import SPARSE, SelfPlay, Versus
from benchmarks.symptoms.measures import (
    SIZE,
    TAKEN,
    Measure,
    exact,
    looked_up,
    met_random,
    own,
    past_proof,
    single,
    tabular,
    taken_chosen,
    ties,
    zero_sum,
)
from tictactoe import Rewards

DRAW_IS_LOSS = Rewards(draw=-1.0, allow=0.0, loss=-1.0)

TAKEN_CELLS, SIZES = {TAKEN: taken_chosen}, {SIZE: looked_up}


def fined(illegal: float) -> Rewards:
    """Return rewards of 1, 0 and -1 with a price for a taken cell."""
    return Rewards(illegal=illegal, allow=0.0, loss=-1.0)


EXPERIMENTS: Mapping[str, Mapping[str, Measure]] = {
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
        "exact, only the next reward counts, `allow` 0": zero_sum(SPARSE, future=0.0),
        "exact, only the next reward counts, `allow` -1": zero_sum(Rewards(), future=0.0),
        "exact, the future counts, `allow` 0": zero_sum(SPARSE),
        "exact, the future counts, `allow` -1": zero_sum(Rewards()),
    },
    "illegal": {
        "illegal -10": own(SelfPlay(masked="nothing"), TAKEN_CELLS),
        "illegal -1": own(SelfPlay(masked="nothing", rewards=fined(-1.0)), TAKEN_CELLS),
        "illegal -0.5": own(SelfPlay(masked="nothing", rewards=fined(-0.5)), TAKEN_CELLS),
        "illegal 0": own(SelfPlay(masked="nothing", rewards=fined(0.0)), TAKEN_CELLS),
        "exact, illegal -10": zero_sum(SPARSE, barred=False),
        "exact, illegal -1": zero_sum(fined(-1.0), barred=False),
        "exact, illegal -0.5": zero_sum(fined(-0.5), barred=False),
        "exact, illegal 0": zero_sum(fined(0.0), barred=False),
    },
    "mask": {
        "moves and targets": own(SelfPlay(), SIZES),
        "moves only": own(SelfPlay(masked="moves"), SIZES),
        "moves only, own next turn": own(SelfPlay(follows="own next turn", sign=1, masked="moves"), SIZES),
        "moves, and targets by the mask before the move": own(SelfPlay(stale_mask=True), SIZES),
    },
    "draw": {
        "exact, against the best, draw 0": zero_sum(SPARSE, opening=True),
        "exact, against the best, draw -1": zero_sum(DRAW_IS_LOSS, opening=True),
        "exact, against random, draw 0": met_random(SPARSE),
        "exact, against random, draw -1": met_random(DRAW_IS_LOSS),
        "learned, draw -1": own(SelfPlay(rewards=DRAW_IS_LOSS)),
    },
    "last": {
        "exact": exact(lambda: against_the_best(won_on_the_last_cell_is_drawn)),
        "learned": own(SelfPlay(last_cell_wins=False)),
    },
}
