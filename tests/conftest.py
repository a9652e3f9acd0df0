"""What holds for all tests: one thread, because more cost more than they bring here, and no window on the screen."""

import os

import torch

torch.set_num_threads(1)
os.environ["SDL_VIDEODRIVER"] = "dummy"
