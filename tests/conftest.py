"""What holds for all tests: one thread, because more cost more than they bring here, and no window on the screen.

Convolutions on a GPU give the same bits each time, as in a run.
"""

import os

import torch

torch.set_num_threads(1)
torch.backends.cudnn.deterministic = True
os.environ["SDL_VIDEODRIVER"] = "dummy"
