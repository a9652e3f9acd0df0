"""The playground in a browser: it trains and proves, from the server and from a file, as set and for everyone."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from selfplay.cli import web as command
from tests.selfplay.web.visits import go_to, press, says, spoken, violations, watched

Open = Callable[..., Page]
LINK = "#view=playground"
LARGEST_FILE = 700_000
PRESETS = ["It learns", "The sign is wrong", "No exploration", "Against random only", "It forgets"]
PRESETS += ["A table learns too"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of the shipped player as a file."""
    file = tmp_path_factory.mktemp("exported") / "page.html"
    command.main(["shipped", "--export", str(file)])
    return file


@pytest.fixture
def offline(file: Path, browser: Browser) -> Iterator[Page]:
    """Yield the playground of a file without a network."""
    context = browser.new_context(offline=True, reduced_motion="reduce")
    page = context.new_page()
    with watched(page, file.as_uri()):
        page.goto(f"{file.as_uri()}{LINK}")
        yield page
    context.close()


def playground(page: Page, name: str) -> Locator:
    return page.locator("#panel-playground").get_by_role("button", name=name)


def moves(page: Page) -> int:
    """Return after how many moves the verdict is that the page shows."""
    [number] = re.findall(r"after ([\d,]+) moves", page.locator(".score").inner_text())
    return int(number.replace(",", ""))


def paused(page: Page) -> None:
    playground(page, "Pause").wait_for(state="hidden")


def test_a_file_without_a_network_trains_a_player_until_it_is_proved_and_the_same_again(
    offline: Page, file: Path
) -> None:
    assert file.stat().st_size < LARGEST_FILE
    says(offline, ".score", "ways to beat it")
    press(offline, "Start")
    says(offline, ".score", "PROVED")
    expect(offline.locator("#panel-playground .flag-sign")).to_be_visible()
    paused(offline)
    proved = moves(offline)
    says(offline, ".shortest", "No game")
    playground(offline, "Put it on the board").click(force=True)  # there is none: the board is empty
    expect(offline.locator("#panel-playground .board .marked")).to_have_count(0)
    press(offline, "Reset")
    says(offline, ".score", "after 0 moves")
    press(offline, "Start")
    says(offline, ".score", "PROVED")
    paused(offline)
    assert moves(offline) == proved
    press(offline, "Continue")
    press(offline, "Pause")
    paused(offline)
    assert moves(offline) > proved


def test_with_the_wrong_sign_it_is_beaten_by_the_game_that_is_shown(visit: Open) -> None:
    page = visit(LINK)
    press(page, "The sign is wrong")
    says(page, ".score", re.compile(r"after \d+,\d{3} moves"))
    press(page, "Pause")
    paused(page)
    assert "PROVED" not in page.locator(".score").inner_text()
    assert page.url.endswith("view=playground&target=article")
    press(page, "Put it on the board")
    text = page.locator(".shortest").inner_text()
    cells = [int(cell) - 1 for cell in re.findall(r"[XO](\d)", text)]
    board = page.locator("#panel-playground .board")
    for number in range(len(cells)):
        playground(page, "Forward").click()
        expect(board.locator("[data-mark='X'], [data-mark='O']")).to_have_count(len(set(cells[: number + 1])))
    winner = "X" if "It plays O" in text else "O"
    status = page.locator("#panel-playground [role=status]")
    expect(status).to_have_text(re.compile(f"{winner} wins|marked a taken square"))
    playground(page, "Back").click()
    if len(set(cells)) == len(cells):
        board.locator(f"[data-cell='{cells[-1]}']").click()
        expect(status).to_have_text(f"{winner} wins.")


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


def test_every_preset_trains_and_a_change_begins_anew(visit: Open) -> None:
    page = visit(LINK)
    for name in PRESETS:
        press(page, name)
        expect(playground(page, name)).to_have_attribute("aria-pressed", "true")
        says(page, "#panel-playground .verdict", re.compile(r"Unit \d of the course"))
        says(page, ".score", re.compile("after [1-9]"))
    page.get_by_label("Seed").select_option("1")
    says(page, ".score", re.compile("after [1-9]"))  # it runs on
    press(page, "Pause")
    paused(page)
    page.get_by_label("Seed").select_option("2")
    says(page, ".score", "after 0 moves")
    press(page, "Step")
    says(page, ".score", "after 20,000 moves")
    page.wait_for_function("text => document.querySelector('#spoken').textContent.includes(text)", arg="after 20,000")
    target = page.locator("#set-target")
    target.select_option("independent")
    says(page, "#panel-playground .verdict", target.locator("option:checked").get_attribute("data-why") or "")


def test_it_pauses_while_another_tab_is_open_and_has_its_own_board(visit: Open) -> None:
    page = visit(f"{LINK}&target=article")
    press(page, "Start")
    expect(playground(page, "Pause")).to_be_visible()
    page.keyboard.press("5")  # this key marks a square of the page's board
    page.get_by_role("tab", name="Look inside").click()
    assert page.locator("#board .marked").count() == 0
    assert "target" not in page.url
    page.get_by_role("tab", name="Playground").click()
    expect(playground(page, "Continue")).to_be_visible()


def test_the_keyboard_alone_trains_and_plays(visit: Open) -> None:
    page = visit(LINK)
    says(page, ".score", "after 0 moves")
    pressed = []
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.evaluate("(document.activeElement.textContent || '').trim()")
        if focused == "Step":
            page.keyboard.press("Enter")
            says(page, ".score", "after 1,024 moves")
            pressed.append(focused)
        if page.evaluate("document.activeElement.closest('#panel-playground .board') !== null"):
            page.keyboard.press("Enter")
            break
    assert pressed == ["Step"]
    expect(page.locator("#panel-playground .board [data-cell='4']")).to_have_attribute("data-mark", "O")
    assert spoken(page)


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1400, "dark")])
def test_axe_finds_no_violation_and_nothing_is_wider_than_the_screen(
    visit: Open, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = visit(LINK, width=width)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.locator("#panel-playground details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    press(page, "It learns")
    says(page, ".score", "PROVED")
    paused(page)
    press(page, "The sign is wrong")
    says(page, ".score", "ways to beat it")
    press(page, "Pause")
    paused(page)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
