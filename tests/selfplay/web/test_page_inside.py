"""What the page shows of a position: the numbers of the player, the results of the solver, and both in words."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from selfplay.algorithms import load, snapshot_steps
from selfplay.evaluation.agents import player_policy
from selfplay.position import read_board
from selfplay.web.answers import Answers
from selfplay.web.catalogue import Catalogue
from selfplay.web.insight import look
from tests.selfplay.decisions import MOVER
from tests.selfplay.web.visits import Site, square
from tictactoe import Rules, solve

Open = Callable[..., Page]

DRAW = """async ([boards, player, answers]) => {
  const { serverSource } = await import("/server_source.js");
  const { learnedMap, exactMap } = await import("/heat.js");
  const [source, looks, rules, drawn] = [serverSource(), JSON.parse(answers), { rows: 3, cols: 3, k: 3 }, []];
  const squares = (map, name) => [...map.querySelectorAll("[data-cell]")].map((square) => square.dataset[name] ?? null);
  for (const [at, board] of boards.entries()) {
    const look = looks[at] ?? await source.look(player, board, null);
    const learned = squares(learnedMap(rules, board, look), "value").map(Number);
    drawn.push([learned, squares(exactMap(rules, board, look), "exact")]);
  }
  return JSON.stringify(drawn);
}"""
"""Draws both heat maps of positions and reads them off the drawn squares; asks the server for those without answer."""
ASKED_EVERY = 20
"""So many positions the test goes on before it asks the server again, which takes it longer than all the rest."""


def boards() -> list[str]:
    """Return every decision state of 3,3,3 as the page writes it, in the order of `tests.selfplay.decisions`."""
    tree = solve(Rules()).tree
    found = []
    for mover, opponent in zip(
        tree.mover[tree.decisions].tolist(), tree.opponent[tree.decisions].tolist(), strict=True
    ):
        own, other = "XO" if (mover | opponent).bit_count() % 2 == 0 else "OX"
        found.append("".join(own if mover >> cell & 1 else other if opponent >> cell & 1 else "." for cell in range(9)))
    return found


def indices(page: Page) -> dict[str, int]:
    return indices_of(page.evaluate("async () => (await fetch('api/players')).json()"))


def indices_of(answer: dict[str, Any]) -> dict[str, int]:
    return {each["name"]: each["index"] for each in answer["players"]}


def shown(page: Page, name: str = "value") -> list[str | None]:
    """Return what the squares of a heat map hold, once it is drawn."""
    page.wait_for_selector("#panel-inside .heat-map")
    expect(page.locator("#panel-inside [aria-busy]")).to_have_count(0)
    figure = page.locator("#panel-inside figure").nth(0 if name == "value" else 1)
    cells: Any = figure.locator("[data-cell]").evaluate_all(f"all => all.map(each => each.dataset.{name} ?? null)")
    return list(cells)


def test_all_decision_states_show_what_python_says(visit: Open, served: Site) -> None:
    page = visit("#player=unmasked")
    asked = boards()
    index = indices(page)["unmasked"]
    answers = Answers(Catalogue((), served.runs, "absolute", Rules()))
    own = indices_of(answers.players({}))["unmasked"]
    looks = [
        None if at % ASKED_EVERY == 0 else answers.look({"player": str(own), "board": board})
        for at, board in enumerate(asked)
    ]
    drawn = json.loads(page.evaluate(DRAW, [asked, index, json.dumps(looks)]))
    values = np.array([learned for learned, _ in drawn])
    assert values.shape == (4520, 9)
    expected = np.asarray(load(served.runs / "unmasked").q_values(MOVER))
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5)
    solution = solve(Rules())
    for board, (_, exact) in zip(asked, drawn, strict=True):
        position = read_board(Rules(), board)
        for cell in range(9):
            after = (position.opponent, position.mover | 1 << cell)
            result = ["loss", "draw", "win"][1 - solution.lookup(*after)[0]] if cell in position.empty else None
            assert exact[cell] == result, (board, cell)


def test_a_square_shows_its_value_rounded_and_the_chosen_one_a_star(visit: Open, served: Site) -> None:
    page = visit("#player=unmasked&moves=5,1&seat=X&view=inside")
    values = [float(value or "nan") for value in shown(page)]
    player = load(served.runs / "unmasked")
    observation = read_board(Rules(), "O...X....").observation
    np.testing.assert_allclose(values, np.asarray(player.q_values(observation))[0], rtol=0, atol=1e-5)
    learned = page.locator("#panel-inside figure").first
    texts = learned.locator(".note").all_text_contents()
    assert [float(text.replace("\u2212", "-")) for text in texts] == [round(value, 2) for value in values]
    chosen = learned.locator("[data-cell]:has(.star)")
    assert chosen.get_attribute("data-cell") == str(int(np.asarray(player.act(observation))[0]))


def sentence_of(state: dict[str, Any], board: str) -> str:
    """Return a part of the sentence that the page must say of what is known of a position."""
    if board[state["move"]] != ".":
        return f"square {state['move'] + 1}, which is taken: by the rules it loses at once. Against you it plays square"
    if state["gives_away"]:
        return f"That gives the {state['position']} away: it is a {state['exact'][state['move']]} if both play best"
    return "No move does better" if state["position"] == "loss" else f"That keeps the {state['position']}."


def test_what_a_move_gives_away_is_said_in_a_sentence(visit: Open, served: Site) -> None:
    player = load(served.runs / "unmasked")
    found: dict[str, tuple[str, str]] = {}
    judge, generator = player_policy(player), np.random.default_rng(0)
    for board in boards()[::29]:
        state = look(judge, player, read_board(Rules(), board), generator)
        found.setdefault(sentence_of(state, board)[:20], (board, sentence_of(state, board)))
    assert len(found) >= 4
    page = visit("#player=unmasked&view=inside")
    for board, sentence in found.values():
        page.evaluate("link => { location.hash = link; }", f"#player=unmasked&view=inside&board={board}")
        expect(page.locator("#panel-inside .verdict")).to_contain_text(sentence)
        assert [square(page, cell).get_attribute("data-mark") for cell in range(9)] == list(board)


def test_the_slider_shows_what_the_player_thought_then(visit: Open, served: Site) -> None:
    page = visit("#player=trained&view=inside&moves=5,1&seat=X")
    folder = served.runs / "trained"
    steps = snapshot_steps(folder)
    assert len(steps) >= 3
    observation = read_board(Rules(), "O...X....").observation
    slider = page.get_by_label("What it thought then")
    expect(slider).to_have_value(str(len(steps) - 1))
    for kept in (0, 1, len(steps) - 1):
        slider.fill(str(kept))
        expect(page.locator(".when")).to_contain_text(f"after {steps[kept]:,} plies")
        expected = np.asarray(load(folder, steps=steps[kept]).q_values(observation))[0]
        np.testing.assert_allclose([float(value or "nan") for value in shown(page)], expected, rtol=0, atol=1e-5)
    again = visit(page.url[page.url.index("#") :] + "&kept=0")
    expect(again.locator(".when")).to_contain_text(f"after {steps[0]:,} plies")


def test_a_player_without_values_shows_what_it_may_mark(visit: Open) -> None:
    page = visit("#player=random&view=inside&moves=5,1&seat=X")
    assert shown(page) == [None] * 9
    assert page.locator("#panel-inside figure").first.locator(".star").count() == 7
    expect(page.locator("#panel-inside .verdict")).to_contain_text("any of 7 squares, drawn at random")
    again = visit("#player=random&view=inside&board=XOXXO.OX.")
    expect(again.locator("#panel-inside .verdict")).to_contain_text("square 6 or square 9, drawn at random")


@pytest.mark.parametrize(("known", "gist"), [("no", "Exact results are not known"), ("searched", "? is not known")])
def test_what_is_not_known_is_said_and_not_guessed(visit: Open, known: str, gist: str) -> None:
    page = visit("#player=larger")
    nothing = {"seat": 0, "result": None, "line": [], "values": [0.5] * 20, "move": 3, "moves": [3], "reply": 3}
    answer = json.dumps({**nothing, "exact": [None] * 20, "known": known, "position": None, "gives_away": None})
    page.route("**/api/look?*", lambda route: route.fulfill(body=answer, content_type="application/json"))
    page.get_by_role("tab", name="Look inside").click()
    assert shown(page, "exact") == [None] * 20
    inside = page.locator("#panel-inside")
    expect(inside).to_contain_text(gist)
    expect(inside).to_contain_text("Whether that gives anything away is not known on this board.")
    assert inside.locator("figure").nth(1).locator(".note").all_text_contents() == ["?"] * 20
