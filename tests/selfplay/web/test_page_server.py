"""The page of a run that trains is served on this machine only: one page, at one address, to its own visitors."""

import contextlib
import http.client
from collections.abc import Iterator

import pytest

from selfplay.web.page_server import HEADERS, PageServer

PATIENCE = 60
PAGE = "<p>é</p>".encode()


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(PAGE, "1") as served:
        yield served
        served.shutdown()


def answer(server: PageServer, method: str, path: str, host: str | None) -> tuple[int, dict[str, str], bytes]:
    """Return the status, the headers and the body of an answer; OWN in a host is the server's port."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.putrequest(method, path, skip_host=True)
        if host is not None:
            connection.putheader("Host", host.replace("OWN", str(server.server_port)))
        connection.endheaders()
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()


def test_it_answers_with_the_newest_page_and_its_version(server: PageServer) -> None:
    for name in ("127.0.0.1:OWN", "localhost:OWN"):
        status, headers, body = answer(server, "GET", "/", name)
        assert (status, headers["ETag"], body) == (200, "1", PAGE)
        assert HEADERS.items() <= headers.items()
    assert server.server_address[0] == "127.0.0.1"
    server.page, server.version = b"newer", "2"
    status, headers, body = answer(server, "HEAD", "/", "localhost:OWN")
    assert (status, headers["ETag"], headers["Content-Length"], body) == (200, "2", "5", b"")


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        *(("GET", "/", host, 403) for host in (None, "", "127.0.0.1", "localhost:1", "evil.example:OWN")),
        *(("GET", "/", host, 403) for host in ("127.0.0.1.evil.example:OWN", "a@127.0.0.1:OWN", "127.0.0.1:OWN/")),
        *(("GET", path, "127.0.0.1:OWN", 404) for path in ("/page.html", "/..", "//etc/passwd", "/?", "/%2e%2e/")),
        *((method, "/", "127.0.0.1:OWN", 501) for method in ("POST", "PUT", "OPTIONS", "BREW")),
    ],
)
def test_other_requests_are_refused(server: PageServer, method: str, path: str, host: str, status: int) -> None:
    found, _, body = answer(server, method, path, host)
    assert found == status
    assert server.page not in body
