"""`selfplay certify` writes what its last line checks, and says who is meant."""

import gzip
import hashlib
import shlex
import shutil
from pathlib import Path

import pytest

from selfplay.cli import certify
from selfplay.judge import check_certificate
from selfplay.runs.load import SHIPPED, SHIPPED_FOLDERS
from tests.runs import python

pytestmark = pytest.mark.usefixtures("here")


def test_the_last_line_checks_the_shipped_player_with_python_alone(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certify.main(["shipped"])
    said = capsys.readouterr().out.splitlines()
    ended = python("-I", "-S", *shlex.split(said[-1])[1:], cwd=here)  # without installed packages
    assert ended.returncode == 0
    assert hashlib.sha256((SHIPPED_FOLDERS[SHIPPED] / "model.safetensors").read_bytes()).hexdigest() in ended.stdout


def test_a_run_has_its_certificate_in_its_folder_and_the_same_bytes_each_time(here: Path) -> None:
    shutil.copytree(SHIPPED_FOLDERS[SHIPPED], here / "run")
    certify.main(["run"])
    certify.main(["run", "--output", "elsewhere.gz"])
    content = Path("elsewhere.gz").read_bytes()
    assert content == (here / "run" / certify.NAME).read_bytes()
    assert content[4:8] == bytes(4)  # where gzip writes the time


def test_a_built_in_opponent_is_certified_by_all_of_its_choices() -> None:
    certify.main(["rule", "--rows", "3", "--cols", "4", "--k", "4"])
    assert check_certificate.main(certify.NAME) == 0
    _, entry, *_ = gzip.decompress(Path(certify.NAME).read_bytes()).decode().splitlines()
    assert entry.count("*") > 1
