"""A page in the browser: `selfplay web [PLAYER ...]`."""

import os
import socket
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from tyro.conf import Positional

from selfplay.cli.flags import parse
from selfplay.errors import UserError
from selfplay.players import BoardFlags
from selfplay.settings import checked

if TYPE_CHECKING:
    import uvicorn

    from selfplay.web.catalogue import Catalogue

LARGEST_PORT = 65_535
GRACE = 1
"""Seconds after Ctrl-C in which requests can end; an evaluation may take longer."""


@checked
class WebConfig(BoardFlags):
    """Open a page in the browser: play, look inside players, and watch them learn. Ctrl-C ends it."""

    players: Positional[tuple[str, ...]] = ()
    """Players to list first: run folders, or your own agents as module:name. You can always choose shipped, the
    built-in opponents, and all runs of --runs."""
    runs: Path = Path("runs")
    """Folder of runs to choose from."""
    host: str = "127.0.0.1"
    """Address to listen on. Only this machine can reach the default."""
    port: Annotated[int, Field(ge=0, le=LARGEST_PORT)] = 8000
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
    import torch

    from selfplay.web.catalogue import Catalogue

    torch.set_num_threads(1)  # fastest for small networks, and leaves the other cores to training
    catalogue = Catalogue(config.players, config.runs, config.perspective, config.given_rules)
    with listen(config.host, config.port) as listening:
        port = listening.getsockname()[1]
        served = server(catalogue, config.host, port)
        announce(config, port)
        try:
            served.run([listening])
        except KeyboardInterrupt:
            print("\nThe page is closed.")


def server(catalogue: "Catalogue", host: str, port: int) -> "uvicorn.Server":
    """Return the server of the page, which listens on a port of an address."""
    import uvicorn

    from selfplay.web.api import Api
    from selfplay.web.server import Hosts, application

    settings = uvicorn.Config(
        application(Api(catalogue).routes(), Hosts(host, port)),
        log_config=None,
        log_level="critical",  # no line for each malformed request
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
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UserError(
            f"--host {host} --port {port}: {error.strerror}; choose another host or port (0 takes any free port)"
        ) from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each response waits 40 ms
    return listening


def announce(config: WebConfig, port: int) -> None:
    """Print the address of the page, warn if others can reach it, and open it if there is a screen."""
    from selfplay.web.server import EVERY_ADDRESS, LOOPBACK

    host = config.host
    if host in EVERY_ADDRESS:
        host = "127.0.0.1"
    elif ":" in host:
        host = f"[{host}]"
    address = f"http://{host}:{port}/"
    print(f"The page is at {address} (Ctrl-C ends it).", flush=True)
    if config.host not in LOOPBACK:
        print(f"Warning: with --host {config.host} anybody who reaches this machine can use the page.", file=sys.stderr)
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if config.open and screen:
        webbrowser.open(address)
