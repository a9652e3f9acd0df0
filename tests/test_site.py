"""The pages build as a site without a warning, which a browser shows without a server or a network."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.site
ROOT = Path(__file__).parent.parent
EXTENSIONS = "myst_parser,sphinx.ext.autodoc,sphinx.ext.napoleon"
"""Extensions of the site but for the listings of the source, which take a third of the time."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built as CONTRIBUTING says."""
    pytest.importorskip("furo", reason="the extra `docs` is not installed")
    [command] = re.findall(
        r"^\.venv/bin/sphinx-build (.*?) site ", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    folder = tmp_path_factory.mktemp("site")
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-D", f"extensions={EXTENSIONS}"]
    done = subprocess.run([*sphinx, *command.split(), folder], cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Yield a page of the browser, which must ask for nothing but files."""
    page = browser.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    yield page
    page.close()
    assert requests
    assert [address for address in requests if not address.startswith(("file:", "data:", "blob:"))] == []


def test_the_first_page_is_the_readme_with_the_playground_whose_units_are_beside_it(site: Path, page: Page) -> None:
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()
    page.goto((site / "index.html").as_uri())
    playground = page.frame_locator("iframe.player")
    playground.get_by_role("button", name="The sign is wrong").click()
    playground.get_by_text(re.compile("ways to beat it .*after [1-9]")).wait_for()
    playground.get_by_role("link", name="Unit 3").click()
    page.wait_for_url("**/docs/course/unit_3.html")


def test_a_unit_leads_to_its_preset_in_the_playground(site: Path, page: Page) -> None:
    page.goto((site / "docs" / "course" / "unit_3.html").as_uri())
    page.get_by_role("link", name="The sign is wrong").click()
    page.wait_for_url("**/player.html#*")
    assert page.get_by_role("button", name="The sign is wrong").get_attribute("aria-pressed") == "true"


def test_the_reference_lists_the_settings(site: Path, page: Page) -> None:
    page.goto((site / "docs" / "api" / "selfplay.html").as_uri())
    assert page.get_by_text("checkpoint_interval", exact=True).count() > 0


@pytest.mark.parametrize("number", range(1, 9))
def test_each_unit_of_the_course_is_a_page_to_read_and_two_files_to_download(site: Path, number: int) -> None:
    unit = site / "docs" / "course" / f"unit_{number}"
    page = unit.with_suffix(".html").read_text()
    assert page.count('class="blank') == 1
    for suffix in (".ipynb", ".py"):
        assert f'href="{unit.name}{suffix}" download' in page
        assert "raise NotImplementedError" in unit.with_suffix(suffix).read_text()
