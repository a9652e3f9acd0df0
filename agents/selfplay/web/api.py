"""The API of the page: endpoints that read their parameters and answer with JSON."""

import asyncio
import re
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, TypeAlias

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from selfplay.errors import UserError
from selfplay.players import NamedPolicy, check_not_searched
from selfplay.position import read_board
from selfplay.web import analysis
from selfplay.web.catalogue import Catalogue
from selfplay.web.history import history
from selfplay.web.mistakes import evaluation

SECONDS = 20.0
"""Time limit for an evaluation."""
EVALUATED_AT_ONCE = 4
"""Evaluations at the same time; each can take some hundred megabytes."""

Evaluation: TypeAlias = "Future[dict[str, Any]]"


class Api:
    """The answers to the requests of the page, from a catalogue of players."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._generator = np.random.default_rng()
        self._evaluations: dict[tuple[int, int | None], tuple[NamedPolicy, Evaluation]] = {}
        self._turns = threading.Semaphore(EVALUATED_AT_ONCE)

    def routes(self) -> list[Route]:
        """Return the endpoints; Starlette calls those that are not coroutines in threads."""
        return [
            Route("/api/players", self.players),
            Route("/api/analysis", self.analysis),
            Route("/api/evaluation", self.evaluation),
            Route("/api/history", self.history),
        ]

    def players(self, _: Request) -> Response:
        """Answer with the players that can be chosen."""
        return JSONResponse({"players": self._catalogue.entries()})

    def analysis(self, request: Request) -> Response:
        """Answer with a player's values and move in a position, and the exact results."""
        chosen = self._catalogue.player(*_chosen(request.query_params))
        position = read_board(chosen.rules, request.query_params.get("board", ""))
        return JSONResponse(analysis.analyse(chosen.policy, chosen.player, position, self._generator))

    async def evaluation(self, request: Request) -> Response:
        """Answer with the evaluation of a player, which is computed once for each version of its files."""
        number = _chosen(request.query_params)
        chosen = await run_in_threadpool(self._catalogue.player, *number)
        check_not_searched(chosen, "the page")
        answer = asyncio.wrap_future(self._evaluation_of(number, chosen))
        return JSONResponse(await asyncio.shield(answer))  # the end of one request does not end it for the others

    def history(self, request: Request) -> Response:
        """Answer with the evaluations of a player's run, of which there are none if it is not a run."""
        folder = self._catalogue.player(_number(request.query_params, "player")).folder
        return JSONResponse({"points": [] if folder is None else history(folder)})

    def _evaluation_of(self, number: tuple[int, int | None], chosen: NamedPolicy) -> Evaluation:
        """Return the evaluation of a player, and begin it unless it has begun already; a failed one is repeated."""
        if number in self._evaluations:
            evaluated, future = self._evaluations[number]
            failed = future.done() and future.exception() is not None
            if evaluated is chosen and not failed:
                return future
        future = Future()
        self._evaluations[number] = chosen, future
        threading.Thread(target=self._evaluate, args=(chosen, future), daemon=True).start()  # not awaited at Ctrl-C
        return future

    def _evaluate(self, chosen: NamedPolicy, future: Evaluation) -> None:
        with self._turns:
            try:
                future.set_result(evaluation(chosen.policy, SECONDS))
            except Exception as error:
                future.set_exception(error)


def _chosen(query: Mapping[str, str]) -> tuple[int, int | None]:
    """Return the number of a player, and the steps of its snapshot if one is chosen."""
    return _number(query, "player"), _number(query, "steps") if "steps" in query else None


def _number(query: Mapping[str, str], name: str) -> int:
    text = query.get(name, "")
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise UserError(f"{name} must be a number from 0, got {text!r}")
    return int(text)
