"""The server answers requests of its own page and refuses all others."""

import os
import random
from collections.abc import Iterator, Sequence

import pytest

from selfplay.web.server import FILES, PAGE, SCRIPTS, Hosts, bundled_script
from tests.selfplay.web.serving import Served, serving
from tictactoe import Rules

SEED = 1
REQUESTS = int(os.environ.get("PAGE_REQUESTS", "400"))
"""Random requests. For more: PAGE_REQUESTS=100000 pytest --timeout=0 -k whatever_is_sent tests/selfplay/web"""
HEADERS = {
    "content-security-policy": "default-src 'self'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}
EMPTY = "board=" + "." * 9
PATHS = [
    *("/", "/index.html", "/..", "/../pyproject.toml", "/..%2f..%2fpyproject.toml", "/%2e%2e/%2e%2e/etc/passwd"),
    *("//etc/passwd", "/page/index.html", "/server.py", "/\\..\\server.py", "/" + "x" * 3_000, "/served.js"),
    "/trainer.js",
    *(f"/api/analysis?player={name}&{EMPTY}" for name in ("0", "1", "9", "shipped", "../x", "os:system")),
    *("/api/players", "/api/evaluation?player=1", "/api/evaluation?player=", f"/api/analysis?player=0&steps=1&{EMPTY}"),
]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as found:
        yield found


def raw(method: str, path: str, headers: Sequence[tuple[str, str]]) -> bytes:
    """Return a request as it goes over a socket; the server is told to end the connection."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers), "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/api/players", 200), ("/nothing", 404), ("/api", 404)])
def test_every_response_has_the_headers_and_head_has_no_body(served: Served, path: str, status: int) -> None:
    got, head = served.get(path), served.get(path, "HEAD")
    for response in (got, head):
        assert response.status == status
        assert HEADERS.items() <= response.headers.items()
    assert got.body
    assert head.body == b""
    assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize(
    ("listening", "allowed", "refused"),
    [
        (
            Hosts("127.0.0.1", 8000),
            ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"],
            [
                *("", "127.0.0.1", "localhost:80", "localhost.:8000", "127.0.0.1:8000x", "127.0.0.1:8000/"),
                *("192.168.7.7:8000", "evil.example:8000", "127.0.0.1.evil.example:8000", "a@127.0.0.1:8000"),
            ],
        ),
        (Hosts("192.168.7.7", 8000), ["192.168.7.7:8000"], ["192.168.7.8:8000"]),
        (Hosts("0.0.0.0", 8000), ["192.168.7.7:8000", "[fe80::1]:8000"], ["evil.example:8000"]),
        (Hosts("127.0.0.1", 80), ["localhost", "localhost:80"], ["localhost:8000"]),
    ],
)
def test_the_names_of_this_machine_are_allowed(listening: Hosts, allowed: list[str], refused: list[str]) -> None:
    assert [name for name in allowed if not listening.allow(name)] == []
    assert [name for name in refused if listening.allow(name)] == []


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"Host": "evil.example:OWN"}, 403),
        *(
            ("GET", {"Host": "127.0.0.1:OWN", "Origin": origin}, 403)
            for origin in ("http://evil.example", "https://127.0.0.1:OWN", "127.0.0.1:OWN", "null", "")
        ),
        ("GET", {"Host": "127.0.0.1:OWN", "Sec-Fetch-Site": "cross-site"}, 403),
        *((method, {"Host": "127.0.0.1:OWN"}, 405) for method in ("POST", "PUT", "OPTIONS", "BREW")),
        ("GET", {"Host": "localhost:OWN", "Origin": "http://localhost:OWN"}, 200),
        ("GET", {"Host": "localhost:OWN", "Sec-Fetch-Site": "none"}, 200),
    ],
)
def test_other_requests_are_refused(served: Served, method: str, headers: dict[str, str], status: int) -> None:
    own = str(served.port)
    request = raw(method, "/", [(name, text.replace("OWN", own)) for name, text in headers.items()])
    head, _, body = served.send(request).decode().partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert all(f"{name}: {text}" in head for name, text in HEADERS.items())
    assert ("<html" in body) is (status == 200)


def test_no_host_and_two_hosts_are_refused(served: Served) -> None:
    assert served.send(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    own = ("Host", f"127.0.0.1:{served.port}")
    for headers in ([], [own, ("Host", "evil.example")]):
        assert served.send(raw("GET", "/", headers)).split()[1] in (b"400", b"403")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (f"analysis?player=-1&{EMPTY}", "-1"),
        (f"analysis?{EMPTY}", "player"),
        ("analysis?player=0&board=X", "board"),
        (f"analysis?player=0&steps=a&{EMPTY}", "steps"),
        (f"analysis?player=0&steps=3&{EMPTY}", "3 steps"),
        ("evaluation?player=99", "99"),
    ],
)
def test_a_mistake_is_named(served: Served, query: str, name: str) -> None:
    response = served.get(f"/api/{query}")
    assert response.status == 400
    assert name in response.json["error"]


def test_optimal_is_not_evaluated_on_a_board_that_it_would_have_to_search() -> None:
    with serving(rules=Rules(5, 5, 4)) as served:
        refused = served.get(f"/api/evaluation?player={served.players()['optimal']['index']}")
        assert refused.status == 400
        assert "optimal" in refused.json["error"]


def test_whatever_is_sent_no_file_but_the_pages_is_served(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    generator = random.Random(SEED)
    page = {(PAGE / name).read_bytes() for name, _ in FILES.values()}
    page |= {bundled_script(name).encode() for name in SCRIPTS}
    host = "Host", f"127.0.0.1:{served.port}"
    requests = [raw("GET", path, [host, ("Origin", f"http://{host[1]}"), ("Accept", "*/*")]) for path in PATHS]
    statuses = set()
    for _ in range(REQUESTS):
        content = mutated(generator, generator.choice(requests))
        head, _, body = served.send(content).partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head else 0
        statuses.add(status)
        assert status in (0, 200, 400, 403, 404, 405, 431), (content, head)
        assert status != 200 or not body or b"application/json" in head or body in page, content
    assert {200, 400, 403, 404, 405} <= statuses
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err + captured.out
    assert served.get("/api/players").status == 200


def mutated(generator: random.Random, request: bytes) -> bytes:
    """Return a request in which some bytes, or none, were replaced, dropped or added."""
    content = bytearray(request)
    for _ in range(generator.choice([0, 1, 1, 2, 3, 100])):
        at = generator.randrange(len(content))
        content[at : at + generator.randrange(3)] = generator.randbytes(generator.randrange(3))
    return bytes(content)
