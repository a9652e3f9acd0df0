"""Run commands of `selfplay` without what Windows has not: each argument is the arguments of one, with spaces between.

What else they import comes first, for it knows where it runs. Names of files are checked as Windows checks them,
folders cannot be opened, and our text files not without their encoding, which on Windows is seldom UTF-8.
"""

import os
import re
import signal
import sys
import warnings

import choix  # noqa: F401
import gymnasium.vector  # noqa: F401
import jupytext  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import numba  # noqa: F401
import pettingzoo  # noqa: F401
import rich.progress
import rich.table  # noqa: F401
import scipy.stats  # noqa: F401
import starlette.applications  # noqa: F401
import torch.utils.tensorboard  # noqa: F401

NO_NAME = re.compile(r'[<>:"|?*\\\x00-\x1f]|[^./][. ](?:/|$)')
"""What no path on Windows has in the name of a file or folder."""


def check_path(event: str, args: tuple[object, ...]) -> None:
    """Refuse what Windows refuses."""
    if event in ("open", "os.mkdir") and isinstance(args[0], str | bytes):
        path = os.fsdecode(args[0])
        if NO_NAME.search(path):
            raise OSError(22, "Windows has no such name", path)
        if event == "open" and os.path.isdir(path):  # noqa: PTH112 (what pathlib does has changed between versions)
            raise PermissionError(13, "Windows opens no folder", path)


def become_windows() -> None:
    """Remove what only POSIX has from here on."""
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "fork", "geteuid", "killpg", "sysconf"):
        delattr(os, name)
    for name in ("SIGHUP", "SIGKILL", "SIGPIPE"):
        delattr(signal, name)
    for name in ("fcntl", "pty", "resource", "termios"):
        sys.modules[name] = None  # type: ignore[assignment] # which makes an import of it fail
    sys.platform = "win32"
    warnings.filterwarnings("error", category=EncodingWarning, module="selfplay|tictactoe")
    sys.addaudithook(check_path)


if __name__ == "__main__":
    become_windows()
    from selfplay.cli.main import main

    for words in sys.argv[1:]:
        try:
            main(words.split())
        except SystemExit as ended:  # noqa: PERF203 (of a few commands)
            if ended.code:
                raise
