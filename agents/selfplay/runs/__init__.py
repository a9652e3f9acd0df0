"""One run of any learner: the loop, the run folder, checkpoints, snapshots, metrics and plots."""
