"""The page of a run that is still training, on this machine only: written anew when the run has a new snapshot."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}


class PageServer(ThreadingHTTPServer):
    """A server of one page on a free port of the loopback address; its `page` can be replaced at any time."""

    def __init__(self, page: bytes, version: str) -> None:
        super().__init__(("127.0.0.1", 0), PageRequest)
        self.page, self.version = page, version
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def names(self) -> tuple[str, str]:
        """Return the only names by which a browser may address the server.

        Another page can make its own host name lead here ("DNS rebinding"), but the browser then sends that name.
        """
        return f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"


class PageRequest(BaseHTTPRequestHandler):
    """A request for the page. Every other one is refused."""

    server: PageServer
    timeout = 10

    def do_GET(self) -> None:
        """Answer with the page."""
        self._answer(self.server.page)

    def do_HEAD(self) -> None:
        """Answer with the page's headers, of which ETag is its version."""
        self._answer(b"")

    def log_message(self, *_: Any) -> None:
        """Print no line for a request."""

    def version_string(self) -> str:
        """Return the name of the server without those of programs."""
        return "selfplay"

    def _answer(self, body: bytes) -> None:
        if self.headers.get_all("Host") not in [[name] for name in self.server.names]:
            self.send_error(403, f"the address of this server is {self.server.names[0]}")
        elif self.path != "/":
            self.send_error(404)
        else:
            self.send_response(200)
            for name, text in HEADERS.items():
                self.send_header(name, text)
            self.send_header("ETag", self.server.version)
            self.send_header("Content-Length", str(len(self.server.page)))
            self.end_headers()
            self.wfile.write(body)
