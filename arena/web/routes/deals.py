"""Deals: those of a session, and notable ones."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Path, Query

from arena.models import HighlightKind
from arena.queries import deals as queries
from arena.queries import highlights
from arena.web.context import Shared
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.shapes import shape

router = api_router("results")

DealPage = shape(highlights.DealPage)
SessionDeals = shape(queries.SessionDeals)

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

SESSION = "/matches/{tournament}/{round}/{table}/sessions/{session}"


@router.get("/deals", response_model=DealPage)
def find_deals(
    web: Shared,
    kind: Annotated[
        HighlightKind,
        Query(
            description="closest: the fewest points between the best seat and the second; swing: the most "
            "that a seat won or lost; longest: the most actions; bombs: the most bombs."
        ),
    ],
    ruleset: Annotated[
        str | None, Query(description="Name, `name@version`, or the beginning of its hash.")
    ] = None,
    table_size: Annotated[int | None, Query(ge=2, le=8)] = None,
    bot: Annotated[str | None, Query(description="Who played it: `owner/bot`, or one version.")] = None,
    tournament: str | None = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> highlights.DealPage:
    """Find notable deals: from each session the one that stands out most, the most notable first.

    Deals that other tables of a duplicate tournament still have to play are left out.
    """
    asked = highlights.Asked(kind, ruleset, table_size, bot, tournament)
    return highlights.find_deals(web.storage, asked, limit, cursor)


@router.get(f"{SESSION}/deals", response_model=SessionDeals)
def list_deals(
    web: Shared,
    tournament: str,
    round: Number,
    table: Number,
    session: Number,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> queries.SessionDeals:
    """Return the deals of a finished session as records, each to be replayed alone.

    409 in a duplicate tournament until the round is over: other tables still have to play them.
    """
    return queries.session_deals(web.storage, tournament, round, table, session, limit, cursor)


@router.get(f"{SESSION}/deals/{{deal}}")
def show_deal(
    web: Shared, tournament: str, round: Number, table: Number, session: Number, deal: Number
) -> Mapping[str, Any]:
    """Return a deal of a finished session as a record (docs/schemas/deal-record.schema.json).

    409 in a duplicate tournament until the round is over: other tables still have to play it.
    """
    return queries.one_deal(web.storage, tournament, round, table, session, deal)
