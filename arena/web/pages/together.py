"""The page of a deal at all tables of a duplicate round, trick by trick."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import HTMLResponse

from arena.errors import SpecError
from arena.queries.deals import AtTable, SameDeal, same_deal
from arena.queries.replays.steps import Replay, Step
from arena.queries.replays.table import after_trick, plays_in, tricks_of
from arena.web.context import Shared
from arena.web.pages.deals import Spoilers, replay_of
from arena.web.pages.links import together_url
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router

router = page_router()

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

MOST = 12
"""Number of tables on a page."""
LISTED = 200
"""Number of tables whose results are on a page, those of the page among them."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table as it is drawn."""

    at: AtTable
    replay: Replay
    step: Step
    """The last step of the trick."""
    plays: tuple[Step, ...]
    """The plays of the trick."""
    is_over: bool
    """Whether the deal was over with it."""


@dataclass(frozen=True, slots=True)
class Urls:
    """The links of the page."""

    before: str | None
    after: str | None
    tables: Sequence[tuple[int, str]]
    """The first table of each page of tables, with its address; empty if one page has all."""


def _urls(found: SameDeal) -> Urls:
    place = (found.tournament, found.round, found.session)
    here = together_url(*place, found.deal)
    firsts = [one.table for one in found.tables[::MOST]]
    return Urls(
        before=_beside(found, -1),
        after=_beside(found, 1),
        tables=[(first, f"{here}?first={first}") for first in firsts] if len(firsts) > 1 else (),
    )


def _beside(found: SameDeal, way: int) -> str | None:
    """Return the address of the next deal, or for -1 of the one before; None if there is none.

    What comes before the first deal of a session is the first of the session before it, whose last is not
    known here.
    """
    place, deal = (found.tournament, found.round), found.deal + way
    if 1 <= deal <= found.deals:
        return together_url(*place, found.session, deal)
    at = found.sessions.index(found.session) + way
    return together_url(*place, found.sessions[at], 1) if 0 <= at < len(found.sessions) else None


@router.get("/tournaments/{tournament}/rounds/{round}/sessions/{session}/deals/{deal}")
def deal_at_all_tables(
    page: Page,
    web: Shared,
    tournament: str,
    round: Number,
    session: Number,
    deal: Number,
    trick: Annotated[int | None, Query(ge=0)] = None,
    first: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
    spoilers: Spoilers = "on",
) -> HTMLResponse:
    """Return the page of a deal at all tables after a trick, by default at the beginning."""
    found = same_deal(web.storage, tournament, round, session, deal, first, MOST)
    replays = [(one, replay_of(one.record)) for one in found.tables if one.record is not None]
    last = max((tricks_of(replay) for _, replay in replays), default=0)
    if trick is not None and trick > last:
        raise SpecError("trick", f"must be a whole number from 0 to {last}, not {trick}")
    shown = trick or 0
    drawn = [
        Drawn(one, replay, after_trick(replay, shown), plays_in(replay, shown), shown >= tricks_of(replay))
        for one, replay in replays
    ]
    begin = next((at for at, one in enumerate(found.tables) if one.record is not None), 0) // LISTED * LISTED
    return page(
        "together.html",
        found=found,
        results=found.tables[begin : begin + LISTED],
        drawn=drawn,
        trick=shown,
        last=last,
        urls=_urls(found),
        spoilers=spoilers,
    )
