"""Train a player and prove what it is.

    python train.py                  a DQN learns tic-tac-toe until it is proved unbeatable
    python train.py --mask --seed 1  the same with illegal moves barred, another seed
    python train.py --help           every setting

The algorithm is `self_play` below: act, step, remember, learn. `train` evaluates what it yields.
"""

import math
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from selfplay import run_folder
from selfplay.command_line import parse, peek, run_command
from selfplay.config import PRESETS, DQNConfig, PresetFlag
from selfplay.dqn import DQNAgent, Update
from selfplay.errors import UserError
from selfplay.evaluation import Evaluation, evaluate
from selfplay.games import self_play_game
from selfplay.interleaved import InterleavedAgents
from selfplay.report import evaluation_table, live_score, verdict
from selfplay.schedules import linear
from selfplay.tracking import Tracker, evaluation_metrics
from tictactoe import batch
from tictactoe.rewards import named_rewards
from tictactoe.tree import SOLVABLE_CELLS

PROG = "python train.py"
EVALUATIONS_TO_STOP = 3
"""Evaluations running that must prove what `--stop` asks for."""


class Progressed(NamedTuple):
    """Say how far training is."""

    plies: int
    updates: int
    epsilon: float
    last_updates: list[Update]
    """The newest update of each agent; empty before the first."""


def self_play(config: DQNConfig, agents: InterleavedAgents, device: torch.device) -> Iterator[Progressed]:
    """Play and learn for `total_steps` plies; yield after each step of all boards."""
    rules, rewards = config.rules, named_rewards(config.rewards)
    xp = array_module(device)
    in_numpy = xp is numpy

    def inputs(state: batch.State) -> torch.Tensor:
        return torch.as_tensor(batch.observe(rules, state, config.perspective)).flatten(1).float()

    state = batch.reset(rules, config.num_envs, xp, None if in_numpy else device)
    seen = inputs(state)
    updates, last_updates = 0, list[Update]()
    for plies_before in range(0, config.total_steps, config.num_envs):
        # Act: each board's seat to move decides, at times at random.
        epsilon = linear(config.epsilon_start, config.epsilon_end, config.epsilon_plies, plies_before)
        seat = torch.as_tensor(state.to_play)
        actions = agents.explore(seen, seat, epsilon)

        # Step: one ply on every board; ended games make room for new ones.
        played = batch.step(rules, rewards, state, actions.numpy() if in_numpy else actions)
        state = batch.restart(played.state, played.terminated)
        now_seen = inputs(state)

        # Remember: what was seen, done and got, with the agent that did it.
        reward, other_reward = torch.as_tensor(played.reward), torch.as_tensor(played.other_reward)
        agents.remember(seat, seen, actions, reward, other_reward, torch.as_tensor(played.terminated), now_seen)
        seen = now_seen

        # Learn: some updates of every agent.
        plies = plies_before + config.num_envs
        if plies >= config.warmup:
            for _ in range(config.updates_per_step):
                last_updates = agents.learn()
                updates += 1
        yield Progressed(plies, updates, epsilon, last_updates)


def array_module(device: torch.device) -> ModuleType:
    """Return what the boards are made of: NumPy on a CPU, where its calls cost a third of torch's."""
    return numpy if device.type == "cpu" else torch


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
    evaluation: Evaluation | None
    """None where the board is too large to be solved."""
    seconds: float
    """Time spent in `self_play` so far."""


def train(config: DQNConfig, agents: InterleavedAgents, device: torch.device) -> Iterator[Evaluated]:
    """Train, evaluate every `eval_every` plies, and end when `stop` is proved or the plies are spent."""
    solvable = config.rules.cells <= SOLVABLE_CELLS
    player = agents.player()
    seconds, proofs, due = 0.0, 0, config.eval_every
    started = time.perf_counter()
    for progressed in self_play(config, agents, device):
        if progressed.plies < min(due, config.total_steps):
            continue
        due = progressed.plies + config.eval_every
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # or the time of work still queued would not be counted
        seconds += time.perf_counter() - started
        if not all(math.isfinite(update.loss) for update in progressed.last_updates):
            raise UserError(f"the loss is no longer finite after {progressed.updates:,} updates; lower --learning-rate")
        evaluation = evaluate(player, config.rules) if solvable else None
        yield Evaluated(progressed, evaluation, seconds)
        proofs = proofs + 1 if evaluation is not None and proves(evaluation, config.stop) else 0
        if proofs == EVALUATIONS_TO_STOP:
            return
        started = time.perf_counter()


def proves(evaluation: Evaluation, stop: str) -> bool:
    """Tell whether an evaluation proves what `--stop` asks for."""
    return {"unbeatable": evaluation.unexploitable, "optimal": evaluation.optimal, "never": False}[stop]


def first_of_final_streak(proofs: Sequence[bool]) -> int | None:
    """Return the number of the first evaluation from which the proof held to the end, None if it did not."""
    failures = [number for number, proved in enumerate(proofs) if not proved]
    first = failures[-1] + 1 if failures else 0
    return first if first < len(proofs) else None


