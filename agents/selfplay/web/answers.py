"""What is answered to the questions of the page: its parameters are read here, and what takes long is waited for."""

import asyncio
import re
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from selfplay.errors import UserError
from selfplay.position import read_board
from selfplay.web import insight, live, wrong
from selfplay.web.catalogue import Catalogue, Chosen, Stamps
from selfplay.web.server import Question

LARGEST = 6
"""Digits of a number that the page sends."""


class Answers:
    """Answer the questions of the page from a catalogue; `seed` is that of what players draw."""

    def __init__(self, catalogue: Catalogue, seed: int | None = None) -> None:
        self._catalogue = catalogue
        self._generator = np.random.default_rng(seed)
        self._proofs: dict[int, tuple[Stamps, Future[wrong.Findings]]] = {}
        self._one_at_a_time = threading.Lock()

    def questions(self) -> dict[str, Question]:
        """Return what answers each question, by its name."""
        return {
            "players": lambda asked: run_in_threadpool(self.players, asked),
            "look": lambda asked: run_in_threadpool(self.look, asked),
            "wrong": lambda asked: self._of_proof(asked, "wrong"),
            "lost": lambda asked: self._of_proof(asked, "lost"),
        }

    def players(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """Return who can be chosen."""
        _check_names(asked)
        return {"players": self._catalogue.entries()}

    def look(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """Return what there is to be shown of a player in a position.

        Raises:
            UserError: there is no such player or position.
        """
        _check_names(asked, "player", "board", may="kept")
        number = _number(asked, "player")
        chosen = self._catalogue.chosen(number, _number(asked, "kept") if "kept" in asked else None)
        position = read_board(chosen.rules, asked["board"])
        return insight.look(chosen.judge, chosen.player, position, self._generator)

    async def live(self, _: Request) -> Response:
        """Answer with what happens in the runs, for as long as the page listens."""
        events = (event.text() async for event in live.follow(self._catalogue.followed))
        return StreamingResponse(events, media_type="text/event-stream")

    async def _of_proof(self, asked: Mapping[str, str], what: str) -> Any:
        _check_names(asked, "player")
        chosen = await run_in_threadpool(self._catalogue.chosen, _number(asked, "player"))
        found = await asyncio.shield(asyncio.wrap_future(self._proof(_number(asked, "player"), chosen)))
        return getattr(found, what)

    def _proof(self, number: int, chosen: Chosen) -> "Future[wrong.Findings]":
        """Return the proof of a player, which is made once for each change of its files, one player's at a time."""
        before = self._proofs.get(number)
        if before is not None and before[0] == chosen.stamp:
            return before[1]
        future: Future[wrong.Findings] = Future()
        self._proofs[number] = chosen.stamp, future
        threading.Thread(target=self._prove, args=(chosen, future), daemon=True).start()  # Ctrl-C need not wait for it
        return future

    def _prove(self, chosen: Chosen, future: "Future[wrong.Findings]") -> None:
        with self._one_at_a_time:
            try:
                future.set_result(wrong.findings(chosen.judge, chosen.player))
            except BaseException as error:
                future.set_exception(error)


def _check_names(asked: Mapping[str, str], *names: str, may: str = "") -> None:
    if missing := [name for name in names if name not in asked]:
        raise UserError(f"{missing[0]} is missing")
    if unknown := asked.keys() - {*names, may}:
        raise UserError(f"there is no parameter {min(unknown)!r}")


def _number(asked: Mapping[str, str], name: str) -> int:
    text = asked[name]
    if not re.fullmatch(rf"[0-9]{{1,{LARGEST}}}", text):
        raise UserError(f"{name} must be a number from 0, got {text!r}")
    return int(text)
