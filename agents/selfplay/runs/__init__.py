"""One run of any learner: the loop, the run folder, checkpoints, snapshots, metrics and plots.

`python train.py --mask` passes through these modules:

- `cli/train.py` turns flags into a `DQNConfig`.
- `api.py` makes the learner of these settings, `dqn/learner.py` around `dqn/dqn.py`, and opens the folder, `run.py`.
- `loop.py` repeats until the player is proved or the steps are spent: advance (act, step, store, learn), evaluate
  (`judge/`), record (metrics.jsonl, TensorBoard), teach (the next games start where it was beaten), snapshot,
  checkpoint, stop.
- `named_players.py` reads the folder into a player, for `selfplay prove`, `play`, `web`, `arena` and `certify`.
"""
