"""Who cannot see colours, or anything, or has a small screen, can use every part of the page."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

Open = Callable[..., Page]

PARTS = {
    "game": ("#player=masked&seat=X&moves=5,1,9,3", ".move"),
    "inside": ("#player=trained&seat=X&moves=5,1&view=inside", ".heat-map"),
    "wrong": ("#player=masked&view=wrong", ".card"),
    "lost": ("#player=masked&view=lost", ".line"),
    "live": ("#player=masked&view=live", ".plot"),
}
OVERFLOWING = """() => [...document.querySelectorAll("body *:not(.unseen)")]
  .filter((each) => each.getClientRects().length && each.parentElement.closest("svg") === null)
  .filter((each) => each.getBoundingClientRect().right > each.parentElement.getBoundingClientRect().right + 1)
  .map((each) => each.outerHTML.slice(0, 200))"""
"""Returns the elements that are wider than what holds them."""
WANTED = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = {"resultTypes": ["violations"], "runOnly": WANTED}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_in_any_part(visit: Open, scheme: str) -> None:
    page = visit("", width=390, scheme=scheme)
    for name, (link, sign) in PARTS.items():
        page.evaluate("link => { location.hash = link; }", link)
        page.wait_for_selector(f"#panel-{name} {sign}")
        if name == "lost":
            page.locator(".line").first.click()
        found = Axe().run(page, options=RULES)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate(OVERFLOWING) == [], name


def test_axe_finds_no_violation_where_a_position_is_set_up(visit: Open) -> None:
    page = visit("#player=larger")
    page.get_by_role("button", name="Set up").click()
    found = Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()


def test_results_are_told_by_words_and_stripes_as_well_as_colours(visit: Open) -> None:
    page = visit("#player=masked&board=XX..O....&view=inside")
    exact = page.locator("#panel-inside figure").nth(1)
    expect(exact.locator("[data-exact=loss]").first).to_be_visible()
    for result in ("loss", "draw", "win"):
        for square in exact.locator(f"[data-exact={result}]").all():
            assert result in square.locator(".note").all_text_contents()
            assert square.locator(".hatching").count() == (result == "loss")


def test_nothing_moves_for_those_who_want_no_motion(visit: Open) -> None:
    page = visit("#player=masked&moves=5&seat=O")
    page.wait_for_selector(".mark.fresh")
    assert page.locator(".mark.fresh").first.evaluate("mark => getComputedStyle(mark).animationName") == "none"
