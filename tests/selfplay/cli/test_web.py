"""`selfplay web` writes one file and opens it; with --follow it serves that file, and writes it anew, until Ctrl-C."""

import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from subprocess import PIPE

import pytest

from selfplay.cli import web as command
from selfplay.runs.folder import MODEL
from tests.runs import refused, saved

PATIENCE = 60


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses that are opened in a browser."""
    addresses: list[str] = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    monkeypatch.setenv("DISPLAY", ":0")
    return addresses


def test_the_file_is_kept_or_temporary_and_opened(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("selfplay.web.player_data.RIVALS", ())
    file = tmp_path / "page.html"
    command.main(["shipped", "--out", str(file), "--no-open"])
    assert str(file) in capsys.readouterr().out
    assert opened == []
    command.main([])
    [temporary] = tmp_path.glob("*/*.html")
    assert temporary.read_bytes() == file.read_bytes()
    assert opened == [temporary.as_uri()]


def test_a_mistake_is_named_before_the_work_begins(tmp_path: Path) -> None:
    for args, named in (
        (["shipped", "--out", str(tmp_path)], str(tmp_path)),
        (["shipped", "--out", str(tmp_path / "no" / "page.html")], "no"),
        (["rule", "--follow"], "rule"),
        (["nobody"], "nobody"),
        ([str(tmp_path), "--follow"], "config.json"),
    ):
        assert named in refused(command.main, [*args, "--no-open"])


def test_a_run_is_followed_from_its_first_player_to_its_next_until_ctrl_c(tmp_path: Path) -> None:
    run, file = tmp_path / "run", tmp_path / "page.html"
    saved(run)
    model = run / MODEL
    shutil.move(model, tmp_path / "later")
    args = [sys.executable, "-m", "selfplay", "web", str(run), "--follow", "--no-open", "--out", str(file)]
    with subprocess.Popen(args, cwd=tmp_path, stdout=PIPE, stderr=PIPE, text=True) as process:
        try:
            time.sleep(1)
            assert not file.exists()
            shutil.move(tmp_path / "later", model)
            assert process.stdout is not None
            process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            assert address is not None
            first = urllib.request.urlopen(address[0], timeout=PATIENCE)
            assert first.read() == file.read_bytes()
            model.touch()
            end = time.monotonic() + PATIENCE
            while urllib.request.urlopen(address[0], timeout=PATIENCE).headers["ETag"] == first.headers["ETag"]:
                assert time.monotonic() < end
                time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "Traceback" not in complaint
