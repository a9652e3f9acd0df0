"""Settings of the documents' site, whose sources are the repository's own pages: `sphinx-build -c docs . site`.

The pages stay plain Markdown whose links work in the repository too, so what only the site needs is here.
"""

import inspect
import json
import pkgutil
import re
import shutil
from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

import selfplay
from selfplay.cli import course
from selfplay.web.page import write_page
from selfplay.web.player_data import players_data

project = "tictactoe-selfplay"
release = metadata.version(project)
root_doc = "README"
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**.md", "agents/selfplay/model*/README.md"]
include_patterns += ["docs/course/unit_*.py"]
source_suffix = {".md": "markdown", ".py": "markdown"}  # a unit becomes Markdown when it is read
exclude_patterns = [".*", "runs", "site"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_heading_anchors = 4
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!tictactoe\.|selfplay\.).*")]  # how others document theirs is not checked here
nitpick_ignore = [
    ("py:class", "tictactoe.gym.position_graph.Node"),  # what the environments share
    ("py:class", "selfplay.settings.whole"),  # how pydantic reads a setting
    ("py:class", "selfplay.settings.expanded"),
    ("py:class", "selfplay.dqn.config.widths"),
    ("py:class", "selfplay.dqn.config.known_rewards"),
]
default_role = "code"  # docstrings mark code by single backticks, as the pages do
napoleon_numpy_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"  # a list of the parameters, each with its type
autodoc_default_options = {
    "members": True,
    "inherited-members": "AECEnv,Env,Module,Protocol,ValueError,VectorEnv,tuple",
}

smartquotes = False  # a search for "don't" finds what was written so
html_theme = "furo"
html_title = f"{project} {release}"  # every page shows it
html_copy_source = html_show_copyright = False
html_static_path, html_css_files, html_js_files = ["site.css", "frame.js"], ["site.css"], ["frame.js"]
html_search_scorer = str(Path(__file__).with_name("search.js"))

LISTED = re.compile(r"^- `([\w.]+)`:.*$", re.MULTILINE)
"""A name of the reference, for which the site has all that its docstrings say."""
OPTIONS = {"class": ":exclude-members: algorithm, groups, length_setting, unit", "data": ":no-value:"}
DOWNLOADS = """
<p class="downloads">Take this unit with you: <a href="{unit}.ipynb" download>{unit}.ipynb</a> for Jupyter,
or <a href="{unit}.py" download>{unit}.py</a> for an editor. <a href="README.html">The course</a> says how to start.</p>
"""
"""Below the title of a unit."""
MORE_PRESETS = (("illegal=mask", 5, "Taken squares are masked"), ("additions=off", 7, "Without counterexamples"))
"""Links into the playground for units that none of its buttons is about: the settings, the unit and the words."""
FOLDED = "<details><summary>{}</summary>\n\n{}\n\n</details>"
CODE = "```python\n{}\n```"
BLANK = "```{{code-block}} python\n:class: blank\n\n{}\n```"
PRINTED = "```{{code-block}} text\n:class: shown\n\n{}\n```"
PICTURE = re.compile(r"^!\[.*\]\(docs/hero\.svg\)$", re.MULTILINE)
"""The README's moving picture. The site has the page's playground in its place."""
PLAYER = """
<iframe class="player" src="player.html#view=playground" title="A program that learns while you watch"></iframe>

<div class="cards">

**[Play and look inside](docs/play.md)** a trained player: what it believes, next to what is true.
<a href="player.html">Try it here</a>. The <a href="player.html#view=playground">playground above</a> has its own page.

**[Take the course](docs/course/README.md)**: eight units, from the solved game to a proof that you write yourself.

**[Judge your own agent](#judge-your-own-agent)**: can it be beaten, and how? Three lines of Python.

</div>
"""
CONTENTS = {
    "Start": "docs/troubleshooting",
    "Environment": "docs/environment docs/environments/turn docs/environments/versus docs/environments/vector "
    "docs/environments/pettingzoo docs/environments/batch docs/frameworks",
    "Train": "docs/training",
    "Judge": "docs/proofs agents/selfplay/model/README agents/selfplay/model_5x5x4/README",
    "Play": "docs/play",
    "Sweeps": "docs/sweeps",
    "Learn": "docs/course/README docs/course/teachers docs/why-does-my-dqn-not-learn",
    "Results": "docs/results docs/studies/README",
    "Reference": "docs/api/tictactoe docs/api/selfplay docs/listing CHANGELOG CONTRIBUTING",
}
"""The pages below each heading of the tree, which would be shown as code in the repository."""
TREE = "\n\n```{{toctree}}\n:hidden:\n{}\n{}\n```"


def setup(app: Sphinx) -> None:
    """Give Sphinx what no setting says."""
    app.connect("source-read", read_page)
    app.connect("autodoc-process-docstring", mark_fields, priority=100)  # before napoleon
    app.connect("build-finished", finish)


