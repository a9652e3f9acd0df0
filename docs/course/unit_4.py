# %% [markdown]
# # Unit 4: from the table to a network
#
# **What it is for.** A table has a row for every position, and what it learns about one does not help with another. A
# network also answers for positions that it has never seen, so it can play games too large for a table. The price: each
# correction changes *every* answer a little. Two parts of the DQN (deep Q-network) reduce this problem, and you write
# both. The **replay memory** mixes old moves with the new ones, so that the network does not forget them. The **target
# network** is a slow copy of the network that gives the targets, so that they do not change with each update.
#
# **Afterwards you can** write and test a ring buffer and a target network, read a DQN loop, and doubt a ranking from
# one seed.
#
# **You need** unit 3, and some PyTorch. **Time:** about 60 minutes; the computer needs a few seconds.

# %%
import copy

import matplotlib.pyplot as plt
import torch

import selfplay
from selfplay.lessons import predict, prepared, require, reveal
from tictactoe import Rewards, Rules, batch

RULES = Rules()
BOARDS = 256  # games played side by side, each at its own ply (move)
torch.set_num_threads(1)

# %% [markdown]
# ## Before you run anything
#
# At the end you see the same program learn in four ways: with both of your parts, without one of them, and without
# both. Each run stops at the first player that nobody can beat. Which way is the fastest, which the slowest? Does every
# run get there? And is the same way the slowest with each of three seeds?

# %%
predict("the fastest", ...)  # one of: "both", "no memory", "no target network", "neither"
predict("the slowest", ...)
predict("every run gets there", ...)  # True or False
predict("the slowest is the same with each seed", ...)  # True or False

# %% [markdown]
# ## Your turn
#
# **The memory** has room for `capacity` rows, each a vector of `width` numbers. `add` stores a block of rows; once the
# memory is full, new rows replace the oldest. `sample` returns random rows, each equally likely and with replacement,
# and never a place that has not been filled yet.
#
# **The target network** follows the network: each weight moves a fraction `rate` of the way to the network's weight.
#
# The network has the weights w, the target network the weights v. An update is a step down the slope of the loss, a
# mean over a sample of rows (s, a, r, s') from the memory:
#
# ```text
# target  =  r                                    if the game is over in s'
#            r - max over a' of Q(s', a'; v)      otherwise
# loss    =  mean of (Q(s, a; w) - target)^2
# v      <-  v + rate * (w - v)
# ```
#
# Source: Mnih et al. (2015), *Human-level control through deep reinforcement learning*; the memory is Lin's (1992), and
# the slow copy follows at each update as in Lillicrap et al. (2016). The minus sign is unit 3's.
#
# <details><summary>Hint 1</summary>
#
# Row number `n`, counted from 0 over all that were ever added, belongs in place `n % capacity`. If the memory is not
# full, only the first `self.added` places are filled. For the network, walk through both `parameters()` at once.
#
# </details>
#
# <details><summary>Hint 2, nearly the answer</summary>
#
# `places = (self.added + torch.arange(len(rows))) % len(self.rows)`; then add `len(rows)` to `self.added`. Sample below
# `min(self.added, len(self.rows))`. For each pair of weights, `slow += rate * (quick - slow)`.
#
# </details>


# %% tags=["blank"]
class ReplayMemory:
    """Keep the newest `capacity` rows."""

    def __init__(self, capacity, width):
        self.rows = torch.zeros(capacity, width)
        self.added = 0  # number of rows added so far

    def add(self, rows):
        """Store rows [n, width], with n at most the capacity; replace the oldest."""
        raise NotImplementedError("unit 4: write ReplayMemory.add")

    def sample(self, number, generator):
        """Return random rows [number, width]; use torch.randint(..., generator=generator)."""
        raise NotImplementedError("unit 4: write ReplayMemory.sample")


@torch.no_grad()
def follow(target_network, network, rate):
    """Move each weight of the target network a fraction `rate` of the way to the network's weight, in place."""
    raise NotImplementedError("unit 4: write follow")


# %% [markdown]
# ## Tests
#
# A DQN with a small mistake in its memory still learns something, so the mistake is easy to miss. These tests find it.

