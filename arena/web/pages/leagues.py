"""The pages of leagues: divisions, seasons, promotion and relegation, and places over the seasons."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse

from arena.core.specs import Name
from arena.leagues import overview
from arena.leagues.membership import find_league, own_members
from arena.leagues.overview import SeasonOrder
from arena.operations import leagues as operations
from arena.web.context import Shared
from arena.web.pages.figures import Scale
from arena.web.pages.forms import AnyVisit, Forms, FromForm, Visit
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router

router = page_router()

DRAWN = 10
"""How many of the latest seasons are in the graph."""
WAYS = 24
"""How many members are drawn."""
OWN = 10
"""Number of the reader's own bots on a page, beside those that are in the league."""
LARGEST = 2**31 - 1
WIDTH, HEIGHT = 1000, 100
"""Size of the graph in units of its own; it is stretched to the available space."""


@dataclass(frozen=True, slots=True)
class Way:
    """A member's places over the seasons."""

    member: str
    label: str
    """Its name in the graph: without the owner, unless that is ambiguous."""
    path: str
    places: Sequence[int | None]
    """Its places by season, counted through all divisions; None in seasons without a place."""
    last: int
    """Its latest place."""
    y: str
    """Position of its latest place, as a percentage of the height."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Places over the seasons, the best at the top."""

    seasons: Sequence[tuple[int, str]]
    """Numbers of the seasons, with their positions as percentages of the width."""
    ways: Sequence[Way]
    borders: Sequence[str]
    """Positions of the borders between the latest season's divisions, as percentages of the height."""
    places: int
    """The lowest place that is drawn."""


@router.get("/leagues")
def list_leagues(page: Page, web: Shared) -> HTMLResponse:
    """Show all leagues."""
    return page("leagues.html", leagues=overview.list_leagues(web.storage))


class LeagueAsked(FromForm):
    """The query parameters of a league's page."""

    season: Annotated[int | None, Query(ge=1, le=LARGEST)] = None
    own: Annotated[int, Query(ge=0, le=LARGEST)] = 0
    """How many of the reader's own bots precede those that are shown."""


LATEST = LeagueAsked()


def _context(visit: Visit, query: LeagueAsked = LATEST) -> dict[str, object]:
    storage, name, now = visit.web.storage, visit.request.path_params["league"], visit.context.now
    league = overview.show(storage, name, now, query.season)
    return {
        "at": now,
        "league": league,
        "season": league.seasons[0] if league.seasons else None,
        "outside": league.outside,
        "graph": graph(overview.orders(storage, name, DRAWN)),
        "desk": _is_organisers(visit, name),
        "own": own_members(storage, visit.actor, name, now, OWN, query.own),
        "own_offset": query.own,
        "own_most": OWN,
    }


forms = Forms(router, "/leagues/{league}", "league.html", _context)


@router.get("/leagues/{league}")
def show_league(visit: AnyVisit, league: Name, query: Annotated[LeagueAsked, Query()]) -> HTMLResponse:
    """Show a league with its latest season or an earlier one, and the places over all seasons."""
    return visit.page("league.html", **_context(visit, query))


forms.add("/leagues/{league}/join", operations.join_league, "/leagues/{league}#join")
forms.add("/leagues/{league}/leave", operations.leave_league, "/leagues/{league}#join")


def _is_organisers(visit: Visit, league: str) -> bool:
    """Return whether the reader organises a league."""
    with visit.web.storage.read() as tx:
        return visit.actor.organises(find_league(tx, league).organiser_id)


def graph(seasons: Sequence[SeasonOrder]) -> Graph | None:
    """Return the graph of these seasons, given with the latest first; None for fewer than two."""
    drawn = [*reversed(seasons[:DRAWN])]
    if len(drawn) < 2:
        return None
    places = [dict(_places(season)) for season in drawn]
    latest = sorted(places[-1], key=places[-1].__getitem__)[:WAYS]
    most = max((of_season.get(member, 1) for of_season in places for member in latest), default=1)
    x, y = Scale(-0.25, len(drawn) - 1), Scale(0.5, most + 0.5)
    short = Counter(member.partition("/")[2] for member in latest)
    ways = []
    for member in latest:
        called = member.partition("/")[2]
        label = called if short[called] == 1 else member
        own = [of_season.get(member) for of_season in places]
        last = places[-1][member]
        ways.append(Way(member, label, _path(own, x, y), own, last, y.at(last)))
    ends = [*accumulate(map(len, drawn[-1].divisions))]
    borders = [y.at(end + 0.5) for end in ends if end < most]
    return Graph([(season.number, x.at(at)) for at, season in enumerate(drawn)], ways, borders, most)


def _places(season: SeasonOrder) -> Iterator[tuple[str, int]]:
    """Yield the members of a season with their places, counted through all divisions."""
    members = chain.from_iterable(season.divisions)
    return ((member, place) for place, member in enumerate(members, start=1))


def _path(places: Sequence[int | None], x: Scale, y: Scale) -> str:
    """Return a line through these places, with gaps where there is none."""
    path, drawing = "", False
    for at, place in enumerate(places):
        if place is not None:
            path += f"{'L' if drawing else 'M'}{WIDTH * x.share(at):.1f} {HEIGHT * y.share(place):.2f}"
        drawing = place is not None
    return path
