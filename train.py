"""Train a player and prove what it is.

    python train.py                  a DQN learns tic-tac-toe until it is proved unbeatable
    python train.py --mask --seed 1  the same with illegal moves barred, another seed
    python train.py minimax-q        one of the published tabular learners
    python train.py --help           every setting, and the other algorithms

The DQN is `self_play` below: act, step, remember, learn. `train` evaluates what it yields, and the experiment
around it, in `selfplay.experiment`, is that of every algorithm. The others are in `selfplay.tabular`.
"""

import signal

# Until `run_command` takes over, Ctrl-C ends the imports without a traceback.
if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy
import torch

from selfplay import experiment
from selfplay.algorithms import ALGORITHMS, Config
from selfplay.checkpoint import Checkpoints, RunFlags
from selfplay.checks import check_changes
from selfplay.command_line import parse, peek, run_command, take
from selfplay.config import PRESETS, DQNConfig, PresetFlag
from selfplay.cuda_graph import Positions, recorded
from selfplay.devices import check_room, choose_device
from selfplay.dqn import DQNAgent, Update
from selfplay.errors import UserError
from selfplay.evaluation import Evaluation, Proof
from selfplay.experiment import Record
from selfplay.interleaved import InterleavedAgents
from selfplay.reach import Unproved, assess
from selfplay.run_folder import read_config, settings
from selfplay.schedules import linear
from selfplay.standing import (
    EVALUATIONS_TO_STOP,
    Progressed,
    Standing,
    array_module,
    beginning,
    diverged,
    resume,
    snapshot,
)
from selfplay.tabular import training as tabular
from tictactoe import batch
from tictactoe.rewards import named_rewards

PROG = "python train.py"
ABOUT_RUNS = """\
Flags of every algorithm:
  --resume RUN                    Go on in that run folder from its last checkpoint, to the same bits; the algorithm
                                  and its settings are those of the run.
  --force                         Resume although settings given differ from those of the run.
  --checkpoint-interval SECONDS   Time between checkpoints (default: 60); more where one takes over 2 % of it."""


def self_play(
    config: DQNConfig, agents: InterleavedAgents, device: torch.device, progressed: Progressed | None = None
) -> Iterator[Progressed]:
    """Play and learn for `total_steps` plies, from the beginning or on; yield after each step of all boards."""
    rules, rewards = config.rules, named_rewards(config.rewards)
    in_numpy = array_module(device) is numpy

    def look(boards: batch.State) -> Positions:
        inputs = torch.as_tensor(batch.observe(rules, boards, config.perspective)).flatten(1).float()
        return Positions(boards, inputs)

    def iterate(positions: Positions, epsilon: float | torch.Tensor, learning: bool) -> tuple[Positions, list[Update]]:
        # Act: each board's seat to move decides, at times at random.
        boards, seen = positions
        seat = torch.as_tensor(boards.to_play)
        actions = agents.explore(seen, seat, epsilon)

        # Step: one ply on every board; ended games make room for new ones.
        played = batch.step(rules, rewards, boards, actions.numpy() if in_numpy else actions)
        after = look(batch.restart(played.state, played.terminated))

        # Remember: what was seen, done and got, with the agent that did it.
        reward, other_reward = torch.as_tensor(played.reward), torch.as_tensor(played.other_reward)
        agents.remember(seat, seen, actions, reward, other_reward, torch.as_tensor(played.terminated), after.seen)

        # Learn: some updates of every agent.
        updates = [agents.learn() for _ in range(config.updates_per_step if learning else 0)]
        return after, updates[-1] if updates else []

    step = recorded(iterate, agents.seats[0].generator, device)
    start, updates, _, _, boards = progressed or beginning(config, device)
    positions = look(boards)
    for plies_before in range(start, config.total_steps, config.num_envs):
        epsilon = linear(config.epsilon_start, config.epsilon_end, config.epsilon_plies, plies_before)
        plies = plies_before + config.num_envs
        learning = plies >= config.warmup
        positions, last_updates = step(positions, epsilon, learning)
        updates += config.updates_per_step if learning else 0
        yield Progressed(plies, updates, epsilon, last_updates, positions.boards)


