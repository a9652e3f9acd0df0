"""One thread for all tests: on networks this small, threads cost more than they bring."""

import torch

torch.set_num_threads(1)
