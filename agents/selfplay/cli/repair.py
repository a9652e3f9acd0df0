"""Correct a DQN in the positions from which it is beaten: `selfplay repair RUN`."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay import players
from selfplay.command_line import offer, parse, say
from selfplay.errors import UserError
from selfplay.program import command
from selfplay.settings import Count
from tictactoe.tree import SOLVABLE_CELLS

if TYPE_CHECKING:
    from selfplay.dqn.repair import Repaired
    from selfplay.evaluation.verdict import Verdict


@dataclass(frozen=True)
class RepairConfig:
    """Give a trained DQN a better move in each position from which it is beaten, until it is proved unbeatable."""

    run: str = field(metadata={"positional": "RUN"})
    """The folder of the run, which is left as it is."""
    run_dir: Path | None = None
    """Folder of the repaired player; it must be new or empty. Default: RUN-repaired."""
    positions: Count = 5_000_000
    """Distinct positions that the player is followed to at each ply, at most; these take 1 GB."""
    solver: bool = False
    """Ask a solver which moves lose, and try only the others. That takes far less time where the player is beaten from
    some hundred positions, but what is corrected is then no longer found by the player's own play alone."""


def main(args: Sequence[str], prog: str = "selfplay repair") -> None:
    """Correct a player round by round, write it to a folder of its own, and say what it is then."""
    config = parse(RepairConfig, args, prog)
    from rich.console import Console

    from selfplay.algorithms import load, read_settings
    from selfplay.dqn.config import DQNConfig
    from selfplay.dqn.player import QPlayer
    from selfplay.dqn.repair import repaired
    from selfplay.evaluation.policy_repair import Corrections
    from selfplay.evaluation.report import verdict_table, verdict_text
    from selfplay.training import folder as run_folder

    place = Path(config.run)
    if place.name in ("", ".."):
        place = place.resolve()
    settings, _ = read_settings(place)
    if not isinstance(settings, DQNConfig):
        raise UserError(f"{config.run}: is a run of {settings.algorithm}, and only a DQN can be repaired")
    player = load(config.run)
    assert isinstance(player, QPlayer)
    players.check_room(config.positions, player.rules)
    folder = config.run_dir or run_folder.unused(place.with_name(f"{place.name}-repaired"))
    how = " with a solver" if config.solver else ""
    console = Console()
    run_folder.create(folder)  # now, or all would be lost where it cannot be made
    try:
        with players.following(console, player.rules) as report:
            for state in repaired(player, settings, Corrections(config.positions, report, config.solver)):
                say(_progress(state))
        if not state.corrected:
            say("\nThere is nothing to correct, so nothing was written.")
            return
        evaluation = _write(folder, state, f"in {state.corrected:,} positions{how}, from {place.name}")
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # which it is not if anything was written
    console.print(verdict_table(evaluation))
    say(verdict_text(evaluation))
    say(f"\nThe repaired player is in {folder}. What you can do next:\n")
    if evaluation.unbeatable:
        offer("Write down its play, for others to check:", command("certify", str(folder)))
    offer("Play against it:", command("play", str(folder)))
    offer("Play, and look inside it, on a page in the browser:", command("web", str(folder)))


def _write(folder: Path, state: "Repaired", what: str) -> "Verdict":
    """Write a repaired player, and `what` was corrected in it, and return its evaluation."""
    from selfplay.evaluation.agents import player_policy
    from selfplay.evaluation.evaluate import evaluate_policy
    from selfplay.tensor_file import write_tensors
    from selfplay.training import folder as run_folder

    small = state.player.rules.cells <= SOLVABLE_CELLS
    evaluation = evaluate_policy(player_policy(state.player), every_state=True) if small else state.found.verdict
    write_tensors(folder / run_folder.MODEL, state.player.tensors())
    run_folder.write_config(folder, state.config, {players.REPAIRED: what})
    run_folder.write_evaluation(folder, evaluation)
    return evaluation


def _progress(state: "Repaired") -> str:
    """Return in a sentence how far a repair has come."""
    found = state.found
    beaten = f"beaten from {found.beaten:,} of the {found.positions:,} positions that its play leads to"
    return f"{state.corrected:,} positions corrected: {beaten}"
