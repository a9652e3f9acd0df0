"""The page as one file: modules keep their names to themselves, data cannot break out, the rest is refused."""

import base64
import hashlib
import json
import re

import pytest
from playwright.sync_api import Browser

from selfplay.web.bundle import BundleError, document, one_script

MODULES = {
    "start.js": 'import { doubled, Box as Case } from "./tools.js";\nimport {\n  size,\n} from "./sizes.js";\n'
    'const unit = "cm";\nwindow.found = [doubled(2), new Case(3).size, size(), unit];\n',
    "tools.js": '// What others use.\nimport { size } from "./sizes.js";\nconst unit = 10;\n'
    "export const doubled = (number) => unit * 2 * number;\nexport class Box {\n"
    "  constructor(count) {\n    this.size = count * size();\n  }\n}\n",
    "sizes.js": "const unit = 7;\nwindow.counted = (window.counted ?? 0) + 1;\n"
    "export function size() {\n  return unit;\n}\n",
    "never.js": "window.counted = 100;\n",
}
PAGE = {
    **MODULES,
    "index.html": '<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n<link rel="icon" href="sign.svg">\n'
    '<link rel="stylesheet" href="style.css">\n<script type="module" src="served.js"></script>\n</head>\n'
    '<body><a href="#top">top</a></body>\n</html>\n',
    "style.css": "body { color: rgb(1, 2, 3); }\n",
    "sign.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
}
HOSTILE = ["</script><script>window.broken = 1</script>", "<!--<script>", "]]>", "\u2028\u2029\0", "\udcff", "\\u003c"]


def test_modules_become_one_script(browser: Browser) -> None:
    """Names that two modules have do not meet, and what two import runs once."""
    page = browser.new_page()
    page.evaluate(f"() => {{ {one_script(MODULES, 'start.js')} }}")
    assert page.evaluate("[window.found, window.counted]") == [[40, 21, 7, "cm"], 1]
    page.close()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('import tools from "./tools.js";', "import tools from"),
        ('import * as tools from "./tools.js";', r"import \* as tools"),
        ('import "./tools.js";', 'import "./tools.js"'),
        ('import { size } from "https://example.org/sizes.js";', "import { size } from"),
        ("export default size;", "export default size"),
        ("export let size = 3;", "export let size"),
        ("export { size };", "export { size }"),
        ('const tools = await import("./tools.js");', r'import\("./tools.js"\)'),
        ("const here = import.meta.url;", "import.meta.url"),
        ('const text = "</SCRIPT>";', "</SCRIPT>"),
        ('const text = "<!--";', "<!--"),
        ('import { size } from "./start.js";', "it imports itself, start.js -> start.js"),
        ('import { size } from "./absent.js";', "there is no absent.js"),
    ],
)
def test_what_cannot_be_bundled_is_refused(line: str, why: str) -> None:
    with pytest.raises(BundleError, match=rf"^start.js: cannot be bundled: .*{why}"):
        one_script({**MODULES, "start.js": f"{MODULES['start.js']}{line}\n"}, "start.js")


def test_comments_may_speak_of_imports() -> None:
    comment = '/** @type {import("./tools.js").Box} */\n// import nothing\n/**\n * export nothing\n */\n'
    assert comment in one_script({"start.js": f"{comment}window.found = 1;\n"}, "start.js")


def test_data_stays_data(browser: Browser) -> None:
    """Whatever stands in it, it is read as it was written, and nothing of it runs."""
    page = browser.new_page()
    page.set_content(document(PAGE, "start.js", {"data": HOSTILE}))
    assert json.loads(page.locator("#data").inner_text()) == HOSTILE
    assert page.evaluate("[window.found, window.broken ?? null]") == [[40, 21, 7, "cm"], None]
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(1, 2, 3)"
    page.close()


def test_the_policy_lets_this_script_and_style_work_alone() -> None:
    html = document(PAGE, "start.js", {})
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        content = re.findall(rf"<{element}[^>]*>(.*?)</{element}>", html, re.DOTALL)
        checksum = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert len(content) == 1
        assert f"{directive} 'sha256-{checksum}';" in html
    assert "default-src 'none'" in html
    assert html.index("Content-Security-Policy") < html.index("<link")


def test_pictures_lie_in_the_file() -> None:
    sign = base64.b64encode(PAGE["sign.svg"].encode()).decode()
    assert f'<link rel="icon" href="data:image/svg+xml;base64,{sign}">' in document(PAGE, "start.js", {})


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("index.html", '<a href="#top">', '<a href="https://example.org/">', 'href="https://example.org/"'),
        ("index.html", '<link rel="stylesheet" href="style.css">', "", "it has 0 times <link"),
        ("index.html", "</head>", '<script type="module" src="more.js"></script></head>', "it has 2 times <script"),
        ("style.css", "}", "} </style>", "it ends its own element"),
    ],
)
def test_a_page_that_would_need_more_is_refused(name: str, old: str, new: str, why: str) -> None:
    with pytest.raises(BundleError, match=f"^{name}: cannot be bundled: {why}"):
        document({**PAGE, name: PAGE[name].replace(old, new)}, "start.js", {})
