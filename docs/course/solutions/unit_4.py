# %%
class ReplayMemory:
    """Keep the newest `capacity` rows."""

    def __init__(self, capacity, width):
        self.rows = torch.zeros(capacity, width)
        self.added = 0  # rows that were ever added

    def add(self, rows):
        """Store rows [n, width] with n at most the capacity, over the oldest ones."""
        places = (self.added + torch.arange(len(rows))) % len(self.rows)
        self.rows[places] = rows
        self.added += len(rows)

    def sample(self, number, generator):
        """Return rows [number, width], drawn with torch.randint(..., generator=generator)."""
        filled = min(self.added, len(self.rows))
        return self.rows[torch.randint(filled, (number,), generator=generator)]


@torch.no_grad()
def follow(target_network, network, rate):
    """Move each weight of the target network a part `rate` of the way to that of the network, in place."""
    for slow, quick in zip(target_network.parameters(), network.parameters(), strict=True):
        slow.lerp_(quick, rate)  # slow + rate * (quick - slow)
