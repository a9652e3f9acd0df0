"""The server answers its own page and nobody else, whatever is sent."""

import random
import string
from collections.abc import Iterator

import pytest

from selfplay.web.command import PAGE
from selfplay.web.server import KINDS, LONGEST_QUERY, START, Hosts
from tests.selfplay.web.serving import Served, raw, serving

SEED = 1
REQUESTS = 1_000
HEADERS = {
    "content-security-policy": "default-src 'self'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as found:
        yield found


def test_every_file_of_the_page_is_served_as_what_it_is(served: Served) -> None:
    files = [path for path in PAGE.iterdir() if path.suffix in KINDS]
    assert START in [path.name for path in files]
    for path in files:
        answer = served.ask("/" if path.name == START else f"/{path.name}")
        assert (answer.status, answer.body) == (200, path.read_bytes())
        assert answer.headers["content-type"] == KINDS[path.suffix]
        assert HEADERS.items() <= answer.headers.items()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/api/players", 200),
        ("/nothing", 404),
        ("/api/nothing", 404),
        ("/api/players/", 404),
        ("/api", 404),
    ],
)
def test_every_answer_has_the_headers_and_head_has_no_body(served: Served, path: str, status: int) -> None:
    got, head = served.ask(path), served.ask(path, "HEAD")
    for answer in (got, head):
        assert answer.status == status
        assert HEADERS.items() <= answer.headers.items()
    assert got.body
    assert head.body == b""
    assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
@pytest.mark.parametrize("path", ["/", "/api/players", "/nothing"])
def test_other_methods_are_refused(served: Served, method: str, path: str) -> None:
    answer = served.ask(path, method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"
    assert HEADERS.items() <= answer.headers.items()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_the_names_of_this_machine_are_welcome(served: Served, host: str) -> None:
    assert served.ask("/api/players", Host=f"{host}:{served.port}").status == 200
    assert served.ask("/", Host=f"{host}:{served.port}", Origin=f"http://{host}:{served.port}").status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example:{}", "127.0.0.1.evil.example:{}", "a@127.0.0.1:{}", "127.0.0.1:{}, evil.example"),
        *("127.0.0.1", "localhost:80", "127.0.0.1:{}x", "127.0.0.1:{}/", "127.0.0.2:{}", "127.1:{}", "0.0.0.0:{}"),
        *("localhost.:{}", "", "[::1"),
    ],
)
def test_another_host_is_refused(served: Served, host: str) -> None:
    answer = served.ask("/", Host=host.format(served.port))
    assert answer.status == 403
    assert answer.json == {"error": f"this server is asked as 127.0.0.1:{served.port}"}
    assert HEADERS.items() <= answer.headers.items()


def test_no_host_and_two_hosts_are_refused(served: Served) -> None:
    own = ("Host", f"127.0.0.1:{served.port}")
    assert served.send(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    for headers in ([], [own, ("Host", "evil.example")]):
        assert served.send(raw("GET", "/", headers)).split()[1] in (b"400", b"403")


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:{}", "null", "", "http://127.0.0.1", "x"])
def test_another_pages_question_is_refused(served: Served, origin: str) -> None:
    answer = served.ask("/api/players", Origin=origin.format(served.port))
    assert (answer.status, answer.json) == (403, {"error": "another page asks"})


@pytest.mark.parametrize(
    "header", [("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Content-Length", "99999999999")]
)
def test_a_body_is_refused(served: Served, header: tuple[str, str]) -> None:
    answer = served.send(raw("GET", "/", [("Host", f"127.0.0.1:{served.port}"), header], b"hello"))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b'{"error":"a question has no body"}')


def test_a_long_question_is_refused(served: Served) -> None:
    board = "." * LONGEST_QUERY
    answer = served.ask(f"/api/look?player=0&board={board}")
    assert (answer.status, answer.json) == (400, {"error": "a question has at most 1,000 characters"})
    assert served.ask("/?" + "x" * LONGEST_QUERY).status == 200


