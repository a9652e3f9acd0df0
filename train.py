"""Train a player and prove what it is: `selfplay train`, for those who have cloned the repository.

    python train.py                  a DQN learns tic-tac-toe until it is proved unbeatable
    python train.py --mask --seed 1  the same with illegal moves barred, another seed
    python train.py minimax-q        one of the published tabular learners
    python train.py --help           every setting, and the other algorithms

The DQN is one file, agents/selfplay/dqn/dqn.py; the loop around every algorithm is agents/selfplay/runs/loop.py.
"""

import sys

try:
    from selfplay.cli.main import main
except ModuleNotFoundError as error:
    way_out = "activate the virtual environment, or install as the README says"
    print(f"python train.py: {error.name} is not installed in this Python; {way_out}", file=sys.stderr)
    sys.exit(2)

if __name__ == "__main__":
    main(["train", *sys.argv[1:]], "python train.py")
