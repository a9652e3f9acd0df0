"""The scripts behind the figures: each writes data files (`--docs docs`), and `pages` fills them into the pages.

| script | data in docs/ | page: blocks |
|---|---|---|
| `environment.speed` | data/speed-of-the-environments | speed: `speed.*` |
| `environment.search` | data/searching-large-boards | bigger-boards: `searching-large-boards.*` |
| `environment.rule` | data/the-rule | bigger-boards: `the-rule.*` |
| `learning.article_speed` | data/speed-of-the-published-dqn | speed: `speed-of-the-published-dqn.*` |
| `learning.bigger_boards` | data/bigger-boards | bigger-boards: `bigger-boards.*` |
| `learning.bigger_boards --tried` | data/tried-on-4x4x4 | what-did-not-work: `tried-on-4x4x4.*` |
| `learning.lapses` | data/lapses, lapses.png | training: `lapses.*` |
| `learning.learners` | data/the-published-learners | learning: `learners.*`, `the-published-learners.*` |
| `learning.published` | data/match-ups-of-afterstate-q, afterstate-q.csv and .png | learning: `published.*` |
| | data/greedy-games-of-td-backup, td-backup-*.png | learning: `greedy-games-of-td-backup.*` |
| | data/exercise | learning: `exercise.*` |
| `learning.repaired` | data/repaired-on-5x5x4, data/repaired-on-6x5x4 | bigger-boards: `repaired-on-*` |
| `learning.simulations` | data/simulations-until-proved, simulations.* | results: `simulations-until-proved.*` |
| `learning.targets` | data/the-three-targets, targets.csv | learning: `targets.*` |
| `learning.time_to_unbeatable` | data/time-to-unbeatable | speed: `time-to-unbeatable.*` |
| `learning.waiting` | data/from-pressing-return-to-a-proof | speed: `from-pressing-return-to-a-proof.*` |
| `page` | data/the-page | web: `the-page.*` |
| `peers` | data/peers, peers.csv, peers.png | baselines, protocol: `baselines.*`, `protocol.*`; README: the picture |
| `peers.tuning` | peers-tuning.csv | baselines: `baselines.settings` |
| `sweeps`, then `sweeps.evidence` | data/evidence, evidence/*.csv | evidence: all blocks |
| `sweeps.targets` | evidence/targets.csv, targets.png | learning, why-does-my-dqn-not-learn |
| `sweeps.disturbed` | data/disturbed-sweeps | reliability: `disturbed-sweeps.*` |
| `sweeps.ray_tune` | data/ray-tune | sweeps: `ray-tune.*` |
| `symptoms` | data/symptoms, symptoms.csv | why-does-my-dqn-not-learn: `symptoms.*` |

`data.files` on the page of results lists where the rows of every data file were measured.

data/tried-on-5x5x4 has no script: what was tried there were changes of the learner that were not kept.

The other modules are what these share: `harness` measures rows and seeds in turns, `data` reads and writes the files.
"""
