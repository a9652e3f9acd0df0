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
Name = Literal["proof", "defaults", "large", "unmasked", "sensitivity"]
SWEEPS: dict[Name, str] = {
    # Time to a proof: the default, a mask, separate networks.
    "proof": """
        --seeds 0..99 --set total_steps=500000 --each mask=true --each networks=separate
        """,
    # One default changed at a time; where Mnih et al. (2015) have another value, also theirs. Theirs are epsilon_start,
    # learning_rate, batch_size=32, memory_size, warmup and num_envs (an update every four plies). hard_update copies
    # the network every 10 or 100 updates, as theirs every 10,000, instead of a soft target.
    "defaults": """
        --seeds 0..19 --set total_steps=500000
        --each target=independent,article --each double=true --each symmetry=none,augment
        --each counterexamples=0,0.5 --each counterexample_margin=0 --each rewards=sparse --each explore=any
        --each epsilon_start=1 --each loss=mse --each learning_rate=0.00025 --each hard_update=10,100
        --each hidden=128,512 --each batch_size=32,96,768 --each updates_per_step=1 --each memory_size=1000000
        --each warmup=50000 --each num_envs=4
        """,
    # 4,4,4 with a mask: double targets, and an epsilon that stays, which make no difference on 3,3,3.
    "large": """
        --seeds 0..19 --set preset=large --set lines=4 --set hidden=256 --set mask=true --set total_steps=4000000
        --each double=true --each epsilon_end=0.5
        """,
    # 4,4,4 without a mask.
    "unmasked": """
        --seeds 0..19 --set preset=large --set total_steps=6000000 --each double=true
        """,
    # How much the time to a proof depends on one setting.
    "sensitivity": """
        --seeds 0..19 --set total_steps=500000
        --each learning_rate=0.0015,0.003,0.006,0.024,0.048 --each batch_size=48,96,384,768
        --each soft_update=0.01,0.02,0.04,0.12,0.25,1 --each epsilon_start=0.1,0.3,0.7,0.9
        --each memory_size=2500,5000,20000,40000 --each hidden=64,128,512,1024
        """,
}


@dataclass(frozen=True)
class Flags:
    """Run a sweep behind the figures of docs/results.md."""

    name: Name = field(metadata={"positional": "NAME"})
    """Which sweep; its folder is sweeps/NAME."""


def main(args: Sequence[str]) -> None:
    """Run a sweep."""
    name = parse(Flags, args, PROG).name
    sweep.main([*SWEEPS[name].split(), "--dir", f"sweeps/{name}"])


if __name__ == "__main__":
    run_command(main, PROG)
