"""A player of 5,5,4 that learns from all of its own play until it never loses, in both seats.

    python benchmarks/learning/five_by_five/learn_from_all_play.py RUN OUT

RUN is the folder of a run whose network passes messages. Each round follows all that the player does against every
reply (`follow.cpp`), and ends if no move of it loses. Where one does, the search has found another that does not: so
all positions in its list are known not to be lost. Then the network learns that in each of its positions the best of
the moves that lead only to such positions is worth more than every other move. OUT gets the player's run folder.
"""

import copy
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn

import selfplay
from selfplay.dqn.player import completing_cells
from tictactoe import planes

ROWS = np.dtype(
    [
        ("mine", "<u4"),
        ("theirs", "<u4"),
        ("lost_moves", "<u4"),
        ("chosen", "u1"),
        ("move", "u1"),
        ("lost", "u1"),
        ("", "u1"),
    ]
)
NO_MOVE = 255
SEATS = (0, 1)
CELLS = 25
UPDATES, WARMUP = 1_500, 50
LEARNING_RATE = 3e-4
PART = {0: 10, 1: 2_000, 2: 20_000, 3: 20_000, 4: 40_000, 5: 40_000, 6: 40_000, 7: 50_000, 8: 50_000, 9: 30_000}
"""Positions looked at in each round, by the number of the player's moves before them; of later ones `LATE`."""
LATE = 15_000
NEAR = 0.15
"""Positions in which a move not known to be safe is at most this much behind are learned from; of others as a share."""
PLY_WEIGHTS = (0.05, 0.3, 1, 1, 1, 1, 1, 1, 0.8, 0.5, 0.2, 0.1, 0.05)
FROM_PLAY, FROM_LOST, FROM_CORRECTIONS = 224, 64, 32
"""Positions in a batch: of the player's play, of those with known lost moves, and of those where its move loses."""
MARGIN, MARGIN_TO_LOST = 0.05, 0.1
KEEP_VALUES = 0.3
"""Weight of the loss that keeps the values near those before the round."""
LEAST = -1e9


class Follow:
    """The search program, with its files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "follow"
        source = Path(__file__).with_name("follow.cpp")
        subprocess.run(
            ["g++", "-std=c++20", "-O3", "-march=native", "-ffast-math", "-o", self.program, source], check=True
        )

    def play(self, network: nn.Module, seat: int) -> tuple[np.ndarray, np.ndarray]:
        """Return all positions that the player reaches in a seat, and all with moves that are known to lose."""
        write_weights(network, self.folder / "weights")
        out = self.folder / f"seat_{seat}"
        lost = out.with_suffix(".lost")
        command = [self.program, "play", self.folder / "weights", str(seat), lost if lost.exists() else "-", out]
        subprocess.run(command, check=True, capture_output=True)
        return np.fromfile(out.with_suffix(".reached"), ROWS), np.fromfile(lost, ROWS)

    def safe_moves(self, known: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the moves, bitboards [n], that lead from positions to known ones alone."""
        known.tofile(self.folder / "known")
        np.stack([rows["mine"], rows["theirs"]], axis=1).tofile(self.folder / "questions")
        answers = self.folder / "answers"
        subprocess.run(
            [self.program, "safe", *(self.folder / name for name in ("known", "questions", "answers"))], check=True
        )
        return np.fromfile(answers, "<u4")


def write_weights(network: nn.Module, path: Path) -> None:
    """Write a network as `follow.cpp` reads it."""
    layers = [layer for each in network.rounds for layer in (each.line, each.message, each.cell)]
    layers += [network.mean, *network.hidden, network.output]
    with path.open("wb") as file:
        file.write(np.array([len(network.rounds), network.mean.in_features, len(network.hidden)], "<i4").tobytes())
        for layer in layers:
            biased = layer.bias is not None
            file.write(np.array([*layer.weight.shape, biased], "<i4").tobytes())
            file.write(layer.weight.detach().numpy().tobytes())
            if biased:
                file.write(layer.bias.detach().numpy().tobytes())


def keys(rows: np.ndarray) -> np.ndarray:
    """Return one number for each position."""
    return rows["mine"].astype(np.int64) << CELLS | rows["theirs"]


def cells(boards: np.ndarray) -> torch.Tensor:
    """Return bitboards [n] as cells [n, A] bool."""
    return torch.from_numpy(planes.bits(CELLS, boards.astype(np.int64)) != 0)


def observations(rows: np.ndarray) -> torch.Tensor:
    """Return what the mover sees [n, 3A]."""
    mine, theirs = cells(rows["mine"]), cells(rows["theirs"])
    return torch.stack([~(mine | theirs), mine, theirs], dim=2).flatten(1).float()


def playable(seen: torch.Tensor, lines: torch.Tensor) -> torch.Tensor:
    """Return the cells [n, A] bool that the player chooses from: those that win, if there are any."""
    wins = completing_cells(seen, lines)
    return torch.where(wins.any(dim=1, keepdim=True), wins, seen[:, ::3] != 0)