# %% tags=["folded"]
memory = ReplayMemory(5, 1)
memory.add(torch.tensor([[1.0], [2.0], [3.0]]))
drawn = memory.sample(1_000, torch.Generator().manual_seed(0))
require(drawn.shape == (1_000, 1), f"sample must return as many rows as asked for, [1000, 1], not {list(drawn.shape)}")
found = set(drawn.flatten().tolist())
require(found == {1.0, 2.0, 3.0}, f"the rows 1, 2 and 3 are in the memory, but it sampled {found}")
memory.add(torch.tensor([[4.0], [5.0], [6.0], [7.0]]))
drawn = memory.sample(10_000, torch.Generator().manual_seed(0)).flatten()
found = set(drawn.tolist())
require(found == {3.0, 4.0, 5.0, 6.0, 7.0}, f"3 to 7 are the newest five (6 and 7 wrap around), but it sampled {found}")
shares = [(drawn == row).float().mean().item() for row in range(3, 8)]
require(max(abs(share - 0.2) for share in shares) < 0.02, f"each row is equally likely, but the shares are {shares}")

one, two = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
with torch.no_grad():
    for weight in (*one.parameters(), *two.parameters()):
        weight.fill_(0.0)
    for weight in two.parameters():
        weight.fill_(1.0)
follow(one, two, 0.25)
follow(one, two, 0.25)
moved = [weight.item() for weight in one.parameters()]
require(moved == [0.4375, 0.4375], f"a quarter of the way from 0 to 1, twice, is 0.4375, but the weights are {moved}")
require([weight.item() for weight in two.parameters()] == [1.0, 1.0], "the network itself must not move")
print("The tests pass.")

# %% [markdown]
# ## The DQN
#
# The network sees the board from the mover's side: three numbers for each cell, which show whether it is empty, mine or
# theirs. It returns the value of each cell to the mover: the expected sum of rewards, where a win pays 1. A mask
# excludes taken cells (unit 5), and the target has a minus sign (unit 3). `Rewards()` also penalises a move that lets
# the opponent complete a line (unit 6).


# %%
def see(state):
    """Return the movers' views, [B, 27]."""
    return batch.observe(RULES, state, "mover").flatten(1).float()


def masked_values(network, seen):
    """Return the value of each cell [B, 9]; taken cells get a value below all others."""
    return network(seen).masked_fill(seen[:, ::3] == 0, -100.0)


class Greedy:
    """Play the cell with the highest value."""

    def __init__(self, network):
        self.network = network

    @torch.no_grad()
    def act(self, observation):
        """Return the cells [B] for observations [B, 3, 3, 3]."""
        seen = torch.as_tensor(observation).flatten(1).float()
        return masked_values(self.network, seen).argmax(dim=1).numpy()


