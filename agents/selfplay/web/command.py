"""A page in the browser: `selfplay web [PLAYER ...]`."""

import errno
import logging
import os
import socket
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from selfplay.command_line import parse
from selfplay.errors import UserError
from selfplay.players import BoardFlags
from selfplay.settings import Bounds, board

if TYPE_CHECKING:
    import uvicorn

    from selfplay.web.catalogue import Catalogue
    from selfplay.web.server import Hosts

PAGE = Path(__file__).parent / "page"
LARGEST_PORT = 65_535
GRACE = 1
"""Seconds that requests under way have after Ctrl-C; a page that follows runs would never end its own."""


@dataclass(frozen=True)
class WebConfig(BoardFlags):
    """Open a page in the browser to play on, to look inside players, and to follow runs. Ctrl-C ends it."""

    players: tuple[str, ...] = field(default=(), metadata={"positional": "PLAYER ..."})
    """Players to show first: run folders, shipped, random, heuristic, rule or optimal, and agents of your own as
    module:name. All runs of --runs, shipped and the built-in opponents can always be chosen."""
    runs: Path = Path("runs")
    """Folder whose runs can be chosen, and are followed while they train."""
    host: str = "127.0.0.1"
    """Address to listen on; only this machine reaches the default."""
    port: Annotated[int, Bounds(0, LARGEST_PORT)] = 8000
    """Port to listen on; 0 takes any that is free."""
    export: Path | None = None
    """Write the page of one PLAYER as a single file that needs no server, and end."""
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

    torch.set_num_threads(1)  # quickest for networks this small, and leaves the other cores to training
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

    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # malformed requests are no news
    settings = uvicorn.Config(
        application(Api(catalogue).routes(), PAGE, hosts),
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
    except (OSError, UnicodeError) as error:  # the latter where it is no host name
        taken = {errno.EADDRINUSE: "is taken", errno.EACCES: "needs privileges"}.get(getattr(error, "errno", 0))
        if taken is not None:
            raise UserError(f"port {port} {taken}; choose another with --port, 0 for any that is free") from None
        raise UserError(f"--host {host}: cannot be listened on ({error})") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each response waits 40 ms
    return listening


def announce(config: WebConfig, port: int) -> None:
    """Print where the page is, with a warning if others can reach it, and open it if there is a screen."""
    from selfplay.web.server import EVERY_ADDRESS, LOOPBACK

    host = config.host if config.host not in EVERY_ADDRESS else "127.0.0.1"
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    print(f"The page is at {address} (Ctrl-C ends it).", flush=True)
    if config.host not in LOOPBACK:
        print(f"Warning: with --host {config.host} anybody who reaches this machine can use the page.", file=sys.stderr)
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if config.open and screen:
        webbrowser.open(address)
