"""Command lines that can be pasted, and signals that stop a run."""

import signal
import sys
from pathlib import Path

import pytest

from selfplay.program import command, on_stop_signals, tensorboard


def test_what_a_shell_finds_is_offered_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py"])
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert command("train", "--resume", "my run") == "python train.py --resume 'my run'"
    assert tensorboard(Path("runs")) == "tensorboard --logdir runs"
    (tmp_path / "selfplay").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))  # with the program of another Python
    assert command("train", "--help") == f"{sys.executable} train.py --help"
    assert command("prove", "run") == f"{sys.executable} -m selfplay prove run"


def test_signals_call_what_stops_a_run_inside_the_block_only() -> None:
    before = signal.getsignal(signal.SIGTERM)
    calls = []
    with on_stop_signals(lambda: calls.append("stop")) as received:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
    assert received == [signal.SIGTERM, signal.SIGINT]
    assert calls == ["stop", "stop"]
    assert signal.getsignal(signal.SIGTERM) == before
