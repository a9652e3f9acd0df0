"""`selfplay certify` writes what its last line checks, and says who is meant."""

import gzip
import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from selfplay.cli import certify
from selfplay.judging import check_certificate
from selfplay.learning.load import SHIPPED_FOLDER
from tests.runs import python, refused

pytestmark = pytest.mark.usefixtures("here")


def header(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()).split(b"\n")[0])
    return content


def test_the_last_line_checks_the_shipped_player(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certify.main(["shipped"])
    said = capsys.readouterr().out.splitlines()
    ended = python(*shlex.split(said[-1])[1:], cwd=here)
    assert ended.returncode == 0
    checksum = hashlib.sha256((SHIPPED_FOLDER / "model.safetensors").read_bytes()).hexdigest()
    assert checksum in ended.stdout
    assert re.search(r"^UNBEATABLE\b.*\bX\b.*\bO\b", ended.stdout, re.MULTILINE)


def test_a_run_has_its_certificate_in_its_folder(here: Path) -> None:
    shutil.copytree(SHIPPED_FOLDER, here / "run")
    certify.main(["run"])
    certify.main(["run", "--output", "elsewhere.gz"])
    assert check_certificate.main("elsewhere.gz") == 0
    assert Path("elsewhere.gz").read_bytes() == (here / "run" / certify.NAME).read_bytes()
    assert header(Path("elsewhere.gz"))["masked"] is False


def test_a_built_in_opponent_is_certified_by_all_of_its_choices() -> None:
    certify.main(["rule", "--rows", "3", "--cols", "4", "--k", "4"])
    assert check_certificate.main(certify.NAME) == 0
    expected = {"rows": 3, "cols": 4, "k": 4, "masked": True, "symmetric": True, "model_sha256": None}
    assert expected.items() <= header(Path(certify.NAME)).items()


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ("rule", "rule"),
        ("rule --rows 3 --cols 4 --k 4 --positions 9", "9 positions"),
    ],
)
def test_a_mistake_is_named_and_leaves_no_file(args: str, named: str, here: Path) -> None:
    assert named in refused(certify.main, args.split())
    assert not list(here.iterdir())
