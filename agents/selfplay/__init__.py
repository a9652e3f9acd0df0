"""Agents for tic-tac-toe and its m,n,k family, trained by self-play and evaluated exactly."""

from selfplay.agent import Agent, Player
from selfplay.errors import UserError
from selfplay.evaluation import Evaluation, SeatEvaluation, evaluate
from selfplay.run_folder import load

__all__ = ["Agent", "Evaluation", "Player", "SeatEvaluation", "UserError", "evaluate", "load"]
