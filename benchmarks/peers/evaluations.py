"""How every learner of the comparison is looked at while it trains: every so many updates to the end, exactly."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import selfplay
from selfplay.judge.ask import agent_policy
from selfplay.judge.confirm import ChangedAnswerError
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.verdict import Verdict
from selfplay.protocols import AnyAgent
from tictactoe import Rules

RULES = Rules()
FINAL_SECONDS = 60.0
"""Training of each run that is published."""
LOOKING = 1 / 12
"""Most seconds that looking takes for each second of training, as measured before a run."""
CALIBRATION = 2.0
"""Seconds of training, from the first update on, in which the costs of a run are measured."""
WITHOUT_UPDATES = 30.0
"""Seconds after which these costs are measured though nothing was updated."""
ONLINE = "online"
"""The network that is trained, and the one player of a learner without a second network."""
Players: TypeAlias = AnyAgent | Mapping[str, AnyAgent]
"""The player, or one for each network, by its name. Each sees the mover's view."""
Tick: TypeAlias = Callable[[int, Players], bool]
"""Takes the updates so far and the current players; returns whether to train on."""
Train: TypeAlias = Callable[[Tick], None]
"""Trains, and calls the tick after every step until that returns False."""
Make: TypeAlias = Callable[[int], Train]
"""Takes a seed and prepares a training."""


class Look(NamedTuple):
    """An exact evaluation of a player while it trains."""

    seconds: float
    """Training up to this look, without the looks."""
    updates: int
    ways: int
    """Ways to beat it, in both seats, by a line or by its own illegal move."""


class NetworkResult(NamedTuple):
    """The results of the looks at one network of a run; the fields are the columns of the CSV."""

    player: str
    seed: int
    network: str
    seconds: float
    """Training of the whole run."""
    updates: int
    look_every: int
    """Updates between looks."""
    looks: int
    first_s: float
    """Training up to the first proof; infinity without one."""
    first_updates: float
    looks_after: int
    """Looks after the first proof."""
    lapses: int
    """Those of them at which it could be beaten."""
    last_lapse_s: float
    """Training up to the last of these; infinity without one."""
    ways_at_end: int
    optimal_at_end: int
    """Decision states, of 4,520, in which its move keeps the value of the game."""
    commit: str


class Measured(NamedTuple):
    """A run that has ended: how often it was looked at, and what was seen of each network."""

    look_every: int
    looks: Mapping[str, Sequence[Look]]
    optimal_at_end: Mapping[str, int]


def measure(make: Make, seed: int, seconds: float) -> Measured:
    """Train for some seconds, and look at the player of each network every N updates and at the end.

    N is chosen by `look_every` in another training. The clock stops while it looks. It counts the seconds on the
    processor, so that other programs on the same core take nothing from the training time.

    Raises:
        TypeError: `make` returned no function.
        ValueError: The training returned before its time was over, or did not return after it.
    """
    every = look_every(make, seed)
    looks: dict[str, list[Look]] = {}
    optimal: dict[str, int] = {}
    due, looking = 0, 0.0

    def tick(updates: int, players: Players) -> bool:
        nonlocal due, looking
        stopped = time.process_time()
        trained = stopped - started - looking
        ended = trained >= seconds
        if updates < due and not ended:
            return True
        for network, player in by_network(players).items():
            verdict = evaluate_in_training(player, every_state=ended)
            looks.setdefault(network, []).append(Look(round(trained, 3), updates, verdict.ways_to_beat))
            if verdict.optimal_states is not None:
                optimal[network] = verdict.optimal_states
        due = updates + every
        looking += time.process_time() - stopped
        return not ended

    train = training(make, seed)
    started = time.process_time()
    train(tick)
    return Measured(every, looks, optimal)


def look_every(make: Make, seed: int) -> int:
    """Return after how many updates to look, so that looking costs less than a tenth of the training.

    A training with this seed shows what an update and a look cost.
    """
    first: tuple[float, int] | None = None
    every = 1

    def tick(updates: int, players: Players) -> bool:
        nonlocal first, every
        trained = time.process_time() - started
        if first is None and (updates or trained >= WITHOUT_UPDATES):
            first = trained, updates
        if first is None or trained - first[0] < CALIBRATION:
            return True
        for _ in range(2):  # the first look prepares what later ones use
            looked = time.process_time()
            for player in by_network(players).values():
                evaluate_in_training(player, every_state=False)
        cost = time.process_time() - looked
        every = max(1, math.ceil(cost / LOOKING * (updates - first[1]) / (trained - first[0])))
        return False

    selfplay.evaluate(lambda _: 0, RULES)  # solves the game, which is slow only once in a process
    train = training(make, seed)
    started = time.process_time()
    train(tick)
    return every


def evaluate_in_training(player: AnyAgent, every_state: bool) -> Verdict:
    """Return the verdict on a player that sees the mover's view; where rounding decides, nothing is proved."""
    policy = agent_policy(player, RULES, "mover")
    try:
        return evaluate_policy(policy, every_state).verdict
    except ChangedAnswerError:
        return evaluate_policy(policy, every_state, ask_again=False).verdict


def training(make: Make, seed: int) -> Train:
    """Return what `make` prepares, with a check that it trains as long as its tick says.

    Raises:
        TypeError: It is no function.
    """
    train = make(seed)
    if not callable(train):
        raise TypeError(f"make must return a function train(tick), got {train!r}")

    def checked(tick: Tick) -> None:
        going = True

        def checked_tick(updates: int, players: Players) -> bool:
            nonlocal going
            if not going:
                raise ValueError("went on after tick had returned False; return then")
            going = tick(updates, players)
            return going

        train(checked_tick)
        if going:
            raise ValueError("returned too early; call tick until it returns False")

    return checked


def by_network(players: Players) -> Mapping[str, AnyAgent]:
    """Return the players by network; a single player is that of the network that is trained."""
    return players if isinstance(players, Mapping) else {ONLINE: players}


def outcomes(player: str, seed: int, measured: Measured, commit: str) -> list[NetworkResult]:
    """Return what a run's looks have shown, for each of its networks."""
    runs = []
    for network, looks in measured.looks.items():
        number = next((number for number, look in enumerate(looks) if look.ways == 0), len(looks))
        lapses = [look for look in looks[number:] if look.ways]
        proved = number < len(looks)
        runs.append(
            NetworkResult(
                player=player,
                seed=seed,
                network=network,
                seconds=looks[-1].seconds,
                updates=looks[-1].updates,
                look_every=measured.look_every,
                looks=len(looks),
                first_s=looks[number].seconds if proved else math.inf,
                first_updates=looks[number].updates if proved else math.inf,
                looks_after=len(looks[number + 1 :]),
                lapses=len(lapses),
                last_lapse_s=lapses[-1].seconds if lapses else math.inf,
                ways_at_end=looks[-1].ways,
                optimal_at_end=measured.optimal_at_end[network],
                commit=commit,
            )
        )
    return runs
