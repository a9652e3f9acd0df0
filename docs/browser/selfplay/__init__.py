"""What units 1 and 2 import from selfplay, where a browser's Python has no NumPy: the same verdict in plain Python."""

from types import SimpleNamespace

from tictactoe import Rules, View, solve


def evaluate(agent, rules=None, perspective="absolute"):
    """Return the verdict on a function of one observation, after every sequence of replies."""
    rules = rules or Rules()
    player = Player(agent, rules, perspective)
    first, second = (SimpleNamespace(ways_to_beat=player.ways(seat)) for seat in (0, 1))
    solution = solve(rules)
    right = decisions = 0
    for mover, opponent, best in zip(solution.tree.mover, solution.tree.opponent, solution.optimal_moves, strict=True):
        if best:
            decisions += 1
            right += best >> player.cell(mover, opponent) & 1
    ways = first.ways_to_beat + second.ways_to_beat
    return SimpleNamespace(
        first=first, second=second, ways_to_beat=ways, unbeatable=ways == 0,
        optimal=right == decisions, optimal_states=right, decision_states=decisions,
    )  # fmt: skip


def counterexamples(agent, rules=None, perspective="absolute"):
    """Return the shortest game that beats an agent in each seat, or None where there is none."""
    player = Player(agent, rules or Rules(), perspective)
    return SimpleNamespace(shortest=tuple(player.shortest(seat) for seat in (0, 1)))


def train(*_, **__):
    """Say that this page cannot."""
    print("This page cannot train the library's learners: that needs an installation.")
    return SimpleNamespace(folder="NAME")


class Player:
    """An agent that is followed through every game; positions are the marks of the agent and of its opponent."""

    def __init__(self, agent, rules, perspective):
        self.agent, self.rules, self.perspective = agent, rules, perspective
        self.cells, self.found = {}, {}

    def cell(self, mine, theirs):
        """Return the agent's cell where it is to move."""
        if (mine, theirs) not in self.cells:
            marks = (mine, theirs)
            if self.perspective == "absolute" and mine.bit_count() != theirs.bit_count():
                marks = (theirs, mine)
            self.cells[mine, theirs] = int(self.agent(View(self.rules, *marks)))
        return self.cells[mine, theirs]

    def starts(self, seat):
        """Return the games before the agent's first move: the cells so far, and the position."""
        return [((), (0, 0))] if seat == 0 else [((cell,), (0, 1 << cell)) for cell in range(self.rules.cells)]

    def replies(self, mine, theirs):
        """Return whether the agent loses by its own move, and the replies to it: cells, and the position after them."""
        cell = self.cell(mine, theirs)
        if (mine | theirs) >> cell & 1:
            return True, [((cell,), None)]
        mine |= 1 << cell
        if self.rules.has_line(mine):
            return False, []
        empty = self.rules.cells_of(self.rules.empty_cells(mine, theirs))
        return False, [((cell, reply), (mine, theirs | 1 << reply)) for reply in empty]

    def ways(self, seat):
        """Return in how many ways it can be beaten in a seat."""
        return sum(self.ways_from(*position) for _, position in self.starts(seat))

    def ways_from(self, mine, theirs):
        """Return in how many ways it can be beaten from a position in which it is to move."""
        if (mine, theirs) not in self.found:
            illegal, replies = self.replies(mine, theirs)
            ways = int(illegal)
            for _, after in replies if not illegal else ():
                if self.rules.has_line(after[1]):
                    ways += 1
                elif self.rules.empty_cells(*after):
                    ways += self.ways_from(*after)
            self.found[mine, theirs] = ways
        return self.found[mine, theirs]

    def shortest(self, seat):
        """Return the cells of the shortest game in which it is beaten in a seat; None if there is none."""
        games = self.starts(seat)
        lost = []
        while games and not lost:
            longer = []
            for played, position in games:
                illegal, replies = self.replies(*position)
                for cells, after in replies:
                    if illegal or self.rules.has_line(after[1]):
                        lost.append(played + cells)
                    elif self.rules.empty_cells(*after):
                        longer.append((played + cells, after))
            games = longer
        return min(lost, key=len, default=None)
