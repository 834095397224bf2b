"""What is being played: in all tournaments, a match as it happens, a round's tables in small."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from arena.core.specs import Name
from arena.errors import UnknownError
from arena.queries import highlights
from arena.queries.deals import deal_in_session
from arena.queries.highlights import DealLine, DealPage
from arena.queries.now import TableInPlay, on_now
from arena.queries.replays.table import table_at
from arena.queries.sessions import PlayedMatch, is_over, played_match
from arena.queries.tournaments import TableLine
from arena.store.models import HighlightKind, MatchState
from arena.store.storage import Storage
from arena.web.context import Shared, Web
from arena.web.feeds import EventStream
from arena.web.pages.deals import replay_of
from arena.web.pages.forms import FromForm
from arena.web.pages.links import deal_url
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router
from arena.web.problems import wants_page
from arena.web.readings import SmallTable
from arena.web.routes.events import LookedAt, Number, sent
from referee.errors import RefereeError

router = page_router()

DRAWN = 6
"""Tables in play that are drawn with their cards; watching each takes a stream from a referee."""
TABLES = 24
"""Tables in play that are shown."""
LISTED = 24
"""Deals on a page of one kind."""
EACH = 4
"""Deals of each kind on the page of all kinds."""

KINDS = {
    HighlightKind.CLOSEST: ("Closest", "the fewest points between the best seat and the second"),
    HighlightKind.SWING: ("Swings", "the most points that a seat won or lost"),
    HighlightKind.LONGEST: ("Longest", "the most actions"),
    HighlightKind.BOMBS: ("Bombs", "the most bombs"),
    HighlightKind.BEST_MADE: ("Best made", "the most points beyond what was expected from the cards"),
    HighlightKind.WORST_MADE: ("Worst made", "the most points short of what was expected from the cards"),
}
"""The kinds of notable deals, with their names and meanings."""


@dataclass(frozen=True, slots=True)
class InPlay:
    """A table in play, and how it stands."""

    place: TableInPlay
    small: SmallTable


async def what_is_on(web: Web, tables: int = TABLES, drawn: int = DRAWN) -> dict[str, object]:
    """Return what the macros of ``onnow.html`` show: what is played now, and what comes next.

    The first ``drawn`` of the tables are watched for a while, and so show their cards from the next look on.
    """
    playing = await asyncio.to_thread(on_now, web.storage, tables)
    drawings = [_in_play(web, place) for place in playing.tables[:drawn]]
    return {"found": playing, "drawn": drawings, "others": playing.tables[drawn:], "at": web.clock()}


def _in_play(web: Web, place: TableInPlay) -> InPlay:
    where = (place.tournament, place.round, place.table)
    done = partial(is_over, web.storage, *where)
    messages, count = web.watching.glances("/".join(map(str, where)), done)
    line = TableLine(
        table=place.table,
        state=MatchState.RUNNING,
        sessions=place.sessions_done,
        deals=place.deals_done,
        finished_at=None,
        bots=place.bots,
        points=place.points,
        scores=None,
        places=None,
        faults=(0,) * len(place.bots),
    )
    return InPlay(place, SmallTable(line, messages[0] if messages else None, max(0, count - 1)))


@router.get("/now")
async def show_now(page: Page, web: Shared) -> HTMLResponse:
    """Show what is played now in all tournaments."""
    return page("now.html", **await what_is_on(web))


class DealsAsked(FromForm):
    """The query parameters that choose deals, named as in the API."""

    kind: HighlightKind | None = None
    ruleset: Annotated[str | None, Query(max_length=200)] = None
    bot: Annotated[str | None, Query(max_length=200)] = None
    tournament: Annotated[str | None, Query(max_length=200)] = None
    cursor: Annotated[str | None, Query(max_length=400)] = None

    def of(self, kind: HighlightKind) -> highlights.HighlightQuery:
        """Return the question for the deals of a kind."""
        return highlights.HighlightQuery(kind, self.ruleset, None, self.bot, self.tournament)


def notable(
    storage: Storage, query: DealsAsked, each: int
) -> Sequence[tuple[HighlightKind, Sequence[DealLine]]]:
    """Return the most notable deals of each kind that there is, no deal twice. Raise UnknownError."""
    seen: set[tuple[object, ...]] = set()

    def new(page: DealPage) -> Iterator[DealLine]:
        for line in page.deals:
            place = (line.tournament, line.round, line.table, line.session, line.deal)
            if place not in seen:
                seen.add(place)
                yield line

    by_kind = [(kind, [*new(highlights.find_deals(storage, query.of(kind), each))]) for kind in KINDS]
    return [(kind, lines) for kind, lines in by_kind if lines]


@router.get("/deals")
def show_deals(page: Page, web: Shared, query: Annotated[DealsAsked, Query()]) -> HTMLResponse:
    """Show notable deals of the whole arena, or of a part of it."""
    try:
        if query.kind is None:
            kinds, following = notable(web.storage, query, EACH), None
        else:
            deals = highlights.find_deals(web.storage, query.of(query.kind), LISTED, query.cursor)
            kinds, following = [(query.kind, deals.deals)] if deals.deals else [], deals.next
    except UnknownError as error:
        if not wants_page(page.request.scope):
            raise
        return page.again("deals.html", error, asked=query, kinds=KINDS, shown=(), next=None)
    return page("deals.html", asked=query, kinds=KINDS, shown=kinds, next=following)


MATCH_LIVE = "/matches/{tournament}/{round}/{table}/live"


@router.get(MATCH_LIVE)
def watch_match(page: Page, web: Shared, tournament: str, round: Number, table: Number) -> HTMLResponse:
    """Return the page of a match that is being played, or the end of its last deal if it is over."""
    match = played_match(web.storage, tournament, round, table)
    return page("live.html", match=match, **_last_deal(web.storage, match))


def _last_deal(storage: Storage, match: PlayedMatch) -> dict[str, object]:
    """Return the last deal of a match that is over as its page shows it; without it if it is not shown."""
    values: dict[str, object] = {"replay": None, "now": None, "last": None}
    played = [line for line in match.sessions if line.deal_points]
    if match.state == "done" and played and not match.withheld:
        last = played[-1]
        place = (match.tournament, match.round, match.table, last.session, len(last.deal_points or ()))
        try:
            replay = replay_of(deal_in_session(storage, *place).record)
        except RefereeError:
            return values  # the page of the deal says what is wrong with it
        end = len(replay.steps) - 1
        values = {"replay": replay, "now": table_at(replay, end), "last": f"{deal_url(*place)}?step={end}"}
    return values


@router.get(f"{MATCH_LIVE}/events", response_class=EventStream)
async def follow_match(queue: LookedAt) -> EventStream:
    """Follow a match to its end, as in the API."""
    return EventStream(sent(queue))


Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]

LIVE = "/tournaments/{tournament}/rounds/{round}/live"


@router.get(LIVE)
async def show_tables(
    page: Page, web: Shared, tournament: Name, round: Number, offset: Offset = 0
) -> HTMLResponse:
    """Show all tables of a round in small, in their present state."""
    drawn = await web.glancing.tables(tournament, round, offset)
    return page(
        "glance.html",
        tournament=tournament,
        found=drawn.found,
        drawn=Markup(drawn.text),  # noqa: S704 it was made by a template
        offset=offset,
        most=web.glancing.most,
    )


@router.get(f"{LIVE}/tables")
async def draw_tables(web: Shared, tournament: Name, round: Number, offset: Offset = 0) -> HTMLResponse:
    """Return the tables alone, for the page that reloads them periodically."""
    return HTMLResponse((await web.glancing.tables(tournament, round, offset)).text)
