"""The page's modules as one script, for a file that can load no other.

Each module becomes a function that is called once and returns what the module exports, after those that it imports.
That is enough for named imports from modules beside it and named exports of functions, constants and classes; what else
the language has is refused, so that no page is written that does not work.
"""

import re
from collections.abc import Mapping

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.-]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (\w+))", re.MULTILINE)
LEFT = re.compile(r"^\s*(?:import|export)\b.*|\bimport\s*[.(].*|</script.*|<!--.*", re.MULTILINE | re.IGNORECASE)
"""What is no such import or export, or would end the element that the script stands in."""


class BundleError(ValueError):
    """Say what in a module cannot be bundled."""


def bundle(modules: Mapping[str, str], entry: str) -> str:
    """Return one script that does what the module `entry` does; `modules` are the sources by their files' names.

    Raises:
        BundleError: a module is missing, imports itself in a circle, or is written as cannot be bundled.
    """
    done: dict[str, str] = {}
    _add(modules, entry, (), done)
    return "".join(done.values())


def _add(modules: Mapping[str, str], name: str, importers: tuple[str, ...], done: dict[str, str]) -> None:
    """Add a module to those that are done, behind those that it imports."""
    if name in importers:
        raise BundleError(f"{name} imports itself: {' -> '.join((*importers, name))}")
    if name in done:
        return
    if name not in modules:
        raise BundleError(f"{importers[-1] if importers else 'the page'} imports {name}, which there is not")
    source = modules[name]
    for _, imported in IMPORT.findall(source):
        _add(modules, imported, (*importers, name), done)
    body = EXPORT.sub("", IMPORT.sub(_constants, source))
    left = LEFT.search(body)
    if left:
        raise BundleError(f"{name}: cannot be bundled: {left.group().strip()}")
    exported = ", ".join(EXPORT.findall(source))
    done[name] = f"// {name}\nconst {_variable(name)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _constants(statement: re.Match[str]) -> str:
    """Return an import as constants: `a as b` is `a: b` where an object is taken apart."""
    names = ", ".join(" ".join(name.split()).replace(" as ", ": ") for name in statement[1].split(",") if name.strip())
    return f"const {{ {names} }} = {_variable(statement[2])};\n"


def _variable(name: str) -> str:
    """Return the variable of what a module exports."""
    return "$" + re.sub(r"\W", "_", name)