def test_a_host_that_was_chosen_is_welcome_and_on_every_address_any_number_is() -> None:
    assert Hosts("192.168.7.7", 8000).welcome("192.168.7.7:8000")
    assert not Hosts("127.0.0.1", 8000).welcome("192.168.7.7:8000")
    everywhere = Hosts("0.0.0.0", 8000)
    assert everywhere.welcome("192.168.7.7:8000")
    assert everywhere.welcome("[fe80::1]:8000")
    assert not everywhere.welcome("evil.example:8000")
    assert Hosts("127.0.0.1", 80).welcome("localhost")
    assert not Hosts("127.0.0.1", 8000).welcome("localhost")


def test_whatever_is_sent_there_is_an_answer_and_no_file_but_the_pages(
    served: Served, capfd: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(SEED)
    page = {path.read_bytes() for path in PAGE.iterdir() if path.suffix in KINDS}
    statuses = set()
    for _ in range(REQUESTS):
        content = a_request(draw, served.port)
        back = served.send(content)
        head, _, body = back.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head else 0
        statuses.add(status)
        assert status in (0, 200, 400, 403, 404, 405, 431), (content[:200], head)
        if status == 200 and body:
            assert b"application/json" in head or body in page, content[:200]
        assert b"Traceback" not in body
        assert b"[tool.hatch" not in body
    assert {200, 400, 403, 404, 405} <= statuses
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err + captured.out
    assert served.ask("/api/players").status == 200


def a_request(draw: random.Random, port: int) -> bytes:
    """Return a request that is wrong in some ways, or in none, or nothing of the kind."""
    if draw.random() < 0.1:
        return draw.randbytes(draw.randrange(1, 3_000))
    own = f"127.0.0.1:{port}"
    others = [f"localhost:{port}", "evil.example", f"evil.example:{port}", a_text(draw, 30)]
    headers = [("Host", draw.choice([*[own] * 4, *others]))]
    if draw.random() < 0.2:
        headers.append(("Origin", draw.choice([f"http://{own}", "http://evil.example", "null", a_text(draw, 30)])))
    if draw.random() < 0.2:
        headers.append(("X-" + a_text(draw, 9), a_text(draw, draw.choice([9, 70_000]))))
    body = b""
    if draw.random() < 0.2:
        body = draw.randbytes(draw.randrange(2_000))
        said = draw.choice([len(body), len(body) + 5, -1, 10**12])
        headers.append(draw.choice([("Content-Length", str(said)), ("Transfer-Encoding", "chunked")]))
    method = draw.choice(["GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", a_text(draw, 8)])
    return raw(method, a_path(draw), headers, body)


def a_path(draw: random.Random) -> str:
    name = draw.choice(["players", "look", "wrong", "lost", a_text(draw, 6)])
    board = "".join(draw.choices(".XO", k=draw.choice([9, 9, 9, 8, 10])))
    pairs = draw.sample(
        [
            f"player={draw.choice([0, 1, 2, 3, 4, 9, -1, 10**30, '', 'shipped', '../x', 'os:system'])}",
            f"board={draw.choice([board, board, '.........', 'X........', a_text(draw, 9), ''])}",
            f"kept={draw.choice([0, 99, 'x'])}",
            f"{a_text(draw, 5)}={a_text(draw, 5)}",
            "player=0",
        ],
        draw.randrange(5),
    )
    files = ["/", "/index.html", "/..", "/../pyproject.toml", "/..%2f..%2fpyproject.toml", "/%2e%2e/%2e%2e/etc/passwd"]
    files += ["//etc/passwd", "/page/index.html", "/command.py", "/\\..\\command.py"]
    noise = "/" + a_text(draw, draw.choice([5, 3_000]))
    return draw.choice([*files, noise, *[f"/api/{name}?{'&'.join(pairs)}"] * 12])


def a_text(draw: random.Random, most: int) -> str:
    return "".join(draw.choices(string.printable[:94] + "%%%é\x00\r", k=draw.randrange(most + 1)))