def train(capacity, rate, seed=0, most_steps=3_000):
    """Learn by self-play; return the updates until it was unbeatable (or None), and the proofs."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = torch.nn.Sequential(torch.nn.Linear(27, 256), torch.nn.ReLU(), torch.nn.Linear(256, 9))
    target_network = copy.deepcopy(network).requires_grad_(False)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    memory = ReplayMemory(capacity, 27 + 1 + 27 + 1 + 1)
    state = batch.reset(RULES, BOARDS, torch)
    proofs = {}
    for step in range(1, most_steps + 1):
        # Act: half of the moves are random, the others are the network's best.
        seen = see(state)
        with torch.no_grad():
            best = masked_values(network, seen).argmax(dim=1)
        lots = torch.rand(BOARDS, 9, generator=generator).masked_fill(seen[:, ::3] == 0, -1.0).argmax(dim=1)
        cells = torch.where(torch.rand(BOARDS, generator=generator) < 0.5, lots, best)
        # Step, and store: view, cell, the opponent's next view, reward, and 1 if the game continues, else 0.
        played = batch.step(RULES, Rewards(), state, cells)
        goes_on = (~played.terminated).float()
        rows = (seen, cells[:, None].float(), see(played.state), played.reward[:, None], goes_on[:, None])
        memory.add(torch.cat(rows, dim=1))
        state = batch.restart(played.state, played.terminated)
        # Learn.
        seen, cell, seen_next, reward, goes_on = memory.sample(384, generator).split([27, 1, 27, 1, 1], dim=1)
        with torch.no_grad():
            opponents_best = masked_values(target_network, seen_next).max(dim=1, keepdim=True).values
            target = reward - goes_on * opponents_best
        loss = torch.nn.functional.mse_loss(network(seen).gather(1, cell.long()), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        follow(target_network, network, rate)
        if step % 50 == 0:
            proofs[step] = selfplay.evaluate(Greedy(target_network), RULES, perspective="mover")
            if proofs[step].unbeatable:
                return step, proofs
    return None, proofs


# %% [markdown]
# ## The check
#
# A large memory, and a target network that follows slowly.

# %%
updates, proofs = train(capacity=20_000, rate=0.05)
proof = list(proofs.values())[-1]
print(f"Ways to beat it: {proof.first.ways_to_beat} as X, {proof.second.ways_to_beat} as O, after {updates} updates.")
print(f"Best move in {proof.optimal_states:,} of {proof.decision_states:,} positions.")
require(proof.unbeatable, "your parts pass their tests, but it does not learn: did you change the loop?")
print("PASSED")

# %% [markdown]
# ## What you should see

# %%
plt.plot(proofs.keys(), [proof.ways_to_beat for proof in proofs.values()], marker="o")
plt.yscale("symlog")  # logarithmic, but with a place for 0
plt.ylim(-0.5, 1_000)
plt.title("Your DQN (one run)")
plt.xlabel("updates")
plt.ylabel("ways to beat it, both seats")

# %% [markdown]
# <details><summary>What it means</summary>
#
# It is unbeatable after about a thousand updates, but unlike the table of unit 2 it need **not** know the best move in
# every position. Its own play never leads to the positions in which it is wrong, so nobody can beat it there.
#
# </details>
#
# ## Now the four
#
# A memory with as many rows as boards holds only the last moves. A target network with `rate=1` is always equal to the
# network. The twelve runs take some minutes, so their curves come with the course: three seeds for each way.
# (`docs/studies/README.md` explains how we made the file with this program.)

# %%
runs = {}  # the evaluations of each run, (updates, ways to beat it), by its parts and its seed
for row in prepared("unit_4.csv"):
    runs.setdefault((row["parts"], int(row["seed"])), []).append((int(row["updates"]), int(row["ways_to_beat"])))
PARTS = ["both", "no memory", "no target network", "neither"]
SEEDS = sorted({seed for _, seed in runs})
figure, panels = plt.subplots(2, 2, sharex=True, sharey=True, figsize=(7, 5), layout="constrained")
for axes, parts in zip(panels.ravel(), PARTS, strict=True):
    for seed in SEEDS:
        axes.plot(*zip(*runs[parts, seed], strict=True), label=f"seed {seed}")
    axes.set_title(parts)
    axes.set_yscale("symlog")  # logarithmic, but with a place for 0
    axes.set_ylim(-0.5, 1_000)
figure.suptitle("A DQN with and without its parts (three runs each, to the first proof)")
figure.supxlabel("updates")
figure.supylabel("ways to beat it, both seats")
panels[0, 0].legend()
plt.savefig("unit_4.png")

# %%
needed = {parts: [runs[parts, seed][-1][0] for seed in SEEDS] for parts in PARTS}
for parts, updates in needed.items():
    print(f"{parts:17} proved after {updates} updates")
by_sum = sorted(PARTS, key=lambda parts: sum(needed[parts]))
slowest = {max(PARTS, key=lambda parts: needed[parts][run]) for run in range(len(SEEDS))}
reveal("the fastest", by_sum[0])
reveal("the slowest", by_sum[-1])
reveal("every run gets there", all(run[-1][1] == 0 for run in runs.values()))
reveal("the slowest is the same with each seed", len(slowest) == 1)

# %% [markdown]
# <details><summary>What it means</summary>
#
# Over these three seeds together, both parts are the fastest, and neither is the slowest. But with one seed a run
# without the memory is as fast as one with it. With another seed the slowest run lacks only the target network. A
# single seed proves nothing. In a game this small neither part is *needed*: without both, it still becomes unbeatable.
#
# </details>
#
# ## What to try next
#
# - Run one more seed yourself: `train(20_000, 0.05, seed=3)[0]` against `train(BOARDS, 1.0, seed=3)[0]`.
# - Break `sample` so that it samples from all places, filled or not. Which test finds it? Does training?
# - Copy the network to the target network once every two hundred updates, and do not change it in between.
# - `ReplayMemory` in `agents/selfplay/dqn/dqn.py` is our memory. What does it do that yours does not, and why?
#
# ## Look inside what you have trained
#
# The library trains a DQN with the same parts, and saves snapshots. Move through them: which squares does it get right
# first?

# %%
run = selfplay.train(mask=True)
print("selfplay web", run.folder)

# %% [markdown]
# In a terminal, run the line that this prints: `selfplay web FOLDER`.
