"""A page in the browser, as one file: `selfplay web [PLAYER ...]`."""

import hashlib
import os
import sys
import tempfile
import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from tyro.conf import Positional

from selfplay.cli.flags import parse
from selfplay.errors import UserError
from selfplay.files import check_output
from selfplay.named_players import BoardFlags, progress_spinner, run_folder
from selfplay.runs.folder import MODEL, SNAPSHOTS
from selfplay.runs.load import SHIPPED, read_settings
from selfplay.settings import checked

LOOK_SECONDS = 1.0
"""Seconds between two looks at a run that is followed."""


@checked
class WebConfig(BoardFlags):
    """Write a page as one HTML file and open it: play, look inside players, and watch them learn."""

    players: Positional[tuple[str, ...]] = (SHIPPED,)
    """Players to choose from: shipped or shipped-5x5x4, run folders, built-in opponents, or your own agents as
    module:name. The page opens on the first."""
    out: Path | None = None
    """The file, to keep or to send. Default: one in a temporary folder."""
    follow: bool = False
    """Write the page again whenever a run has a new snapshot. The page is then at an address that only this machine
    reaches, and says when it is newer. Ctrl-C ends it."""
    open: bool = True
    """Open the page in the browser."""


def main(args: Sequence[str], prog: str = "selfplay web") -> None:
    """Write the page of some players, and open it."""
    config = parse(WebConfig, args, prog)
    if not config.players:
        raise UserError("name at least one player, such as shipped")
    file = config.out or Path(tempfile.mkdtemp(prefix="selfplay-"), "page.html")
    check_output(file)
    if config.follow:
        follow(config, file)
        return
    content = write(config, file)
    print(f"The page is in {file} ({len(content):,} bytes); it needs neither a server nor a network.")
    if config.open:
        show(file.resolve().as_uri())


def write(config: WebConfig, file: Path, version: str | None = None) -> bytes:
    """Write the page to a file, and return its content.

    Raises:
        UserError: a name is no player, or one that a page cannot compute.
    """
    import torch

    from selfplay.web.page import write_page
    from selfplay.web.player_data import players_data

    torch.set_num_threads(1)  # fastest for small networks, and leaves the other cores to training
    with progress_spinner() as progress:
        players = players_data(config.players, config.perspective, config.given_rules, progress)
    return write_page(players, file, version=version)


def follow(config: WebConfig, file: Path) -> None:
    """Serve the page until Ctrl-C, and write it again whenever a run has a new snapshot.

    Raises:
        UserError: no player is a run.
    """
    from selfplay.web.page_server import PageServer

    folders = [folder for folder in map(run_folder, config.players) if folder is not None]
    if not folders:
        raise UserError(f"--follow needs the folder of a run, got {', '.join(config.players)}")
    for folder in folders:
        read_settings(folder)  # else one would wait for a folder that is no run
    print("The page is written once each run has saved a player.", flush=True)
    try:
        version = wait_for_change(folders, "")
        with PageServer(write(config, file, version), version) as server:
            address = f"http://{server.names[0]}/"
            print(f"The page is at {address} and in {file} (Ctrl-C ends it).", flush=True)
            if config.open:
                show(address)
            while True:
                version = wait_for_change(folders, version)
                server.page, server.version = write(config, file, version), version
    except KeyboardInterrupt:
        print("\nThe page is no longer followed.")


def wait_for_change(folders: Sequence[Path], before: str) -> str:
    """Wait until each run has a player and their snapshots are another version; return that."""
    while True:
        if all((folder / MODEL).exists() for folder in folders):
            files = [folder / name for folder in folders for name in (MODEL, SNAPSHOTS)]
            changed = [file.stat().st_mtime_ns for file in files if file.exists()]
            version = hashlib.sha256(str(changed).encode()).hexdigest()[:16]
            if version != before:
                return version
        time.sleep(LOOK_SECONDS)


def show(address: str) -> None:
    """Open the page in the browser if there is a screen."""
    if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)
