"""Files are written whole or not at all, never through a planted link, and read only if they are regular and small."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from selfplay.files import (
    append,
    check_output,
    make_inside,
    open_regular,
    read_small,
    write_csv,
    write_output,
    write_whole,
)
from tests.runs import refused

pytestmark = pytest.mark.usefixtures("here")
IT, OTHER = Path("it"), Path("other")


@pytest.mark.parametrize("planted", [IT, Path("it.partial")])
@pytest.mark.parametrize("write", [lambda: write_whole(IT, b"new"), lambda: write_csv(IT, [["new"]])])
def test_what_a_planted_link_leads_to_stays_as_it_is(planted: Path, write: Callable[[], None]) -> None:
    OTHER.write_bytes(b"mine")
    planted.symlink_to(OTHER)
    write()
    assert OTHER.read_bytes() == b"mine"
    assert IT.read_bytes().strip() == b"new"
    assert not IT.is_symlink()


def test_nothing_is_appended_or_made_behind_a_link() -> None:
    append(OTHER, b"a")
    append(OTHER, b"b")
    assert OTHER.read_bytes() == b"ab"
    IT.symlink_to(OTHER)
    with pytest.raises(OSError, match="it"):
        append(IT, b"c")
    assert OTHER.read_bytes() == b"ab"
    folder, link = Path("folder"), Path("link")
    make_inside(folder)
    make_inside(folder)
    link.symlink_to(folder)
    assert "link" in refused(make_inside, link)


def test_a_file_that_a_user_names_may_be_a_link_and_must_be_in_a_folder() -> None:
    IT.symlink_to(OTHER)
    write_output(IT, b"new")
    assert OTHER.read_bytes() == b"new"
    assert IT.is_symlink()
    for place in (Path(), Path("/"), Path("nowhere") / "it"):
        assert str(place) in refused(check_output, place)
        assert str(place) in refused(write_output, place, b"new")


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_is_not_read(make: Callable[[Path], None]) -> None:
    make(IT)
    with pytest.raises(OSError, match="it"):
        open_regular(IT, 1 << 20)


def test_a_file_is_read_up_to_its_limit() -> None:
    IT.write_bytes(b"1234")
    assert read_small(IT, 4) == b"1234"
    for read in (read_small, open_regular):
        with pytest.raises(OSError, match="it"):
            read(IT, 3)
