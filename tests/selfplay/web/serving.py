"""A server of the page in this process, on a port of its own, and requests to it over a real socket."""

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.cli.web import listen, server
from selfplay.web.catalogue import Catalogue
from tictactoe import Rules

PATIENCE = 60
"""Seconds after which a server hangs."""


class Answer(NamedTuple):
    """A response of the server."""

    status: int
    headers: Mapping[str, str]
    """Their names in small letters."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Served(NamedTuple):
    """A server to which requests are sent."""

    port: int

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Send a request as a browser does, with these headers beside or instead of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            return Answer(
                response.status, {name.lower(): text for name, text in response.getheaders()}, response.read()
            )

    def players(self) -> dict[str, dict[str, Any]]:
        """Return the entries of the players by name."""
        return {entry["name"]: entry for entry in self.get("/api/players").json["players"]}

    def send(self, content: bytes) -> bytes:
        """Send bytes as they are, and return all that comes back until the server ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(content)
                connection.shutdown(socket.SHUT_WR)
            back = b""
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(1 << 16):
                    back += part
            return back


@contextlib.contextmanager
def serving(*named: str, runs: Path | None = None, rules: Rules | None = None) -> Iterator[Served]:
    """Serve the page of these players until the end of the block."""
    catalogue = Catalogue(named, runs, "absolute", rules or Rules())
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        started = server(catalogue, "127.0.0.1", port)
        thread = threading.Thread(target=started.run, args=([listening],))
        thread.start()
        try:
            yield Served(port)
        finally:
            started.should_exit = True
            thread.join(PATIENCE)
