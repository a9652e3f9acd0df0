"""The page follows a run while it trains."""

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from selfplay.cli import train
from tests.runs import DQN, Stopper, metrics, stopped
from tests.selfplay.web.visits import Site

Open = Callable[..., Page]


def test_a_run_is_followed_from_its_first_evaluation_to_its_end(visit: Open, served: Site, stopper: Stopper) -> None:
    page = visit("#player=masked&view=live")
    expect(page.locator("li[data-run=trained]")).to_be_visible()
    folder = served.runs / "begun"
    stopped(folder, stopper, [*DQN, "--mask"])
    line = page.locator("li[data-run=begun]")
    for end in (False, True):
        if end:
            stopper.left = -1
            train.main(["--resume", str(folder)])
        last = metrics(folder)[-1]
        lost = sum(last[f"eval/{seat}/losses"] for seat in ("first", "second"))
        expect(line).to_contain_text(f"{last['plies']:,} plies: {lost:,} lost")
        newest = json.loads((folder / "latest.json").read_text())
        section = page.locator(".newest-run", has=page.get_by_role("heading", name="begun", exact=True))
        game = ", ".join(str(cell + 1) for cell in newest["game"])
        expect(section.get_by_role("img", name=f"Game {game}:")).to_be_visible()
    lost_lines = page.get_by_role("img", name="Lost lines")
    assert f"begun {lost:,}" in (lost_lines.get_attribute("aria-label") or "")
    dashes = lost_lines.locator(".curve").evaluate_all("all => all.map(each => each.getAttribute('stroke-dasharray'))")
    assert len(dashes) == len(set(dashes)) >= 2  # told apart without colours
    page.get_by_role("checkbox", name="trained").uncheck()
    assert "trained" not in (lost_lines.get_attribute("aria-label") or "")
    section.get_by_role("button", name="Step through it").click()
    expect(page.locator("#status")).to_have_text(f"After move 0 of {len(newest['game'])}")
    assert page.locator("#player option:checked").inner_text() == "begun, 3\u00d73"
