"""Agents for tic-tac-toe and its m,n,k family, trained by self-play and evaluated exactly."""

from selfplay.agent import Agent, Player
from selfplay.errors import UserError
from selfplay.evaluation import Evaluation, Proof, SeatEvaluation, evaluate
from selfplay.reach import Unfinished, Unproved, evaluate_reach
from selfplay.run_folder import load

__all__ = [
    "Agent",
    "Evaluation",
    "Player",
    "Proof",
    "SeatEvaluation",
    "Unfinished",
    "Unproved",
    "UserError",
    "evaluate",
    "evaluate_reach",
    "load",
]
