"""What `python -m benchmarks` measures in brief, keeps and compares."""
