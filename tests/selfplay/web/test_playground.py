"""What people do in the playground: it trains and proves, as set, and one plays against what it has learned."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.selfplay.web.visits import Site, go_to, press, says

Open = Callable[..., Page]
LINK = "#view=playground"
PRESETS = ["It learns", "The sign is wrong", "No exploration", "Against random only", "It forgets"]
PRESETS += ["A table learns too"]


def playground(page: Page, name: str) -> Locator:
    return page.locator("#panel-playground").get_by_role("button", name=name)


def moves(page: Page) -> int:
    """Return after how many moves the verdict is that the page shows."""
    [number] = re.findall(r"after ([\d,]+) moves", page.locator(".score").inner_text())
    return int(number.replace(",", ""))


def paused(page: Page) -> None:
    playground(page, "Pause").wait_for(state="hidden")


def test_a_player_is_trained_until_it_is_proved_and_the_same_again(visit: Open) -> None:
    page = visit(LINK)
    says(page, ".score", "ways to beat it")
    press(page, "Start")
    says(page, ".score", "PROVED")
    expect(page.locator("#panel-playground .flag-sign")).to_be_visible()
    paused(page)
    proved = moves(page)
    says(page, ".shortest", "No game")
    press(page, "Reset")
    says(page, ".score", "after 0 moves")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    says(page, ".score", "PROVED")
    paused(page)
    assert moves(page) == proved
    press(page, "Continue")
    press(page, "Pause")
    paused(page)
    assert moves(page) > proved


def test_with_the_wrong_sign_it_is_beaten_by_the_game_that_is_played(visit: Open) -> None:
    page = visit(LINK)
    press(page, "The sign is wrong")
    says(page, ".score", re.compile(r"after \d+,\d{3} moves"))
    parts = page.locator("#panel-playground").locator(".plot, .maps figure, .board")
    boxes = [part.bounding_box() or {"y": 0, "height": 0} for part in parts.all()]
    assert len(boxes) == 4
    assert all(0 < box["y"] < box["y"] + box["height"] <= 900 for box in boxes)  # without scrolling
    press(page, "Pause")
    paused(page)
    assert "PROVED" not in page.locator(".score").inner_text()
    assert page.url.endswith("view=playground&target=article")
    text = page.locator(".shortest").inner_text()
    cells = [int(cell) - 1 for cell in re.findall(r"[XO](\d)", text)]
    press(page, "Play that game")
    winner = "X" if "It plays O" in text else "O"
    status = page.locator("#panel-playground [role=status]")
    expect(status).to_have_text(re.compile(f"{winner} wins|marked a taken square"))
    board = page.locator("#panel-playground .board")
    expect(board.locator("[data-mark='X'], [data-mark='O']")).to_have_count(len(set(cells)))
    playground(page, "Back").click()
    expect(status).to_contain_text("to move")


def test_one_plays_against_the_learner_as_it_is(visit: Open) -> None:
    page = visit(f"{LINK}&illegal=mask")
    status = page.locator("#panel-playground [role=status]")
    board = page.locator("#panel-playground .board")
    expect(page.locator("#panel-playground figure [data-value]")).to_have_count(9)
    playground(page, "Let it move").click()
    expect(status).to_contain_text("X is to move")
    while "to move" in status.inner_text():
        marks = board.locator(".marked").count()
        board.locator(".free").first.click()
        page.wait_for_function(
            """marks => {
                const panel = document.querySelector("#panel-playground");
                const over = !panel.querySelector("[role=status]").textContent.includes("to move");
                return over || panel.querySelectorAll(".board .marked").length === marks + 2;
            }""",
            arg=marks,
        )
    assert page.locator("#panel-playground .maps").is_hidden()
    press(page, "Reset")  # a learner has no values where a game is over
    press(page, "Step")
    says(page, ".score", "after 1,024 moves")
    assert "to move" not in status.inner_text()


def test_a_link_holds_the_settings_and_only_what_can_be_set(visit: Open) -> None:
    page = visit(f"{LINK}&algorithm=table&target=article&explore=7&rate=<b>&seed=3&opponent=random")
    page.get_by_text("Settings: change one").click()
    for setting, value in (("algorithm", "table"), ("target", "article"), ("explore", "0.6"), ("seed", "3")):
        expect(page.locator(f"#set-{setting}")).to_have_value(value)
    expect(page.locator("#set-replay")).to_be_disabled()
    page.get_by_label("Algorithm").select_option("dqn")
    assert page.url.endswith("view=playground&target=article&seed=3")
    expect(page.locator("#set-rate")).to_have_value("0.012")
    page.get_by_label("Replay memory").select_option("off")
    assert page.url.endswith("&target=article&replay=off&seed=3")
    go_to(page, LINK)
    expect(page.locator("#set-replay")).to_have_value("on")
    expect(playground(page, "It learns")).to_have_attribute("aria-pressed", "true")


def test_every_preset_trains_a_change_begins_anew_and_another_tab_pauses(visit: Open) -> None:
    page = visit(LINK)
    for name in PRESETS:
        press(page, name)
        says(page, ".start", "Pause")
        expect(playground(page, name)).to_have_attribute("aria-pressed", "true")
        says(page, "#panel-playground .verdict", re.compile(r"Unit \d of the course"))
        says(page, ".score", re.compile("after [1-9]"))
    page.get_by_text("Settings: change one").click()
    page.get_by_label("Seed").select_option("1")
    says(page, ".score", re.compile("after [1-9]"))  # it runs on
    page.locator("#set-seed").blur()
    page.keyboard.press("5")  # this key marks a square of the page's board
    page.get_by_role("tab", name="Look inside").click()
    assert page.locator("#board .marked").count() == 0
    page.get_by_role("tab", name="Playground").click()
    paused(page)
    page.get_by_label("Seed").select_option("2")
    says(page, ".score", "after 0 moves")
    press(page, "Step")
    says(page, ".score", "after 20,000 moves")
    page.wait_for_function("text => document.querySelector('#spoken').textContent.includes(text)", arg="after 20,000")
    target = page.locator("#set-target")
    target.select_option("independent")
    says(page, "#panel-playground .verdict", target.locator("option:checked").get_attribute("data-why") or "")


def test_a_run_that_has_spent_its_moves_says_so(visit: Open, site: Site, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(site.file.read_text("utf-8").replace("most: 20_000_000", "most: 40_000"), "utf-8")
    page = visit(LINK, file=file)
    press(page, "No exploration")
    says(page, ".score", "after 40,000 moves")
    says(page, ".score", "It has stopped")