def choose_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is CUDA where there is one.

    Raises:
        UserError: CUDA is asked for and not available.
    """
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UserError("--device cuda: this machine or this build of PyTorch has no CUDA; use --device cpu")
    return torch.device("cuda" if name == "cuda" or (name == "auto" and available) else "cpu")


def default_run_dir(config: DQNConfig) -> Path:
    """Return runs/ALGORITHM-BOARD-SEED-TIME."""
    board = f"{config.rows}x{config.cols}x{config.k}"
    return Path("runs") / f"{run_folder.ALGORITHM}-{board}-{config.seed}-{time.strftime('%Y%m%d-%H%M%S')}"


def read_flags(args: Sequence[str]) -> DQNConfig:
    """Return the configuration: the preset's values, overridden by the flags that are given."""
    args = list(args[1:]) if args[:1] == [run_folder.ALGORITHM] else list(args)
    preset = peek(PresetFlag, args, PROG).preset
    return parse(DQNConfig, args, PROG, default=PRESETS[preset])


def main(args: Sequence[str]) -> None:
    """Train as the flags say, showing the exact score, and leave a run folder behind."""
    config = read_flags(args)
    torch.set_num_threads(1)  # on networks this small more threads only wait for each other
    device = choose_device(config.device)
    folder = config.run_dir or run_folder.unused(default_run_dir(config))
    try:
        agents = make_agents(config, device)
    except RuntimeError as error:  # what PyTorch raises when memory does not suffice
        raise UserError(f"the networks and the replay memory cannot be made on {device}: {error}") from None
    player = agents.player()
    run_folder.create(folder)
    run_folder.write_config(folder, config)
    tracker = Tracker(folder)
    console = Console()

    history: list[Evaluated] = []
    columns = TextColumn("{task.description}"), BarColumn(10), TimeElapsedColumn()
    finished = False
    try:
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("training until the first evaluation", total=config.total_steps)
            for evaluated in train(config, agents, device):
                history.append(evaluated)
                plies = evaluated.progressed.plies
                tracker.metrics(plies, metrics_of(history))
                score = live_score(evaluated.evaluation) if evaluated.evaluation else "board too large to prove"
                progress.update(task, completed=plies, description=f"{plies:,} plies  {score}")
                if is_power_of_two(len(history)):
                    tracker.player(plies, player, config.rules)
                    run_folder.write_player(folder, player)
            # Saved before anything more is shown, which may fail: the terminal can be gone by now.
            run_folder.write_player(folder, player)
            run_folder.write_evaluation(folder, history[-1].evaluation)
            finished = True
            progress.update(task, total=history[-1].progressed.plies)
        if not is_power_of_two(len(history)):
            tracker.player(history[-1].progressed.plies, player, config.rules)
    except KeyboardInterrupt:
        if not finished:
            run_folder.write_player(folder, player)
        raise KeyboardInterrupt(f"interrupted; the player so far is in {folder}") from None
    finally:
        tracker.close(run_folder.settings(config))

    print(f"\nA game of the player against itself:\n\n{self_play_game(player, config.rules)}\n")
    summarize(console, config, history)
    python = this_python()
    print(
        f"\nThe run is in {folder}. Next:\n"
        f"  {shlex.join([python, '-m', 'selfplay.prove', str(folder)])}  proves the saved player again\n"
        f"  {shlex.join([python, '-m', 'selfplay.play', str(folder)])}  lets you play against it\n"
        f"  {shlex.join([python, '-m', 'tensorboard.main', '--logdir', str(folder.parent)])}  shows all runs\n"
        f"  {shlex.join([python, 'train.py', '--help'])}  lists what else can be set"
    )


def is_power_of_two(number: int) -> bool:
    """Tell whether a positive number is 1, 2, 4, 8, ..."""
    return number & (number - 1) == 0


def this_python() -> str:
    """Return the interpreter as one would type it here."""
    executable, here = Path(sys.executable), Path.cwd()
    return str(executable.relative_to(here) if executable.is_relative_to(here) else executable)


def metrics_of(history: Sequence[Evaluated]) -> dict[str, float]:
    """Return the numbers of the newest evaluation by TensorBoard tag; rates are since the one before."""
    progressed, evaluation, seconds = history[-1]
    plies, updates, since = 0, 0, 0.0
    if len(history) > 1:
        (plies, updates, *_), _, since = history[-2]
    metrics = evaluation_metrics(evaluation) if evaluation else {}
    if progressed.last_updates:
        losses, values = zip(*progressed.last_updates, strict=True)
        metrics |= {"loss/td": float(torch.stack(losses).mean()), "q/mean": float(torch.cat(values).mean())}
    return metrics | {
        "explore/epsilon": progressed.epsilon,
        "time/env_steps_per_s": (progressed.plies - plies) / (seconds - since),
        "time/updates_per_s": (progressed.updates - updates) / (seconds - since),
        "time/training_s": seconds,
        "time/updates": progressed.updates,
    }


def summarize(console: Console, config: DQNConfig, history: Sequence[Evaluated]) -> None:
    """Print the exact evaluation at the end of the run and when the proof was reached."""
    evaluation = history[-1].evaluation
    if evaluation is None:
        print(f"A board of {config.rules.cells} cells cannot be solved here, so nothing is proved of this player.")
        return
    console.print(evaluation_table(evaluation))
    print(verdict(evaluation))
    goal = "unbeatable" if config.stop == "never" else config.stop
    proofs = [evaluated.evaluation is not None and proves(evaluated.evaluation, goal) for evaluated in history]
    first = first_of_final_streak(proofs)
    if first is not None:
        progressed, _, seconds = history[first]
        print(
            f"The proof of --stop {goal} held from {progressed.plies:,} plies, {progressed.updates:,} updates and "
            f"{seconds:.1f} s of training to the end."
        )


if __name__ == "__main__":
    run_command(main, PROG)
