"""Speed and memory as things grow; `python -m benchmarks.scaling` (see `__main__.py`) measures and plots them."""
