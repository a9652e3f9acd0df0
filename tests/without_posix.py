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

ABSENT = {
    os: ("O_NOFOLLOW", "O_NONBLOCK", "fchmod", "fork", "geteuid", "getuid", "killpg", "mkfifo", "sysconf", "uname"),
    signal: ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "setitimer"),
}
NO_NAME = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)', re.IGNORECASE)
"""What is found in no name on Windows."""


def check_path(event: str, args: tuple[object, ...]) -> None:
    """Refuse what Windows refuses."""
    paths = args[: {"open": 1, "os.mkdir": 1, "os.rename": 2}.get(event, 0)]
    for path in map(os.fsdecode, (each for each in paths if isinstance(each, (str, bytes)))):
        if any(NO_NAME.search(part) for part in path.split("/") if part not in (".", "..")):
            raise OSError(22, "Windows has no such name", path)
        if event == "open" and os.path.isdir(path):  # noqa: PTH112 (what pathlib does has changed between versions)
            raise PermissionError(13, "Windows opens no folder", path)


def become_windows() -> None:
    """Remove what only POSIX has from here on."""
    for module, names in ABSENT.items():
        for name in names:
            delattr(module, name)
    for name in ("fcntl", "posix", "pty", "resource", "termios"):
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
