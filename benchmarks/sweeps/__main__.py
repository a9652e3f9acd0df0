"""Run a sweep behind the figures of docs/results.md.

    python -m benchmarks.sweeps proof            # in sweeps/proof; saved by `python -m benchmarks.sweeps.evidence`

It is `selfplay sweep` with the flags below. `total_steps` are plies, after which a run without a proof ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from selfplay.cli import sweep
from selfplay.cli.flags import parse, run_command

PROG = "python -m benchmarks.sweeps"
Name = Literal["proof", "defaults"]
SWEEPS: dict[Name, str] = {
    # Time to a proof: the default, a mask, separate networks.
    "proof": """
        --seeds 0..99 --set total_steps=500000 --each mask=true --each networks=separate
        """,
    # One default changed at a time, to lower and higher values and to those of Mnih et al. (2015). Theirs are
    # epsilon_start=1, learning_rate=0.00025, batch_size=32, memory_size=1000000 and warmup=50000. They update every
    # four plies, towards which num_envs=4 goes (every two). hard_update copies the network every 10 or 100 updates, as
    # theirs every 10,000, instead of a soft target.
    "defaults": """
        --seeds 0..14 --set total_steps=500000
        --each target=independent,article --each double=true --each symmetry=none,augment
        --each counterexamples=0 --each counterexample_margin=0 --each rewards=sparse --each explore=any
        --each epsilon_start=1 --each loss=mse --each learning_rate=0.00025,0.003,0.048 --each hard_update=10,100
        --each soft_update=0.02,0.25 --each hidden=128,512 --each batch_size=32,768 --each updates_per_step=1
        --each memory_size=2500,1000000 --each warmup=50000 --each num_envs=4
        """,
}


@dataclass(frozen=True)
class SweepFlags:
    """Run a sweep behind the figures of docs/results.md."""

    name: Name = field(metadata={"positional": "NAME"})
    """Which sweep; its folder is sweeps/NAME."""


def main(args: Sequence[str]) -> None:
    """Run a sweep."""
    name = parse(SweepFlags, args, PROG).name
    sweep.main([*SWEEPS[name].split(), "--dir", f"sweeps/{name}"])


if __name__ == "__main__":
    run_command(main, PROG)