def make_agents(config: DQNConfig, device: torch.device) -> InterleavedAgents:
    """Return one agent for both seats or one for each, with a generator seeded by the run's seed."""
    generator = torch.Generator(device).manual_seed(config.seed)
    first = DQNAgent(config, device, generator)
    if config.networks == "shared":
        return InterleavedAgents([first, first])
    return InterleavedAgents([first, DQNAgent(config, device, generator)])


class Evaluated(NamedTuple):
    """Hold one evaluation of a run and the training time up to it."""

    progressed: Progressed
    evaluation: Proof | Unproved
    seconds: float
    """Time spent in `self_play` so far."""


def train(
    config: DQNConfig,
    agents: InterleavedAgents,
    device: torch.device,
    standing: Standing | None = None,
    kept: Checkpoints | None = None,
) -> Iterator[Evaluated]:
    """Train, evaluate every `eval_every` plies, and end when `stop` is proved or the plies are spent.

    The run begins, or goes on from where it stood; its checkpoints are written where they are to be kept.
    """
    player = agents.player()
    standing = standing or Standing(beginning(config, device), config.eval_every)
    start, due, seconds, proofs, evaluations = standing
    if proofs == EVALUATIONS_TO_STOP:
        return
    started = time.perf_counter()
    for progressed in self_play(config, agents, device, start):
        evaluating = progressed.plies >= min(due, config.total_steps)
        if not evaluating and not (kept is not None and kept.due(progressed.plies)):
            continue
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # or the time of work still queued would not be counted
        seconds += time.perf_counter() - started
        if diverged(agents, progressed):
            raise UserError(f"the loss is no longer finite after {progressed.updates:,} updates; lower --learning-rate")
        if evaluating:
            evaluation = assess(player, config.rules, every_state=config.stop == "optimal")
            yield Evaluated(progressed, evaluation, seconds)
            evaluations += 1
            if progressed.plies >= due:  # or it comes early, at the end, and a longer run would not have made it
                due = progressed.plies + config.eval_every
                proofs = proofs + 1 if proves(evaluation, config.stop) else 0
        ended = proofs == EVALUATIONS_TO_STOP or progressed.plies >= config.total_steps
        if kept is not None and (ended or kept.due(progressed.plies)):
            kept.write(snapshot(agents, Standing(progressed, due, seconds, proofs, evaluations)))
        if ended:
            return
        started = time.perf_counter()


def proves(evaluation: Proof | Unproved, stop: str) -> bool:
    """Tell whether an evaluation proves what `--stop` asks for."""
    if stop == "optimal":
        return isinstance(evaluation, Evaluation) and evaluation.optimal
    return stop == "unbeatable" and isinstance(evaluation, Proof) and evaluation.unexploitable


def run_dqn(config: DQNConfig, flags: RunFlags) -> None:
    """Train a DQN as its settings say, and leave a run folder behind.

    Raises:
        UserError: there is no such device, or not the memory for these settings.
    """
    torch.set_num_threads(1)  # on networks this small more threads only wait for each other
    torch.backends.cudnn.deterministic = True  # or convolutions on a GPU would give other bits each time
    device = choose_device(config.device)
    check_room(config, device)
    # A resumed run goes on where it began, whatever "auto" is there.
    config = replace(config, device="cuda" if device.type == "cuda" else "cpu")
    try:
        agents = make_agents(config, device)
        standing = Standing(beginning(config, device), config.eval_every)
    except (RuntimeError, MemoryError) as error:  # what PyTorch and NumPy raise when memory does not suffice
        raise UserError(f"the networks and the replay memory cannot be made on {device}: {error}") from None
    with experiment.checkpoints(config, flags) as kept:
        if kept.resuming:
            standing = resume(config, agents, device, kept)
        evaluated = train(config, agents, device, standing, kept)
        records = as_records(evaluated, standing)
        finished = experiment.run(config, "plies", config.total_steps, agents.player, records, kept)
    goal = "unbeatable" if config.stop == "never" else config.stop
    experiment.present(finished, f"--stop {goal}", lambda evaluation: proves(evaluation, goal))


