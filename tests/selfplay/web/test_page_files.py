"""The files of the page: nothing that the browser would refuse, and modules that can be put one behind the other."""

import re
from collections import Counter

from selfplay.web.command import PAGE
from selfplay.web.export import IMPORT

MODULES = {path.name: path.read_text() for path in sorted(PAGE.glob("*.js"))}
DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (?:(\w+)|\[([^\]]+)\])", re.MULTILINE)


def test_modules_import_and_export_by_name_alone() -> None:
    for name, text in MODULES.items():
        assert len(re.findall(r"^import\b", text, re.MULTILINE)) == len(IMPORT.findall(text)), name
        assert not re.search(r"^import \{[^}]* as ", text, re.MULTILINE), name
        assert not re.search(r"^export (?!function|const|class|async function)", text, re.MULTILINE), name
        assert not re.search(r"^await\b|^(?! \*|//|/\*\*).*\bimport[(.]", text, re.MULTILINE), name


def test_no_two_modules_declare_the_same_name() -> None:
    names = Counter(
        name.strip()
        for text in MODULES.values()
        for one, several in DECLARED.findall(text)
        for name in ([one] if one else several.split(","))
    )
    assert len(names) > 100
    assert [name for name, times in names.items() if times > 1] == []


def test_only_one_module_knows_the_server() -> None:
    requesting = [name for name, text in MODULES.items() if re.search(r"\bfetch\(|EventSource|XMLHttpRequest", text)]
    assert requesting == ["server_api.js"]


def test_nothing_is_inline_that_the_policy_forbids_or_that_would_end_its_element() -> None:
    page, style = (PAGE / "index.html").read_text(), (PAGE / "style.css").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]*src=)", page)
    assert not re.search(r"https?://", page + style)
    assert not re.search(r"</script|</style|<!--", "".join([*MODULES.values(), style]), re.IGNORECASE)
