"""Ctrl-C while a command is still importing ends it without a traceback, and leaves other programs as they are."""

import os
import signal
from pathlib import Path

import pytest

from tests.runs import ROOT, python

PRESSED = """\
import os, signal
os.kill(os.getpid(), signal.SIGINT)
raise SystemExit(7)
"""
"""Replaces PyTorch: its import is interrupted by Ctrl-C, and ends the program where that is ignored."""
FIRST_LINE = "Training dqn on 3,3,3: seed 0\n"
"""Shown before the import, which takes seconds."""
CATCHING = "try:\n    import selfplay, torch\nexcept KeyboardInterrupt:\n    print('mine')"


@pytest.mark.parametrize(
    ("command", "handler", "ended"),
    [
        (
            f"{ROOT / 'train.py'}",
            signal.SIG_DFL,
            (130, FIRST_LINE, "python train.py: interrupted\n"),
        ),
        ("-m selfplay prove shipped", signal.SIG_IGN, (7, "", "")),
        ("-m benchmarks.environment.speed", signal.SIG_DFL, (-signal.SIGINT, "", "")),
        ("mine.py", signal.SIG_DFL, (0, "mine\n", "")),
    ],
)
def test_ctrl_c_at_the_import_of_pytorch(
    command: str,
    handler: signal.Handlers,
    ended: tuple[int, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "torch.py").write_text(PRESSED)
    (tmp_path / "mine.py").write_text(CATCHING)
    path = os.pathsep.join(map(str, (tmp_path, ROOT / "envs", ROOT / "agents", ROOT)))
    monkeypatch.setenv("PYTHONPATH", path)
    before = signal.signal(signal.SIGINT, handler)  # which the child inherits
    try:
        done = python(*command.split(), cwd=tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.returncode, done.stdout, done.stderr) == ended
