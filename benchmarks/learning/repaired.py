"""Train players of 5,5,4, repair them, and certify them, with the seconds of each part.

The tables of docs/results.md. On 6,5,4 the first seat wins, so nobody is unbeatable, and there is no certificate:

    python -m benchmarks.learning.repaired --docs docs
    python -m benchmarks.learning.repaired --rows 6 --seeds 1000 1001 1002 --docs docs

Each seed does what these four commands do, the first with the flags below and no other settings:

    python train.py --rows 5 FLAGS --run-dir runs/five
    selfplay repair runs/five
    selfplay certify runs/five-repaired
    python agents/selfplay/judging/check_certificate.py runs/five-repaired/certificate.txt.gz

Seconds are those of the processor, because a run takes minutes, in which other programs may slow the clock on the wall.
"""

import tempfile
import time
from pathlib import Path

import tyro

import selfplay
from benchmarks import data, harness
from benchmarks.data import Result
from benchmarks.learning.learners import configuration
from selfplay.cli.repair import RepairConfig
from selfplay.dqn.patch import patch
from selfplay.dqn.player import QPlayer
from selfplay.judging import certificate, check_certificate
from selfplay.judging.agents import player_policy
from selfplay.judging.evaluate import evaluate_policy
from selfplay.judging.repair import repair
from tictactoe import Rules, search_value

FLAGS = (
    "--preset large --cols 5 --k 4 --mask --message-rounds 0 --lines 8 --hidden 512x256 --loss mse "
    "--learning-rate 0.003 --learning-rate-hold 2000 --batch-size 384 --memory-size 400000 --updates-per-step 1 "
    "--soft-update 0.03 --epsilon-start 0.9 --rule-weight 2 --total-steps 512000 --eval-every 128000"
)
POSITIONS = RepairConfig.positions


def measure(rows: int, seed: int, seconds: float) -> Result:
    """Train and repair one player, and certify it if it is unbeatable."""
    times = [time.process_time()]
    *_, last = selfplay.training(configuration(f"{FLAGS} --rows {rows}", seed))
    times.append(time.process_time())
    assert isinstance(last.player, QPlayer)
    rounds = []
    for state in repair(last.player, patch, POSITIONS):
        rounds.append(state)
        if time.process_time() - times[1] >= seconds:
            break
    times.append(time.process_time())
    verdict = evaluate_policy(player_policy(state.player), positions=POSITIONS)
    result = {
        "plies": last.steps,
        "training s": times[1] - times[0],
        "beaten from": rounds[0].mistakes.beaten,
        "of its positions": rounds[0].mistakes.positions,
        "corrected": state.corrected,
        "rounds": len(rounds) - 1,
        "repair s": times[2] - times[1],
        "end": "proved" if verdict.unexploitable else "stopped",
        "still beaten from": state.mistakes.beaten,
    }
    return result | certified(state.player) if verdict.unbeatable else result


def certified(player: QPlayer) -> Result:
    """Write the certificate of an unbeatable player, and check it by the program that shares nothing with ours."""
    times, policy = [time.process_time()], player_policy(player)
    content = certificate.file_content(policy, certificate.unbeatable_play(policy, POSITIONS, "the player"), None)
    times.append(time.process_time())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.txt.gz"
        path.write_bytes(content)
        positions, problem, _ = check_certificate.check(check_certificate.Certificate(str(path)))
    times.append(time.process_time())
    return {
        "certified positions": positions,
        "certificate s": times[1] - times[0],
        "check s": times[2] - times[1],
        "checked": problem or "unbeatable",
    }


def main(
    rows: int = 5, seeds: tuple[int, ...] = tuple(range(10)), seconds: float = 600.0, docs: Path | None = None
) -> None:
    """Train players of 5,5,4, repair them, and certify them; save each as it ends.

    Args:
        rows: Rows of the board.
        seeds: Seeds to train with.
        seconds: Seconds after which a repair ends with the round that it is in.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    title = f"Repaired on {rows}x5x4"
    measured_on, results = harness.start(title, seeds=seeds), {}
    search_value(Rules(), 0, 0)  # compiles
    for seed in seeds:
        results[seed] = [measure(rows, seed, seconds)]
        if docs is not None:
            data.save(docs, title, results, measured_on)
    harness.present(results, "a row for each seed")


if __name__ == "__main__":
    tyro.cli(main)
