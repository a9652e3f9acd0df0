"""The HTTP server of the page: what it refuses, and the headers of every response. It does not know players.

It answers GET and HEAD requests. It refuses a request that another page, or another host name, makes the browser send,
so that no page on the web can read what is here.
"""

import ipaddress
import re
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfplay.errors import UserError

PAGE = Path(__file__).parent / "page"
"""Folder of the page's files."""
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.-]+)";$', re.MULTILINE)
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}
FILES = {
    "/": ("index.html", "text/html"),
    "/style.css": ("style.css", "text/css"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
"""Files of the page and their media types, by the paths at which they are served."""
SCRIPTS = ("served.js", "trainer.js")
"""The module that starts the page and the worker of its playground; each is served with all that it needs."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERY_ADDRESS = ("0.0.0.0", "::")


class Hosts(NamedTuple):
    """The names by which a browser may address the server: those of this machine, with the server's port.

    Another page can make its own host name lead here ("DNS rebinding"), but the browser then sends that name.
    """

    host: str
    """The address that the server listens on."""
    port: int

    def allow(self, header: str) -> bool:
        """Return whether a Host header names this server."""
        name = header.lower().removesuffix(f":{self.port}")
        if name == header.lower() and self.port != 80:
            return False
        name = name.strip("[]")
        if name in (*LOOPBACK, self.host.lower()):
            return True
        return self.host in EVERY_ADDRESS and (_is_address(name) or name == socket.gethostname().lower())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def bundled_script(entry: str) -> str:
    """Return a module of the page and all that it imports as one script, in the order in which they need each other.

    Modules import only names, and no two declare the same name; the browser refuses a script in which two do.
    """
    sources: dict[str, str] = {}

    def add(name: str) -> None:
        source = (PAGE / name).read_text("utf-8")
        for imported in IMPORT.findall(source):
            if imported not in sources:
                add(imported)
        sources[name] = re.sub("^export ", "", IMPORT.sub("", source), flags=re.MULTILINE)

    add(entry)
    return "".join(sources.values())


def application(routes: Sequence[Route], hosts: Hosts) -> ASGIApp:
    """Return the application that serves some routes and the files of the page, its modules as one script.

    The files are read once, here: no path from a client is ever looked up on the disk.
    """
    files = [
        Route(path, Response((PAGE / name).read_bytes(), media_type=media_type))
        for path, (name, media_type) in FILES.items()
    ]
    scripts = [Route(f"/{name}", Response(bundled_script(name), media_type="text/javascript")) for name in SCRIPTS]
    handlers: dict[Any, Any] = {UserError: _mistake, Exception: _bug}
    app = Starlette(routes=[*routes, *files, *scripts], exception_handlers=handlers)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await (_refusal(scope, hosts) or app)(scope, receive, send_with_headers)

    return guarded


def _refusal(scope: Scope, hosts: Hosts) -> Response | None:
    """Return the response that refuses a request, None if the request is allowed."""
    headers = Headers(scope=scope)
    names = headers.getlist("host")
    if len(names) != 1 or not hosts.allow(names[0]):
        return _error(403, f"the address of this server is 127.0.0.1:{hosts.port}")
    foreign = headers.get("sec-fetch-site") == "cross-site"  # for a picture, for example, a browser sends no origin
    for origin in headers.getlist("origin"):
        if not origin.startswith("http://") or not hosts.allow(origin.removeprefix("http://")):
            foreign = True
    if foreign:
        return _error(403, "requests from other pages are refused")
    if scope["method"] not in ("GET", "HEAD"):
        return _error(405, "only GET and HEAD are answered", {"Allow": "GET, HEAD"})
    return None


def _error(status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": why}, status, headers)


async def _mistake(_: Request, error: UserError) -> Response:
    return _error(400, str(error))


async def _bug(_: Request, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)  # for a bug report
    return _error(500, "the server has failed; its terminal shows why")
