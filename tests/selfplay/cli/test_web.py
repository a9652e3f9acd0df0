"""`selfplay web` says where the page is, ends quietly at Ctrl-C, and names what it cannot listen on."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from selfplay.cli import web as command
from selfplay.cli.web import WebConfig, announce, listen
from tests.runs import refused
from tests.selfplay.web.serving import Served

PATIENCE = 60


def test_ctrl_c_ends_it_without_a_word_of_complaint(tmp_path: Path) -> None:
    args = [sys.executable, "-m", "selfplay", "web", "--port", "0", "--no-open"]
    with subprocess.Popen(args, cwd=tmp_path, stdout=PIPE, stderr=PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
            assert address is not None
            assert Served(int(address[1])).get("/api/analysis?player=0&board=.........").status == 200
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert (process.returncode, complaint) == (0, "")


def test_a_taken_port_and_an_address_of_another_machine_are_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert str(port) in refused(command.main, ["--port", str(port), "--no-open"])
    for host in ("192.0.2.1", "no.such.host.invalid"):
        assert host in refused(listen, host, 0)


@pytest.mark.parametrize(
    ("host", "shown", "warned"),
    [("127.0.0.1", "127.0.0.1", False), ("::1", "[::1]", False), ("0.0.0.0", "127.0.0.1", True)],
)
def test_who_else_can_see_the_page_is_said(
    host: str, shown: str, warned: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    announce(WebConfig(host=host), 8000)
    announce(WebConfig(host=host, open=False), 8000)
    assert opened == [f"http://{shown}:8000/"]
    said = capsys.readouterr()
    assert opened[0] in said.out
    assert ("Warning" in said.err) is warned
