"""Draw README's moving picture from a run: `python -m docs.hero`.

At each evaluation it shows the board on which the player is beaten, and how many ways to beat it there are; at the end
there are none. Its colours are mid tones, so that one file suits light and dark pages.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import selfplay
from selfplay.judge.ask import agent_policy
from selfplay.judge.example_games import self_play_cells
from tictactoe import Rules
from tictactoe.rendering.svg import GREEN, GREY, ORANGE, game_svg

FILE = Path(__file__).with_name("hero.svg")
SEED = 0
"""The run that README's command trains."""
SECONDS, LAST_SECONDS = 8.0, 2.4
"""The length of the picture, and of its last frame."""
BAR_PLACE, BAR_HEIGHT, BAR_STEP = 196, 76, 24
"""Bottom, largest height and distance of the bars of the ways to beat the player."""
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 230" width="640" role="img"
aria-label="The ways to beat a player fall to 0 while it learns">
<style>
text {{ font-family: sans-serif; font-size: 16px; fill: {grey} }}
.number {{ font-size: 44px; font-weight: bold }}
.frame {{ visibility: hidden }}
{rules}
@media (prefers-reduced-motion) {{
  .frame {{ animation: none !important }}
  .frame:last-child {{ visibility: visible }}
}}
</style>
{frames}
</svg>
"""
FRAME = """<g class="frame" style="animation: frame{number} {seconds}s step-end infinite">
<svg x="14" y="14" width="186" height="186">{board}</svg><text x="107" y="222" text-anchor="middle">{caption}</text>
<text x="240" y="52" class="number" style="fill: {colour}">{ways:,}</text><text x="240" y="78">{meaning}</text>
<text x="240" y="222">after {plies:,} plies of self-play</text>{bars}
</g>"""
KEYFRAMES = (
    "@keyframes frame{0} {{ 0% {{ visibility: {1} }} {2}% {{ visibility: visible }} {3}% {{ visibility: {4} }} }}"
)


class Frame(NamedTuple):
    """The result of an evaluation."""

    plies: int
    ways: int
    game: Sequence[int]
    """The cells of a game that beats the player or, if there is none, of one against itself."""


def frames() -> list[Frame]:
    """Train a player, and return what each evaluation found."""
    found = []
    for record in selfplay.training(seed=SEED):
        games = [game for game in selfplay.counterexamples(record.player).shortest if game is not None]
        game = games[0] if games else self_play_cells(agent_policy(record.player))
        found.append(Frame(record.steps, record.verdict.ways_to_beat, game))
    return found


def picture(found: Sequence[Frame]) -> str:
    """Return the moving picture as SVG."""
    each = (SECONDS - LAST_SECONDS) / (len(found) - 1)
    most = max(look.ways for look in found)
    rules, frames, bars = [], [], ""
    for number, look in enumerate(found):
        is_last = number == len(found) - 1
        start = 100 * number * each / SECONDS
        end = 100.0 if is_last else start + 100 * each / SECONDS
        before, after = ("visible" if shown else "hidden" for shown in (number == 0, is_last))
        rules.append(KEYFRAMES.format(number, before, f"{start:.2f}", f"{end:.2f}", after))
        height = max(3, BAR_HEIGHT * math.log1p(look.ways) / math.log1p(most))
        colour = ORANGE if look.ways else GREEN
        place = 240 + BAR_STEP * number
        bars += f'<rect x="{place}" y="{BAR_PLACE - height:.0f}" width="16" height="{height:.0f}" fill="{colour}"/>'
        meaning = "ways to beat it, over every reply"
        caption = "a game that beats it"
        if not look.ways:
            meaning, caption = "ways to beat it: PROVED UNBEATABLE", "against itself: a draw"
        frames.append(
            FRAME.format(
                number=number,
                seconds=SECONDS,
                board=last_board(look.game),
                caption=caption,
                colour=colour,
                ways=look.ways,
                meaning=meaning,
                plies=look.plies,
                bars=bars,
            )
        )
    return PICTURE.format(grey=GREY, rules="\n".join(rules), frames="\n".join(frames))


def last_board(game: Sequence[int]) -> str:
    """Return the last position of a game as SVG that fills its place."""
    _, start, board = game_svg(Rules(), game).rpartition("<svg")
    return re.sub(r' width="\d+"| style="[^"]*"', "", start + board, count=2)


if __name__ == "__main__":
    FILE.write_text(picture(frames()), "utf-8")
