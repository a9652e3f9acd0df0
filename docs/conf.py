"""Settings of the documents' site, whose sources are the repository's own pages: `sphinx-build -c docs . site`.

The pages stay plain Markdown whose links work in the repository too, so what only the site needs is here.
"""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

project = "tictactoe-selfplay"
root_doc = "README"
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**.md", "agents/selfplay/model/README.md"]
exclude_patterns = [".*", "runs", "site"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_heading_anchors = 4
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!tictactoe\.|selfplay\.).*")]  # how others document theirs is not checked here
nitpick_ignore = [("py:class", "selfplay.settings.Bounds")]  # in the types of settings, and explains itself there
default_role = "code"  # docstrings mark code by single backticks, as the pages do
napoleon_numpy_docstring = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": "AECEnv,Env,Protocol,ValueError,VectorEnv,tuple"}

smartquotes = False  # a search for "don't" finds what was written so
html_theme = "furo"
html_title = project
html_copy_source = html_show_copyright = False
html_search_scorer = str(Path(__file__).with_name("search.js"))

CONTENTS = """
```{toctree}
:hidden:
:caption: Start
docs/troubleshooting
```
```{toctree}
:hidden:
:caption: Environment
docs/environment
docs/environments/turn
docs/environments/versus
docs/environments/vector
docs/environments/pettingzoo
docs/environments/batch
docs/frameworks
```
```{toctree}
:hidden:
:caption: Train
docs/training
docs/from-python
docs/runs-and-tensorboard
docs/published-learners
```
```{toctree}
:hidden:
:caption: Judge
docs/proofs
agents/selfplay/model/README
```
```{toctree}
:hidden:
:caption: Play
docs/arena
docs/web
```
```{toctree}
:hidden:
:caption: Sweeps
docs/sweeps
```
```{toctree}
:hidden:
:caption: Learn
docs/course/README
docs/course/teachers
docs/why-does-my-dqn-not-learn
docs/recipes
```
```{toctree}
:hidden:
:caption: Results
docs/results
docs/baselines
docs/learning
docs/speed
docs/bigger-boards
docs/evidence
docs/reliability
docs/what-did-not-work
docs/limitations
docs/protocol
```
```{toctree}
:hidden:
:caption: Reference
docs/api/tictactoe
docs/api/selfplay
CHANGELOG
CONTRIBUTING
```
"""


def setup(app: Sphinx) -> None:
    """Give Sphinx what no setting says."""
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", mark_fields, priority=100)  # before napoleon
    app.connect("build-finished", name_start_page)


def add_contents(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add the tree of the pages to the README, in which it would be shown as code in the repository."""
    if page == root_doc:
        source[0] += CONTENTS


def mark_fields(_app: Sphinx, kind: str, _name: str, _documented: object, _options: object, lines: list[str]) -> None:
    """Let "Word: text" be a field of a class, as `help()` shows it, and not the type of an attribute."""
    if lines and kind in ("attribute", "data", "property"):
        lines[0] = f": {lines[0]}"  # napoleon takes the text before the first colon for the type
    for number, line in enumerate(lines[1:], 1):
        lines[number] = re.sub(r"^([A-Z][a-z ]+): (?=\S)", r":\1: ", line)


def name_start_page(app: Sphinx, error: Exception | None) -> None:
    """Give the start page the usual name of a site's first page."""
    if error is None:
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))