def as_records(history: Iterable[Evaluated], standing: Standing) -> Iterator[Record]:
    """Yield each evaluation with the other numbers by TensorBoard tag; rates are since the one before.

    Those of the first are since `standing`, which is how the run stood before it.
    """
    plies, updates, since = standing.progressed.plies, standing.progressed.updates, standing.seconds
    for progressed, evaluation, seconds in history:
        metrics: dict[str, float] = {}
        if progressed.last_updates:
            losses, values = zip(*progressed.last_updates, strict=True)
            metrics |= {"loss/td": float(torch.stack(losses).mean()), "q/mean": float(torch.cat(values).mean())}
        metrics |= {
            "explore/epsilon": progressed.epsilon,
            "time/env_steps_per_s": (progressed.plies - plies) / (seconds - since),
            "time/updates_per_s": (progressed.updates - updates) / (seconds - since),
            "time/training_s": seconds,
            "time/updates": progressed.updates,
        }
        yield Record(progressed.plies, evaluation, metrics)
        plies, updates, since = progressed.plies, progressed.updates, seconds


def read_flags(args: Sequence[str]) -> Config:
    """Return the settings of the algorithm that is named first, the DQN if none is; flags override its defaults.

    Raises:
        UserError: there is no such algorithm or flag, or the value is not one of it.
    """
    named = bool(args) and not args[0].startswith("-")
    algorithm, flags = (args[0], args[1:]) if named else (DQNConfig.algorithm, args)
    if algorithm not in ALGORITHMS:
        raise UserError(f"there is no algorithm {algorithm!r}; choose one of {', '.join(ALGORITHMS)}")
    if algorithm != DQNConfig.algorithm:
        kind = ALGORITHMS[algorithm]
        return parse(kind, flags, f"{PROG} {algorithm}", about=f"{kind.__doc__}\n\n{ABOUT_RUNS}")
    preset = peek(PresetFlag, flags, PROG).preset
    return parse(DQNConfig, flags, PROG, default=PRESETS[preset], about=about_algorithms())


def about_algorithms() -> str:
    """Return what the DQN does, and the other algorithms, one line each."""
    own, *others = ((name, str(kind.__doc__)) for name, kind in ALGORITHMS.items())
    lines = [f"  {PROG} {name:13} {summary}" for name, summary in others]
    return "\n".join([own[1], "", "Other algorithms, each with its own --help:", *lines, "", ABOUT_RUNS])


def read_resumed(resumed: Path, args: Sequence[str], force: bool) -> Config:
    """Return the settings of a run that is to go on; flags may make it longer, and by force change anything else.

    Raises:
        UserError: there is no such run, or the flags are not of it.
    """
    before = read_config(resumed)
    named = bool(args) and not args[0].startswith("-")
    if named and args[0] != before.algorithm:
        raise UserError(f"{resumed}: is a run of {before.algorithm}, not of {args[0]}")
    config = parse(type(before), args[1:] if named else args, f"{PROG} {before.algorithm}", default=before)
    if config.run_dir is not None:
        raise UserError("--run-dir and --resume both name the run's folder; leave out --run-dir")
    check_changes(settings(before), settings(config), force, str(resumed))
    return config


def main(args: Sequence[str]) -> None:
    """Train as the flags say, showing the exact score, and leave a run folder behind."""
    flags, others = take(RunFlags, args, PROG)
    config = read_flags(others) if flags.resume is None else read_resumed(flags.resume, others, flags.force)
    if isinstance(config, DQNConfig):
        run_dqn(config, flags)
    else:
        tabular.run(config, flags)


if __name__ == "__main__":
    run_command(main, PROG)
