"""Mistakes that a user can make and mend: shown as one line, never as a traceback."""


class UserError(ValueError):
    """Say in one line what is wrong, naming the value or the file, and what to do instead."""
