"""Correct a DQN in the positions from which it is beaten: `selfplay repair RUN`."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfplay.cli.flags import PLAYING, commands_for, offer, parse, say, show_verdict
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.judging.agents import player_policy
from selfplay.judging.evaluate import evaluate_policy
from selfplay.judging.repair import repair
from selfplay.learning import folder as run_folder
from selfplay.learning.load import load, read_settings
from selfplay.players import REPAIRED, following
from selfplay.settings import Count


@dataclass(frozen=True)
class RepairConfig:
    """Correct the moves by which a trained DQN can be beaten, until it is proved unbeatable.

    A solver finds the moves that lose. On a board that the first seat wins with best play, the moves as X are corrected
    that give the win away.
    """

    run: str = field()
    """The folder of a run with `--message-rounds 0`; it does not change."""
    run_dir: Path | None = None
    """Folder for the repaired player, new or empty. Default: RUN-repaired."""
    positions: Count = 5_000_000
    """Most distinct positions to follow at each ply (move); the default needs 1 GB."""


def main(args: Sequence[str], prog: str = "selfplay repair") -> None:
    """Correct a player round by round, write it to a new folder, and print its evaluation."""
    config = parse(RepairConfig, args, prog)
    from selfplay.dqn.patch import check_patchable, patch
    from selfplay.dqn.player import QPlayer
    from selfplay.tensor_file import write_tensors

    place = Path(config.run)
    if place.name in ("", ".."):
        place = place.resolve()
    settings, _ = read_settings(place)
    if not isinstance(settings, DQNConfig):
        raise UserError(f"{config.run}: is a run of {settings.algorithm}, and only a DQN can be repaired")
    player = load(config.run)
    assert isinstance(player, QPlayer)
    check_patchable(player)
    folder = config.run_dir or run_folder.unused(place.with_name(f"{place.name}-repaired"))
    run_folder.create(folder)  # before the long search, which would be lost if this failed
    try:
        with following() as progress:
            for state in repair(player, patch, config.positions, progress.follow):
                # Not `say`, whose console is not that of the spinner, which would be drawn over the line.
                print(
                    f"{state.corrected:,} positions corrected: can go wrong from {state.mistakes.beaten:,} of the "
                    f"{state.mistakes.positions:,} positions of its play",
                    flush=True,
                )
        if not state.corrected:
            say("\nThere is nothing to correct, so nothing was written.")
            return
        with following() as progress:
            policy = player_policy(state.player)
            verdict = evaluate_policy(policy, every_state=True, positions=config.positions, report=progress.follow)
        note = f"in {state.corrected:,} positions with a solver, from {place.name}"
        write_tensors(folder / run_folder.MODEL, state.player.tensors())
        run_folder.write_config(folder, state.player.config, {REPAIRED: note})
        run_folder.write_evaluation(folder, verdict)
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # which fails if anything was written
    show_verdict(verdict)
    say(f"\nThe repaired player is in {folder}. What you can do next:\n")
    certify = {"certify": "Write a certificate:"} if verdict.unbeatable else {}
    offer(commands_for(folder, **certify, **PLAYING))
