"""The files of the page: nothing that the browser would refuse, and modules that can be put one behind the other."""

import re
from collections import Counter

from selfplay.web.command import PAGE

MODULES = sorted(PAGE.glob("*.js"))
IMPORT = re.compile(r'^import \{[^}]+\} from "\./[a-z_]+\.js";$', re.MULTILINE)
DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (?:(\w+)|\[([^\]]+)\])", re.MULTILINE)


def test_modules_import_and_export_by_name_alone() -> None:
    for path in MODULES:
        text = path.read_text()
        assert len(re.findall(r"^import\b", text, re.MULTILINE)) == len(IMPORT.findall(text)), path.name
        assert not re.search(r"^export (?!function|const|class|async function)", text, re.MULTILINE), path.name
        assert not re.search(r"^await\b|^(?! \*|//|/\*\*).*\bimport\(", text, re.MULTILINE), path.name


def test_no_two_modules_declare_the_same_name() -> None:
    names = Counter(
        name.strip()
        for path in MODULES
        for one, several in DECLARED.findall(path.read_text())
        for name in ([one] if one else several.split(","))
    )
    assert len(names) > 100
    assert [name for name, times in names.items() if times > 1] == []


def test_only_what_asks_the_server_knows_of_one() -> None:
    asking = [path.name for path in MODULES if re.search(r"\bfetch\(|EventSource|XMLHttpRequest", path.read_text())]
    assert asking == ["server_source.js"]


def test_no_file_is_longer_than_one_reads_at_a_time() -> None:
    assert [path.name for path in MODULES if len(path.read_text().splitlines()) > 300] == []


def test_nothing_stands_inline_that_the_policy_forbids() -> None:
    page = (PAGE / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]*src=)", page)
    assert not re.search(r"https?://", page + (PAGE / "style.css").read_text())
