"""Ctrl-C while a command is still importing ends it without a traceback, and leaves other programs as they are."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.runs import ROOT

PRESSED = """\
import os, signal
os.kill(os.getpid(), signal.SIGINT)
raise SystemExit(7)
"""
"""Replaces PyTorch: its import is interrupted by Ctrl-C, and ends the program where that is ignored."""
CATCHING = "try:\n    import selfplay, torch\nexcept KeyboardInterrupt:\n    print('mine')"
TRAIN, PROVE = [str(ROOT / "train.py")], ["-m", "selfplay", "prove", "shipped"]
BENCHMARK = ["-m", "benchmarks.environment.speed"]


@pytest.mark.parametrize(
    ("arguments", "handler", "ended"),
    [
        (TRAIN, signal.SIG_DFL, (130, "", "python train.py: interrupted\n")),
        (PROVE, signal.SIG_DFL, (130, "", "selfplay prove: interrupted\n")),
        (PROVE, signal.SIG_IGN, (7, "", "")),
        (BENCHMARK, signal.SIG_DFL, (-signal.SIGINT, "", "")),
        (BENCHMARK, signal.SIG_IGN, (7, "", "")),
        (["-c", CATCHING], signal.SIG_DFL, (0, "mine\n", "")),
        (["-m", "lab.learn"], signal.SIG_DFL, (0, "mine\n", "")),
    ],
    ids=["train.py", "prove", "prove, ignored", "benchmark", "benchmark, ignored", "other program", "other package"],
)
def test_ctrl_c_at_the_import_of_pytorch(
    arguments: Sequence[str], handler: signal.Handlers, ended: tuple[int, str, str], tmp_path: Path
) -> None:
    (tmp_path / "torch.py").write_text(PRESSED)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "__init__.py").write_text(CATCHING)
    (tmp_path / "lab" / "learn.py").write_text("")
    path = os.pathsep.join(map(str, (tmp_path, ROOT / "envs", ROOT / "agents", ROOT)))
    command, environment = [sys.executable, *arguments], os.environ | {"PYTHONPATH": path}
    before = signal.signal(signal.SIGINT, handler)  # which the child inherits
    try:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.returncode, done.stdout, done.stderr) == ended
