"""The API of the page: endpoints that read their parameters and answer with JSON."""

import asyncio
import re
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from selfplay.errors import UserError
from selfplay.players import NamedPolicy, check_not_searched
from selfplay.position import read_board
from selfplay.web import analysis, live
from selfplay.web.catalogue import Catalogue
from selfplay.web.mistakes import evaluate

SECONDS, SECONDS_OF_A_REQUEST = 20.0, 30.0
"""Time limits for an evaluation, and for the answer to a request, which may wait for other evaluations."""
EVALUATED_AT_ONCE = 4
"""Evaluations at the same time; each can take some hundred megabytes."""


class Api:
    """Answer the requests of the page from a catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._generator = np.random.default_rng()
        self._evaluations: dict[tuple[int, int | None], tuple[NamedPolicy, Future[dict[str, Any]]]] = {}
        self._turns = threading.Semaphore(EVALUATED_AT_ONCE)

    def routes(self) -> list[Route]:
        """Return the endpoints; Starlette calls those that are not coroutines in threads."""
        endpoints = self.players, self.analysis, self.evaluation, self.history, self.live
        return [Route(f"/api/{endpoint.__name__}", endpoint) for endpoint in endpoints]

    def players(self, request: Request) -> Response:
        """Answer with the players that can be chosen."""
        _query(request)
        return JSONResponse({"players": self._catalogue.entries()})

    def analysis(self, request: Request) -> Response:
        """Answer with a player's values and move in a position, and the exact results."""
        query = _query(request, "player", "board", "steps")
        chosen = self._catalogue.player(*_chosen(query))
        position = read_board(chosen.rules, _text(query, "board"))
        return JSONResponse(analysis.analyse(chosen.policy, chosen.player, position, self._generator))

    async def evaluation(self, request: Request) -> Response:
        """Answer with the evaluation of a player, which is computed once for each version of its files."""
        number = _chosen(_query(request, "player", "steps"))
        chosen = await run_in_threadpool(self._catalogue.player, *number)
        check_not_searched(chosen, "the page")
        evaluated, future = self._evaluations.get(number, (None, Future()))
        if evaluated is not chosen or (future.done() and future.exception()):
            future = Future()
            self._evaluations[number] = chosen, future
            threading.Thread(target=self._evaluate, args=(chosen, future), daemon=True).start()  # not awaited at Ctrl-C
        answer = asyncio.shield(asyncio.wrap_future(future))
        try:
            return JSONResponse(await asyncio.wait_for(answer, SECONDS_OF_A_REQUEST))
        except asyncio.TimeoutError:
            raise UserError("the evaluation is not finished; look again later") from None

    def history(self, request: Request) -> Response:
        """Answer with the evaluations of a player's run, of which there are none if it is not a run."""
        folder = self._catalogue.player(_number(_query(request, "player"), "player")).folder
        return JSONResponse({"points": [] if folder is None else live.history(folder)})

    async def live(self, request: Request) -> Response:
        """Answer with the events of the runs while the page listens."""
        _query(request)
        return StreamingResponse(live.events(self._catalogue.followed), media_type="text/event-stream")

    def _evaluate(self, chosen: NamedPolicy, future: "Future[dict[str, Any]]") -> None:
        with self._turns:
            try:
                future.set_result(evaluate(chosen.policy, SECONDS))
            except Exception as error:
                future.set_exception(error)


def _query(request: Request, *known: str) -> Mapping[str, str]:
    for name in request.query_params:
        if name not in known:
            raise UserError(f"{name} is not a parameter of {request.url.path}, which has {', '.join(known) or 'none'}")
    return request.query_params


def _text(query: Mapping[str, str], name: str) -> str:
    if name not in query:
        raise UserError(f"{name} is missing")
    return query[name]


def _chosen(query: Mapping[str, str]) -> tuple[int, int | None]:
    """Return the number of a player, and the steps of its snapshot if one is chosen."""
    return _number(query, "player"), _number(query, "steps") if "steps" in query else None


def _number(query: Mapping[str, str], name: str) -> int:
    text = _text(query, name)
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise UserError(f"{name} must be a number from 0, got {text!r}")
    return int(text)
