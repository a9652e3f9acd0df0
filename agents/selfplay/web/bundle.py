"""The page as one file: its modules as one script, its style and its pictures inside.

Each module becomes a function that is called once and returns what the module exports, behind those that it imports.
That is enough for named imports of modules beside it, and named exports of functions, constants and classes. What else
the language has is refused, so that no page is written that does not work.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.-]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^\s*//.*|/\*.*?\*/", re.MULTILINE | re.DOTALL)
LEFT = re.compile(r"^\s*(?:import|export)\b.*|\bimport\s*[.(].*|</script.*|<!--.*", re.MULTILINE | re.IGNORECASE)
"""What is no such import or export, or would end the element that the script stands in."""

STYLE = re.compile(r'<link rel="stylesheet" href="[\w.-]+">')
SCRIPT = re.compile(r'<script type="module" src="[\w.-]+"></script>')
PICTURE = re.compile(r'(?<==")[\w-]+\.svg(?=")')
ELSEWHERE = re.compile(r'\b(?:href|src)="(?!#|data:)[^"]*"')


class BundleError(ValueError):
    """Say what of the page cannot be bundled."""


def document(page: Mapping[str, str], entry: str, held: Mapping[str, Any]) -> str:
    """Return the page as one file that asks for nothing, with the module `entry` instead of the served page's.

    `page` are the files by their names; `held` is data that lies in the file as JSON, by the ids of its elements.

    Raises:
        BundleError: the page is written as cannot be bundled.
    """
    html, style, script = page["index.html"], page["style.css"], one_script(page, entry)
    if "</style" in style.lower():
        raise BundleError("style.css: cannot be bundled: it ends its own element")
    html = PICTURE.sub(lambda name: _address(page, name.group()), html)
    html = _put(html, STYLE, f"<style>{style}</style>")
    data = [f'<script type="application/json" id="{name}">{_json(each)}</script>\n' for name, each in held.items()]
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, style)}">'
    html = _put(html, re.compile("<head>"), f"<head>\n{policy}")
    if left := ELSEWHERE.search(SCRIPT.sub("", html)):
        raise BundleError(f"index.html: cannot be bundled: {left.group()}")
    return _put(html, SCRIPT, f'{"".join(data)}<script type="module">{script}</script>')


def one_script(modules: Mapping[str, str], entry: str) -> str:
    """Return one script that does what the module `entry` does.

    Raises:
        BundleError: a module is missing, imports itself in a circle, or is written as cannot be bundled.
    """
    done: dict[str, str] = {}
    _add(modules, entry, (), done)
    return "".join(done.values())


def _add(modules: Mapping[str, str], name: str, importers: tuple[str, ...], done: dict[str, str]) -> None:
    """Add a module to those that are done, behind those that it imports."""
    if name in importers:
        raise BundleError(f"{name}: cannot be bundled: it imports itself, {' -> '.join((*importers, name))}")
    if name in done:
        return
    if name not in modules:
        raise BundleError(f"{importers[-1] if importers else 'the page'}: cannot be bundled: there is no {name}")
    source = modules[name]
    for _, imported in IMPORT.findall(source):
        _add(modules, imported, (*importers, name), done)
    body = EXPORT.sub("", IMPORT.sub(_constants, source))
    if left := LEFT.search(COMMENT.sub("", body)):
        raise BundleError(f"{name}: cannot be bundled: {left.group().strip()}")
    exported = ", ".join(EXPORT.findall(source))
    done[name] = f"const {_variable(name)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _constants(statement: re.Match[str]) -> str:
    """Return an import as constants; what is imported `as` another name is taken out under that name."""
    names = ", ".join(" ".join(name.split()).replace(" as ", ": ") for name in statement[1].split(",") if name.strip())
    return f"const {{ {names} }} = {_variable(statement[2])};"


def _variable(name: str) -> str:
    """Return the name of the constant that holds what a module exports."""
    return "$" + re.sub(r"\W", "_", name)


def _put(html: str, place: re.Pattern[str], content: str) -> str:
    """Put content into the only such place."""
    parts = place.split(html)
    if len(parts) != 2:
        raise BundleError(f"index.html: cannot be bundled: it has {len(parts) - 1} times {place.pattern}")
    return content.join(parts)


def _address(page: Mapping[str, str], name: str) -> str:
    """Return the address of a picture that lies in the address itself."""
    return f"data:image/svg+xml;base64,{base64.b64encode(page[name].encode()).decode()}"


def _json(data: Any) -> str:
    """Return data as JSON in which nothing ends an element or begins a comment: names in it can be anybody's."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _policy(script: str, style: str) -> str:
    """Return the policy that lets this script and this style work, and nothing be loaded or sent."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
