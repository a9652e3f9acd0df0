"""Run the snippets of docs/frameworks.md that import a framework, and compare what they print with what they promise.

`tests/interop/run NAME` does so after its script, for a framework that is not installed beside the tests.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"


def main(framework: str) -> None:
    module = {"rllib": "ray"}.get(framework, framework)
    snippets = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    for snippet in snippets:
        if re.search(rf"^(?:from|import) {module}\b", snippet, re.MULTILINE):
            printed = io.StringIO()
            with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
                os.environ["MINARI_DATASETS_PATH"] = folder
                exec(snippet, {})
            promised = re.findall(r"^# (.*)$", snippet, re.MULTILINE)
            lines = printed.getvalue().splitlines()
            assert [line for line in promised if line not in lines] == [], lines
            print(f"{PAGE.name}: a snippet of {framework} ran and printed {promised}")


if __name__ == "__main__":
    main(sys.argv[1])
