"""The server: what may be asked of it, and what every answer says. It knows no player.

It answers GET and HEAD without a body. Whoever makes a browser ask from another page, or by another name of this
machine, is refused, so that no page on the web can read what is here.
"""

import ipaddress
import socket
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfplay.errors import UserError, one_line

Question: TypeAlias = Callable[[Mapping[str, str]], Awaitable[Any]]
"""Returns what is answered to parameters, ready for JSON; a UserError is a mistake in them."""

LONGEST_QUERY = 1_000
"""Characters."""
HEADERS = (
    ("Content-Security-Policy", "default-src 'self'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "no-referrer"),
)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What the files of the page are, by their suffix."""
START = "index.html"
EVERY_ADDRESS = ("0.0.0.0", "::")


def application(
    questions: Mapping[str, Question],
    streams: Mapping[str, Callable[[Request], Awaitable[Response]]],
    page: Path,
    hosts: "Hosts",
) -> ASGIApp:
    """Return what answers `/api/NAME` for each of the questions and streams, and the files of the page.

    The files of the folder `page` are read once, here: no path that somebody sends is ever looked for on the disk.
    """
    routes = [Route(f"/api/{name}", _answered(question), methods=["GET"]) for name, question in questions.items()]
    routes += [Route(f"/api/{name}", stream, methods=["GET"]) for name, stream in streams.items()]
    for path in sorted(page.iterdir()):
        if path.suffix in KINDS:
            route = "/" if path.name == START else f"/{path.name}"
            routes.append(Route(route, _file(path.read_bytes(), KINDS[path.suffix]), methods=["GET"]))
    handlers: dict[Any, Any] = {HTTPException: _refusal, UserError: _mistake, Exception: _bug}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guard(app, hosts)


def _answered(question: Question) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        asked = request.query_params.multi_items()
        if len(asked) != len(dict(asked)):
            raise UserError("a parameter stands there twice")
        return JSONResponse(await question(dict(asked)))

    return answer


def _file(content: bytes, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        return Response(content, media_type=kind)

    return answer


async def _refusal(_: Request, error: HTTPException) -> Response:
    return refused(error.status_code, error.detail, error.headers)


async def _mistake(_: Request, error: UserError) -> Response:
    return refused(400, str(error))


async def _bug(_: Request, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)  # for whoever reports it; the page hears that there is one
    return refused(500, "the server has failed; where it was started stands why")


def refused(status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a refusal, a line of JSON."""
    return JSONResponse({"error": one_line(why)}, status, headers)


class Hosts(NamedTuple):
    """Hold the names by which a browser may ask for the page: those of this machine, with the right port.

    A page elsewhere can have a name of its own lead here ("DNS rebinding"), but it cannot choose what the browser then
    writes into Host, which is that name.
    """

    host: str
    port: int

    def welcome(self, asked: str) -> bool:
        """Tell whether a Host header names this server."""
        try:
            parts = urlsplit(f"//{asked}")
            name, port = parts.hostname or "", parts.port
        except ValueError:
            return False
        if parts.netloc != asked or "@" in asked or (80 if port is None else port) != self.port:
            return False
        if name in ("127.0.0.1", "localhost", "::1", self.host.lower()):
            return True
        return self.host in EVERY_ADDRESS and (_is_address(name) or name == socket.gethostname().lower())

    def own(self, origin: str) -> bool:
        """Tell whether an Origin header names the page of this server."""
        scheme, _, host = origin.partition("://")
        return scheme == "http" and self.welcome(host)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Refuse what is no question of our own page, and put the headers on every answer."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI asks for it."""
        if scope["type"] != "http":  # the server's own start and end
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(dict(HEADERS))
            await send(message)

        await (self._why_not(scope) or self._app)(scope, receive, with_headers)

    def _why_not(self, scope: Scope) -> Response | None:
        """Return the refusal of a request; None if there is nothing against it."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._hosts.welcome(hosts[0]):
            return refused(403, f"this server is asked as 127.0.0.1:{self._hosts.port}")
        if any(not self._hosts.own(origin) for origin in origins):
            return refused(403, "another page asks")
        if scope["method"] not in ("GET", "HEAD"):
            return refused(405, "only GET and HEAD are answered", {"Allow": "GET, HEAD"})
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return refused(400, "a question has no body")
        if len(scope["query_string"]) > LONGEST_QUERY:
            return refused(400, f"a question has at most {LONGEST_QUERY:,} characters")
        return None
