"""Files that a user names: whole or not at all, through links, into pipes; what is no file is never replaced."""

import fcntl
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from selfplay.cli import certify, web
from selfplay.errors import UserError
from selfplay.files import write_csv
from tests.runs import refused

pytestmark = pytest.mark.usefixtures("here")
MIB = 1 << 20
WRITERS: Mapping[str, Callable[[str], None]] = {
    "certify --output": lambda name: certify.main(["shipped", "--output", name]),
    "web --export": lambda name: web.main(["shipped", "--export", name]),
}


@pytest.mark.parametrize("name", WRITERS)
def test_an_output_goes_through_a_link_and_into_a_pipe(name: str) -> None:
    link, pipe = Path("link"), Path("pipe")
    link.symlink_to("file")
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, MIB)
    for target in (link, pipe):
        WRITERS[name](str(target))
    assert os.read(end, MIB) == Path("file").read_bytes()
    assert link.is_symlink()
    assert pipe.is_fifo()
    os.close(end)
    link.unlink()
    link.symlink_to("link")
    assert refused(WRITERS[name], "link").startswith("link: cannot be written (")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert refused(WRITERS[name], "socket").startswith("socket: cannot be written (")
    assert Path("socket").is_socket()


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", ".: is a folder; name a file"),
        (".", ".: is a folder; name a file"),
        ("/", "/: is a folder; name a file"),
        ("nowhere/it", "nowhere/it: cannot be written (there is no folder nowhere)"),
    ],
)
def test_an_output_that_is_no_file_is_refused(name: str, typed: str, said: str) -> None:
    assert refused(WRITERS[name], typed) == said
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    "write", [lambda path: write_csv(path, [["a"]]), lambda _: certify.main(["shipped"])], ids=["CSV", "certify"]
)
def test_what_is_no_file_is_not_replaced_under_a_name_of_ours(write: Callable[[Path], None]) -> None:
    path = Path(certify.NAME)
    for make in (os.mkfifo, lambda path: path.symlink_to("file")):
        make(path)
        with pytest.raises((OSError, UserError), match="it is not a regular file; remove it"):
            write(path)
        path.unlink()
    assert not Path("file").exists()
