"""Judging: an agent is asked for its moves, followed through every reply, and given an exact verdict."""
