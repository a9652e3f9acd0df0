"""Every decision state of 3,3,3 as an agent sees it, [4520, 3, 3, 3] int8."""

import numpy as np

from tictactoe import Rules, batch, solve

_TREE = solve(Rules()).tree
_STATE = batch.State(*(field[_TREE.decisions].astype(np.int64) for field in (_TREE.mover, _TREE.opponent, _TREE.ply)))

ABSOLUTE = batch.observe(Rules(), _STATE, "absolute")
MOVER = batch.observe(Rules(), _STATE, "mover")
