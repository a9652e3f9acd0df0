"""`selfplay web` says where the page is, ends quietly at Ctrl-C, and tells every mistake in one line."""

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


def test_ctrl_c_ends_it_without_a_word_of_complaint_though_a_page_listens(tmp_path: Path) -> None:
    args = [sys.executable, "-m", "selfplay", "web", "--port", "0", "--no-open"]
    with subprocess.Popen(args, cwd=tmp_path, stdout=PIPE, stderr=PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = re.fullmatch(
                r"The page is at http://127\.0\.0\.1:(\d+)/ \(Ctrl-C ends it\)\.\n", process.stdout.readline()
            )
            assert said
            served = Served(int(said[1]))
            assert served.get("/api/analysis?player=0&board=.........").status == 200
            with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as listening:
                listening.sendall(f"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode())
                assert listening.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")
                process.send_signal(signal.SIGINT)
                output, complaint = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert (process.returncode, output, complaint) == (0, "\nThe page is closed.\n", "")


def test_a_taken_port_is_one_line_that_names_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        wanted = f"port {port} is taken; choose another with --port, or 0 for any free port"
        assert refused(command.main, ["--port", str(port), "--no-open"]) == wanted


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid", "x" * 300, "a b"])
def test_an_address_that_is_not_ours_is_one_line(host: str) -> None:
    assert refused(listen, host, 0) == f"--host {host}: is not an address of this machine"


@pytest.mark.parametrize(
    ("host", "shown", "screen"),
    [("127.0.0.1", "127.0.0.1", ""), ("::1", "[::1]", ":0"), ("0.0.0.0", "127.0.0.1", ":0")],
)
def test_the_page_is_announced_and_opened_where_there_is_a_screen(
    host: str, shown: str, screen: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", screen)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    announce(WebConfig(host=host), 8000)
    said = capsys.readouterr()
    assert said.out == f"The page is at http://{shown}:8000/ (Ctrl-C ends it).\n"
    warning = f"Warning: with --host {host} anybody who reaches this machine can use the page.\n"
    assert said.err == (warning if host == "0.0.0.0" else "")
    announce(WebConfig(host=host, open=False), 8000)
    assert opened == ([f"http://{shown}:8000/"] if screen else [])
