"""A page in the browser: `selfplay web [PLAYER ...]`."""

import errno
import logging
import os
import socket
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from selfplay.cli.flags import parse
from selfplay.errors import UserError
from selfplay.players import BoardFlags
from selfplay.settings import Bounds, board

if TYPE_CHECKING:
    import uvicorn

    from selfplay.web.catalogue import Catalogue
    from selfplay.web.server import Hosts

LARGEST_PORT = 65_535
GRACE = 1
"""Seconds for open requests to end after Ctrl-C; a page that follows runs would never end its request."""


@dataclass(frozen=True)
class WebConfig(BoardFlags):
    """Open a page in the browser: play, look inside players, and follow runs. Ctrl-C ends it."""

    players: Positional[tuple[str, ...]] = ()
    """Players to list first: run folders, or your own agents as module:name. You can always choose shipped, the
    built-in opponents (random, heuristic, rule, optimal), and all runs of --runs."""
    runs: Path = Path("runs")
    """Folder of runs to choose from, and to follow while they train."""
    host: str = "127.0.0.1"
    """Address to listen on. Only this machine can reach the default."""
    port: Annotated[int, Bounds(0, LARGEST_PORT)] = 8000
    """Port to listen on; 0 takes any free port."""
    export: Path | None = None
    """Write the page of one PLAYER to this file, which needs no server, and exit."""
    open: bool = True
    """Open the page in the browser."""


def main(args: Sequence[str], prog: str = "selfplay web") -> None:
    """Serve the page until Ctrl-C, or write it as a file."""
    config = parse(WebConfig, args, prog)
    if config.export is not None:
        from selfplay.web.export import export

        export(config.players, config.export)
        return
    rules = board(config.rows, config.cols, config.k)
    import torch

    from selfplay.web.catalogue import Catalogue
    from selfplay.web.server import Hosts

    torch.set_num_threads(1)  # fastest for small networks, and leaves the other cores to training
    catalogue = Catalogue(config.players, config.runs, config.perspective, rules)
    with listen(config.host, config.port) as listening:
        port = listening.getsockname()[1]
        served = server(catalogue, Hosts(config.host, port))
        announce(config, port)
        try:
            served.run([listening])
        except KeyboardInterrupt:
            print("\nThe page is closed.")


def server(catalogue: "Catalogue", hosts: "Hosts") -> "uvicorn.Server":
    """Return the server of the page."""
    import uvicorn

    from selfplay.web.api import Api
    from selfplay.web.server import application

    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # do not log malformed requests
    settings = uvicorn.Config(
        application(Api(catalogue).routes(), hosts),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(settings)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port of an address.

    Raises:
        UserError: the port is taken, or the address is not one of this machine.
    """
    try:
        host.encode("idna")  # else a TypeError of the next line leaves its socket open
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, UnicodeError) as error:  # the latter if it is not a host name
        taken = {errno.EADDRINUSE: "is taken", errno.EACCES: "needs privileges"}.get(getattr(error, "errno", 0))
        if taken is not None:
            raise UserError(f"port {port} {taken}; choose another with --port, or 0 for any free port") from None
        raise UserError(f"--host {host}: is not an address of this machine") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each response waits 40 ms
    return listening


def announce(config: WebConfig, port: int) -> None:
    """Print the address of the page, warn if others can reach it, and open it if there is a screen."""
    from selfplay.web.server import EVERY_ADDRESS, LOOPBACK

    host = config.host if config.host not in EVERY_ADDRESS else "127.0.0.1"
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    print(f"The page is at {address} (Ctrl-C ends it).", flush=True)
    if config.host not in LOOPBACK:
        print(f"Warning: with --host {config.host} anybody who reaches this machine can use the page.", file=sys.stderr)
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if config.open and screen:
        webbrowser.open(address)
