"""How this program was started, for lines that can be pasted."""

import shlex
import shutil
import sys
from pathlib import Path


def command(*words: str) -> str:
    """Return a command line of this program as one would type it here, such as that of `selfplay prove RUN`."""
    started = Path(sys.argv[0])
    if words[0] == "train" and started.name == "train.py":
        return shlex.join([_python(), str(started), *words[1:]])
    return shlex.join([*_installed("selfplay", "selfplay"), *words])


def tensorboard(folder: Path) -> str:
    """Return the command line that shows a folder of runs in TensorBoard."""
    return shlex.join([*_installed("tensorboard", "tensorboard.main"), "--logdir", str(folder)])


def _installed(script: str, module: str) -> list[str]:
    """Return the script if a shell finds the one of this interpreter, else the module with the interpreter."""
    found = shutil.which(script)
    return [script] if found and Path(found).parent == Path(sys.executable).parent else [_python(), "-m", module]


def _python() -> str:
    executable, here = Path(sys.executable), Path.cwd()
    return str(executable.relative_to(here) if executable.is_relative_to(here) else executable)
