# %%
class ReplayMemory:
    """Keep the newest `capacity` rows."""

    def __init__(self, capacity, width):
        self.rows = torch.zeros(capacity, width)
        self.added = 0  # number of rows added so far

    def add(self, rows):
        """Store rows [n, width], with n at most the capacity; replace the oldest."""
        places = (self.added + torch.arange(len(rows))) % len(self.rows)
        self.rows[places] = rows
        self.added += len(rows)

    def sample(self, number, generator):
        """Return random rows [number, width]; use torch.randint(..., generator=generator)."""
        filled = min(self.added, len(self.rows))
        return self.rows[torch.randint(filled, (number,), generator=generator)]


@torch.no_grad()
def follow(target_network, network, rate):
    """Move each weight of the target network a fraction `rate` of the way to the network's weight, in place."""
    for slow, quick in zip(target_network.parameters(), network.parameters(), strict=True):
        slow.lerp_(quick, rate)  # slow + rate * (quick - slow)
