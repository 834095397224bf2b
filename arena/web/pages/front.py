"""The front page: what this is, what is played now, who won last, and what to do first."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi.responses import RedirectResponse, Response

from arena.actors import Actor
from arena.queries.profiles import find_bots
from arena.store.storage import Storage
from arena.tournaments.overview import TournamentStatus
from arena.web.context import Web
from arena.web.pages.boards import Board, asks_for_board, board_of
from arena.web.pages.forms import AnyVisit
from arena.web.pages.links import with_query
from arena.web.pages.now import what_is_on
from arena.web.pages.routing import page_router
from arena.web.pages.tournaments import Win, win_of
from arena.web.readings import Summary

router = page_router()

TABLES, DRAWN = 3, 2
"""Tables in play that are shown, and how many of them are drawn with their cards."""
OWNERS, OWN = 3, 6
"""Of how many of their owners signed-in readers see how many bots each."""


@dataclass(frozen=True, slots=True)
class LastWin:
    """Who won last."""

    tournament: TournamentStatus
    win: Win


@router.get("/")
async def show_front(visit: AnyVisit) -> Response:
    """Show the front page; an old address of the board leads to the board."""
    if asks_for_board(visit):
        return RedirectResponse(with_query("/board", visit.request.query_params))
    web, actor = visit.web, visit.actor
    values = await asyncio.to_thread(_context, web, actor)
    on = await what_is_on(web, TABLES, DRAWN)
    return visit.page("front.html", open=web.settings.sign_up == "open", **on, **values)


def _context(web: Web, actor: Actor) -> dict[str, object]:
    summary = web.readings.summary(web.clock())
    return {
        "deal": summary.deal,
        "board": _board(summary),
        "last": _last_win(web, summary.finished),
        "own": _own(web.storage, actor),
    }


def _board(summary: Summary) -> Board | None:
    return None if summary.pool is None else board_of(summary.pool, summary.top, None)


def _last_win(web: Web, finished: Sequence[TournamentStatus]) -> LastWin | None:
    """Return who won the last tournament that has a winner; None if there is none."""
    wins = ((status, win_of(status, web.readings.standings(status))) for status in finished)
    return next((LastWin(status, win) for status, win in wins if win is not None), None)


def _own(storage: Storage, actor: Actor) -> Sequence[str]:
    """Return some of the reader's bots, ``owner/bot``, the newest of each owner first."""
    newest = [
        version.bot.partition("@")[0]
        for owner in sorted(actor.owners)[:OWNERS]
        for version in find_bots(storage, owner, OWN).bots
    ]
    return [*dict.fromkeys(newest)]
