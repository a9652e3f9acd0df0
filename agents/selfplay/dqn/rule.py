"""The built-in rule as a rating of cells, which a player can add to its values where it chooses a move.

It is Heuristically Accelerated Minimax-Q (Bianchi et al. 2014, IEEE Transactions on Cybernetics 44(2)): the rating has
a part in which move is made and none in what is learned of it. On a board with many moves that lead to a draw the
values leave open which of them is made; the rule makes the one that closes the most lines, and far fewer positions
follow.
"""

import torch
from torch import Tensor

from tictactoe.opponents import MOST_MARKS, RULE_BASE
from tictactoe.rules import Rules


class RuleRating:
    """Rate the cells of network inputs [B, 3A] of either perspective from 0 to 1, as `rule_choices` orders them.

    Cells that win are rated 1 and all others 0; else cells that keep the opponent from winning; else each empty cell as
    its worth is to that of the most valuable. A rating of 1 has exactly what the rule would choose among.
    """

    def __init__(self, rules: Rules, device: torch.device) -> None:
        cells = torch.tensor([list(rules.cells_of(line)) for line in rules.lines], device=device)
        self._lines = torch.zeros((len(cells), rules.cells), device=device).scatter_(1, cells, 1.0)  # [L, A]
        self._one_left = rules.k - 1

    def __call__(self, inputs: Tensor) -> Tensor:
        """Return the ratings [B, A]."""
        planes = inputs.view(len(inputs), -1, 3)
        empty, first, second = planes.unbind(dim=2)
        # The mover never has more marks than the opponent, so that this tells the absolute view apart.
        ahead = (first.sum(dim=1) > second.sum(dim=1))[:, None]
        mine, theirs = (marks @ self._lines.T for marks in (first, second))
        mine, theirs = torch.where(ahead, theirs, mine), torch.where(ahead, mine, theirs)
        wins, blocks = (
            ((own == self._one_left) & (other == 0)).float() @ self._lines * empty > 0
            for own, other in ((mine, theirs), (theirs, mine))
        )
        both = mine + theirs
        worth = torch.where((mine > 0) & (theirs > 0), 0.0, RULE_BASE ** both.clamp(max=MOST_MARKS))
        value = worth @ self._lines * empty
        most = value.amax(dim=1, keepdim=True)
        rating = torch.where(most > 0, value / most.clamp(min=1.0), empty)  # without an open line all are alike
        for decisive in (blocks, wins):
            rating = torch.where(decisive.any(dim=1, keepdim=True), decisive.float(), rating)
        return rating