def read_page(_app: Sphinx, page: str, source: list[str]) -> None:
    """Turn a unit into Markdown, and add to the other pages what only the site needs."""
    if Path(page).name.startswith("unit_"):
        source[0] = unit_page(Path(page).name, source[0])
    source[0] = re.sub(r"\]\((?!unit_)(?=[^):]+\.py\))", "](path:", source[0])  # programs are files to download
    if page.startswith("docs/api/"):
        source[0] = LISTED.sub(directive, source[0])
    if page == root_doc:
        source[0] = PICTURE.sub(PLAYER, source[0])
        for heading, pages in CONTENTS.items():
            source[0] += TREE.format(f":caption: {heading}", "\n".join(pages.split()))
    if page == "docs/course/README":
        source[0] += TREE.format(":glob:", "unit_*")


def directive(line: re.Match[str]) -> str:
    """Return the directive for a name of the reference."""
    documented = pkgutil.resolve_name(line[1])
    kind = "data"
    if inspect.ismodule(documented):
        kind = "module"
    elif inspect.isclass(documented):
        kind = "exception" if issubclass(documented, Exception) else "class"
    elif inspect.isfunction(documented):
        kind = "function"
    return f"\n```{{eval-rst}}\n.. auto{kind}:: {line[1]}\n   {OPTIONS.get(kind, '')}\n```\n"


def unit_page(unit: str, script: str) -> str:
    """Return a unit as Markdown, with what its cells print and draw with the solution.

    Folded are the code of the checks, and what would give an answer away: all outputs below the blank, and predictions
    that are revealed.
    """
    stored = json.loads(Path(__file__).parent.joinpath("course", "outputs", f"{unit}.json").read_text(encoding="utf-8"))
    outputs = iter(stored["outputs"])
    parts = []
    above = True
    for cell in course.script_cells(script):
        if cell.kind == "markdown":
            parts.append(re.sub(r"`docs/([a-z-]+\.md)`", r"[\1](../\1)", cell.source))
            continue
        blank = "blank" in cell.tags
        above &= not blank
        block = (BLANK if blank else CODE).format(cell.source)
        parts.append(FOLDED.format("The code of this check", block) if "folded" in cell.tags else block)
        shown = [shown_output(part, unit) for part in next(outputs)]
        if shown and "predict(" not in cell.source:
            together = "\n\n".join(shown)
            open_to_see = above and "reveal(" not in cell.source
            label = "What this shows" if above else "What this shows, with the solution"
            parts.append(together if open_to_see else FOLDED.format(label, together))
    title, text = parts[0].split("\n", 1)
    return "\n\n".join((title, DOWNLOADS.format(unit=unit), playground(unit), text, *parts[1:]))


def shown_output(output: str, unit: str) -> str:
    """Return an output as Markdown: a board, a plot, or text."""
    if output.startswith("<svg"):
        return f'<div class="boards">\n{output}\n</div>'
    if re.fullmatch(rf"{unit}\w*\.svg", output):
        return f"![What this draws, with the solution]({output})"
    return PRINTED.format(output)


def playground(unit: str) -> str:
    """Return a line with the playground's presets that are about a unit; nothing if there are none."""
    page = Path(selfplay.__file__).parent.joinpath("web", "page", "index.html").read_text(encoding="utf-8")
    presets = re.findall(r'data-link="([^"]*)" data-unit="(\d)"[^>]*>([^<]*)</button>', page)
    links = []
    for settings, number, name in (*presets, *MORE_PRESETS):
        if unit == f"unit_{number}":
            links.append(f'<a href="../../player.html#view=playground&amp;{settings}">{name}</a>')
    if not links:
        return ""
    return f'<p class="downloads">See it in the playground, without an installation: {", ".join(links)}.</p>'


def mark_fields(_app: Sphinx, kind: str, _name: str, _documented: object, _options: object, lines: list[str]) -> None:
    """Let "Word: text" be a field of a class, as `help()` shows it, and not the type of an attribute."""
    if lines and kind in ("attribute", "data", "property"):
        lines[0] = f": {lines[0]}"  # napoleon takes the text before the first colon for the type
    for number, line in enumerate(lines[1:], 1):
        lines[number] = re.sub(r"^([A-Z][a-z ]+): (?=\S)", r":\1: ", line)


def finish(app: Sphinx, error: Exception | None) -> None:
    """Give the start page the usual name of a site's first page, and add its player and the units to download."""
    if error is not None:
        return
    site, docs = Path(app.outdir), Path(__file__).parent
    shutil.copyfile(site / f"{root_doc}.html", site / "index.html")
    write_page(players_data(["shipped"]), site / "player.html", course="docs/course/")
    for picture in docs.glob("watch*.png"):  # in HTML, for light and dark
        shutil.copy(picture, site / "docs")
    for unit in course.units():
        shutil.copy(unit, site / "docs" / "course")
        (site / "docs" / "course" / f"{unit.stem}.ipynb").write_bytes(course.notebook(unit))
