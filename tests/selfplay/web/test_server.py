"""The server answers requests of its own page and refuses all others, whatever is sent."""

import random
import string
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from selfplay.web import api, mistakes
from selfplay.web.command import PAGE
from selfplay.web.server import LONGEST_QUERY, MEDIA_TYPES, START, Hosts
from tests.selfplay.web.serving import Served, serving

SEED = 1
REQUESTS = 400
HEADERS = {
    "content-security-policy": "default-src 'self'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}
EMPTY = "board=" + "." * 9


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as found:
        yield found


def raw(method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes = b"") -> bytes:
    """Return a request as it goes over a socket; the server is told to end the connection."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers), "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace") + body


def test_every_file_of_the_page_is_served_as_what_it_is(served: Served) -> None:
    files = [path for path in PAGE.iterdir() if path.suffix in MEDIA_TYPES]
    assert START in [path.name for path in files]
    for path in files:
        response = served.get("/" if path.name == START else f"/{path.name}")
        assert (response.status, response.body) == (200, path.read_bytes())
        assert response.headers["content-type"].startswith(MEDIA_TYPES[path.suffix])
        assert "utf-8" in response.headers["content-type"] or path.suffix == ".svg"


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/api/players", 200), ("/nothing", 404), ("/api", 404)])
def test_every_response_has_the_headers_and_head_has_no_body(served: Served, path: str, status: int) -> None:
    got, head = served.get(path), served.get(path, "HEAD")
    for response in (got, head):
        assert response.status == status
        assert HEADERS.items() <= response.headers.items()
    assert got.body
    assert head.body == b""
    assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
def test_other_methods_are_refused(served: Served, method: str) -> None:
    response = served.get("/api/players", method)
    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")
    assert HEADERS.items() <= response.headers.items()


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example:{}", "127.0.0.1.evil.example:{}", "a@127.0.0.1:{}", "127.0.0.1:{}, evil.example"),
        *("127.0.0.1", "localhost:80", "127.0.0.1:{}x", "127.0.0.1:{}/", "127.0.0.2:{}", "127.1:{}", "0.0.0.0:{}"),
        *("localhost.:{}", "", "[::1"),
    ],
)
def test_a_foreign_host_or_origin_is_refused(served: Served, host: str) -> None:
    host = host.format(served.port)
    response = served.get("/", Host=host)
    assert (response.status, response.json) == (
        403,
        {"error": f"the address of this server is 127.0.0.1:{served.port}"},
    )
    assert HEADERS.items() <= response.headers.items()
    assert served.get("/", Origin=f"http://{host}").status == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machine_is_allowed_by_its_names(served: Served, host: str) -> None:
    address = f"{host}:{served.port}"
    assert served.get("/api/players", Host=address).status == 200
    assert served.get("/", Host=address, Origin=f"http://{address}").status == 200
    for origin in (f"https://{address}", address, "null", ""):
        response = served.get("/", Host=address, Origin=origin)
        assert (response.status, response.json) == (403, {"error": "requests of other pages are refused"})


def test_no_host_and_two_hosts_are_refused(served: Served) -> None:
    own = ("Host", f"127.0.0.1:{served.port}")
    assert served.send(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    for headers in ([], [own, ("Host", "evil.example")]):
        assert served.send(raw("GET", "/", headers)).split()[1] in (b"400", b"403")


def test_a_chosen_host_is_allowed_and_any_address_where_the_server_listens_on_all() -> None:
    assert Hosts("192.168.7.7", 8000).allow("192.168.7.7:8000")
    assert not Hosts("127.0.0.1", 8000).allow("192.168.7.7:8000")
    everywhere = Hosts("0.0.0.0", 8000)
    assert everywhere.allow("192.168.7.7:8000")
    assert everywhere.allow("[fe80::1]:8000")
    assert not everywhere.allow("evil.example:8000")
    assert Hosts("127.0.0.1", 80).allow("localhost")
    assert not Hosts("127.0.0.1", 8000).allow("localhost")


@pytest.mark.parametrize(
    "header", [("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Content-Length", "99999999999")]
)
def test_a_body_is_refused(served: Served, header: tuple[str, str]) -> None:
    response = served.send(raw("GET", "/", [("Host", f"127.0.0.1:{served.port}"), header], b"hello"))
    assert response.startswith(b"HTTP/1.1 400 ")
    assert response.endswith(b'{"error":"a request has no body"}')


def test_a_long_query_is_refused(served: Served) -> None:
    response = served.get("/?" + "x" * (LONGEST_QUERY + 1))
    assert (response.status, response.json) == (400, {"error": "a query has at most 1,000 characters"})
    assert served.get("/?" + "x" * LONGEST_QUERY).status == 200


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("analysis?player=99&" + EMPTY, "there is no player 99"),
        ("analysis?player=-1&" + EMPTY, "player must be a number from 0, got '-1'"),
        ("analysis?player=%D9%A1&" + EMPTY, "player must be a number from 0"),
        ("analysis?player=0", "board is missing"),
        ("analysis?player=0&board=X", "a board of 3,3,3 is 9 characters out of .XO"),
        ("analysis?player=0&steps=a&" + EMPTY, "steps must be a number from 0, got 'a'"),
        ("analysis?player=0&steps=3&" + EMPTY, "has no snapshot at 3 steps"),
        ("mistakes?player=99", "there is no player 99"),
        ("games_lost", "player is missing"),
    ],
)
def test_a_mistake_is_one_line(served: Served, query: str, why: str) -> None:
    response = served.get(f"/api/{query}")
    assert response.status == 400
    assert why in response.json["error"]


def test_a_bug_is_shown_in_the_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(api, "read_board", None)
    with serving() as broken:
        response = broken.get(f"/api/analysis?player=0&{EMPTY}")
    assert response.status == 500
    assert response.json["error"].startswith("the server has failed")
    assert HEADERS.items() <= response.headers.items()
    assert "TypeError: 'NoneType' object is not callable" in capfd.readouterr().err


def test_a_player_is_evaluated_once_for_many_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, go_on, evaluate = [], threading.Event(), mistakes.evaluate

    def slow(*args: Any) -> Any:
        calls.append(args)
        assert go_on.wait(30)
        return evaluate(*args)

    monkeypatch.setattr(api, "evaluate", slow)
    with serving() as served:
        statuses: list[int] = []
        waiting = [
            threading.Thread(target=lambda: statuses.append(served.get("/api/mistakes?player=0").status))
            for _ in range(60)
        ]
        for thread in waiting:
            thread.start()
        # While all of them wait, and they are more than the server has threads, a move is answered.
        assert served.get(f"/api/analysis?player=0&{EMPTY}").status == 200
        assert statuses == []
        go_on.set()
        for thread in waiting:
            thread.join()
        assert statuses == [200] * 60
        assert served.get("/api/games_lost?player=0").status == 200
    assert len(calls) == 1


def test_whatever_is_sent_no_file_but_the_pages_is_served(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    generator = random.Random(SEED)
    page = {path.read_bytes() for path in PAGE.iterdir() if path.suffix in MEDIA_TYPES}
    statuses = set()
    for _ in range(REQUESTS):
        content = random_request(generator, f"127.0.0.1:{served.port}")
        head, _, body = served.send(content).partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head else 0
        statuses.add(status)
        assert status in (0, 200, 400, 403, 404, 405, 431), (content[:200], head)
        assert status != 200 or not body or b"application/json" in head or body in page, content[:200]
    assert {200, 400, 403, 404, 405} <= statuses
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err + captured.out
    assert served.get("/api/players").status == 200


def random_request(generator: random.Random, own: str) -> bytes:
    """Return a request that is wrong in some ways, or in none, or no request."""

    def noise(most: int) -> str:
        return "".join(generator.choices(string.printable[:94] + "%%%é\x00\r", k=generator.randrange(most + 1)))

    if generator.random() < 0.1:
        return generator.randbytes(generator.randrange(1, 3_000))
    number = generator.choice([0, 1, 4, 9, -1, 10**30, "shipped", "../x", "os:system"])
    board = "".join(generator.choices(".XO", k=generator.choice([9, 9, 9, 8])))
    queries = [f"player={number}&board={board}", f"player={number}", "player=0&board=.........&steps=x", noise(20)]
    name = generator.choice(["players", "analysis", "mistakes", "games_lost", noise(6)])
    files = ["/", "/index.html", "/..", "/../pyproject.toml", "/..%2f..%2fpyproject.toml", "/%2e%2e/%2e%2e/etc/passwd"]
    files += ["//etc/passwd", "/page/index.html", "/command.py", "/\\..\\command.py", "/" + noise(3_000)]
    path = generator.choice([*files, *[f"/api/{name}?{generator.choice(queries)}"] * 12])
    headers = [("Host", generator.choice([*[own] * 6, "evil.example", noise(30)]))]
    body = generator.randbytes(generator.randrange(2_000))
    others = [("Origin", f"http://{own}"), ("Origin", noise(30)), ("X-" + noise(9), noise(70_000))]
    others += [("Content-Length", str(length)) for length in (len(body), -1, 10**12)]
    headers += generator.sample(others, generator.choice([0, 0, 0, 1, 2]))
    method = generator.choice([*["GET"] * 5, "HEAD", "POST", "OPTIONS", noise(8)])
    return raw(method, path, headers, body if len(headers) > 1 else b"")