def best(values: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """Return the highest allowed value [n]."""
    return values.where(allowed, LEAST).amax(dim=1)


def leads(network: nn.Module, rows: np.ndarray, safe: np.ndarray, lines: torch.Tensor) -> np.ndarray:
    """Return by how much the best safe move is worth more than the best other one, [n]."""
    parts = []
    for start in range(0, len(rows), 512):
        seen = observations(rows[start : start + 512])
        good, allowed = cells(safe[start : start + 512]), playable(seen, lines)
        with torch.no_grad():
            values = network(seen)
        parts.append(best(values, good) - best(values, allowed & ~good))
    return torch.cat(parts).numpy() if parts else np.zeros(0)


def training_part(reached: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a part of the positions reached, a large one of the early plies, which are few and lead to all others."""
    moves = np.bitwise_count(reached["mine"])
    numbers = [random.permutation(np.flatnonzero(moves == made))[: PART.get(made, LATE)] for made in range(13)]
    return reached[np.concatenate(numbers)]


def learn(
    network: nn.Module,
    follow: Follow,
    known: np.ndarray,
    reached: np.ndarray,
    lost: np.ndarray,
    lines: torch.Tensor,
    random: np.random.Generator,
) -> None:
    """Teach the network to prefer moves that are known to be safe."""
    corrections = reached[reached["move"] != reached["chosen"]]
    lost = random.permutation(lost[(lost["lost"] == 0) & (lost["move"] != NO_MOVE)])[:100_000]
    sources = []
    for rows in (training_part(reached, random), lost, corrections):
        safe = follow.safe_moves(known, rows)
        sources.append((rows[safe != 0], safe[safe != 0]))
    rows, safe = sources[0]
    lead = leads(network, rows, safe, lines)
    near = (lead < NEAR) | (random.random(len(lead)) < NEAR)
    sources[0] = rows[near], safe[near]
    weight = 1 / (np.clip(lead[near], 0, None) + 0.03)
    moves = np.bitwise_count(rows[near]["mine"])
    for made in np.unique(moves):
        weight[moves == made] *= PLY_WEIGHTS[made] / weight[moves == made].sum()
    cumulated = np.cumsum(weight) / weight.sum()
    before = copy.deepcopy(network).requires_grad_(False)
    optimizer = torch.optim.Adam(network.parameters())
    for update in range(UPDATES):
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * (1 - update / UPDATES) * min(1, (update + 1) / WARMUP)
        chosen = [np.minimum(np.searchsorted(cumulated, random.random(FROM_PLAY)), len(cumulated) - 1)]
        for (source, _), count in zip(sources[1:], (FROM_LOST, FROM_CORRECTIONS), strict=True):
            chosen.append(random.integers(len(source), size=count) if len(source) else np.zeros(0, np.int64))
        rows = np.concatenate([source[which] for (source, _), which in zip(sources, chosen, strict=True)])
        good = cells(np.concatenate([safe[which] for (_, safe), which in zip(sources, chosen, strict=True)]))
        bad, seen = cells(rows["lost_moves"]) & ~good, observations(rows)
        values, allowed = network(seen), playable(seen, lines)
        with torch.no_grad():
            values_before = before(seen)
        highest = best(values, good)
        to_lost = (MARGIN_TO_LOST + best(values, allowed & bad) - highest).relu()
        to_others = (MARGIN + best(values, allowed & ~good) - highest).relu()
        change = nn.functional.huber_loss(values, values_before, reduction="none")
        kept = (seen[:, ::3] != 0) & ~cells(rows["lost_moves"])
        change = change.where(kept, 0).sum(dim=1) / (seen[:, ::3] != 0).sum(dim=1)
        loss = (to_lost + to_others + KEEP_VALUES * change).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(run: Path, out: Path) -> None:
    """Train the player of a run until none of its moves loses."""
    torch.set_num_threads(1)
    work = out / "work"
    work.mkdir(parents=True)
    follow = Follow(work)
    player = selfplay.load(run)
    network, lines = player.networks[0].requires_grad_(True), player.lines
    random = np.random.default_rng(0)
    known = np.zeros(0, np.int64)
    while True:
        started = time.time()
        plays = [follow.play(network, seat) for seat in SEATS]
        reached, lost = (np.concatenate(rows) for rows in zip(*plays, strict=True))
        wrong = [int((rows["move"] != rows["chosen"]).sum()) for rows, _ in plays]
        counts = [len(rows) for rows, _ in plays]
        if 0 in counts:
            sys.exit(f"a seat is lost from the start: {counts}")
        new = len(np.union1d(known, keys(reached))) - len(known)
        known = np.union1d(known, keys(reached))
        print(
            f"{counts} positions as X and O, {new} new; moves that lose: {wrong}; {time.time() - started:.0f} s",
            flush=True,
        )
        shutil.copy(run / "config.json", out)
        tensors = {f"shared.{name}": tensor.detach() for name, tensor in network.state_dict().items()}
        assert tensors.keys() == load_file(run / "model.safetensors").keys()
        save_file(tensors, out / "model.safetensors")
        if not any(wrong):
            return
        started = time.time()
        learn(network, follow, known, reached, lost, lines, random)
        print(f"learned for {time.time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
