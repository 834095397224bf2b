"""The pages of matches: a list, and a match with its sessions and deals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Path
from fastapi.responses import HTMLResponse

from arena.core.duplicate import DealScore
from arena.errors import SpecError, UnknownError
from arena.operations import results
from arena.queries.matches import MatchPage
from arena.queries.sessions import PlayedMatch, deal_scores_at, played_match
from arena.web.context import Shared
from arena.web.pages.forms import AnyVisit
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router
from arena.web.problems import wants_page

router = page_router()

LISTED = 40

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


@dataclass(frozen=True, slots=True)
class Cell:
    """A bot's result of a deal or a session."""

    points: int
    score: float | None
    """What counts, if the deals are compared with other tables; None if the points count."""
    most: bool
    """Whether nobody has more of what counts, and somebody has less."""


@dataclass(frozen=True, slots=True)
class Row:
    """The results of a deal or a session."""

    cells: Sequence[Cell]
    """By position at the table."""
    fouled: bool
    """Whether it is a deal that could not be compared with other tables."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session of a match; what it says about bots is by position at the table."""

    session: int
    seats: Sequence[int]
    faults: Sequence[int]
    forfeits: Sequence[bool]
    deals: Sequence[Row]
    total: Row | None
    """The sum of its deals; None if they are not shown."""


@router.get("/matches")
def list_matches(visit: AnyVisit) -> HTMLResponse:
    """Show finished matches, the newest first."""
    try:
        page = visit.do(results.list_matches, limit=LISTED)
    except (SpecError, UnknownError) as error:
        if not wants_page(visit.request.scope):
            raise
        return visit.page.again("matchlist.html", error, found=MatchPage((), None), asked=visit.sent)
    return visit.page("matchlist.html", found=page, asked=visit.sent)


@router.get("/matches/{tournament}/{round}/{table}")
def show_match(page: Page, web: Shared, tournament: str, round: Number, table: Number) -> HTMLResponse:
    """Show a match with its sessions."""
    match = played_match(web.storage, tournament, round, table)
    compared = match.duplicate and match.scores is not None
    deals = None
    if compared:
        beside = web.readings.deals_beside(tournament, round)
        deals = deal_scores_at(web.storage, tournament, round, table, beside)
    return page("match.html", match=match, rows=[*grid(match, deals)])


def grid(match: PlayedMatch, scores: Mapping[int, Sequence[DealScore]] | None) -> Iterator[SessionRow]:
    """Yield the sessions of a match; ``scores`` are those of its deals if they are compared."""
    for session in match.sessions:
        seats = [session.bots.index(name) for name in match.bots]
        compared = None if scores is None else scores[session.session]
        deals = [
            _row(
                [points[seat] for seat in seats],
                None if compared is None else [compared[at].by_seat[seat] for seat in seats],
                fouled=compared is not None and compared[at].fouled,
            )
            for at, points in enumerate(session.deal_points or ())
        ]
        yield SessionRow(
            session=session.session,
            seats=seats,
            faults=[session.faults[seat] for seat in seats],
            forfeits=[seat in session.forfeits for seat in seats],
            deals=deals,
            total=_sum(deals),
        )


def _sum(rows: Sequence[Row]) -> Row | None:
    """Return the sum of deals; None of none."""
    if not rows:
        return None
    columns = [*zip(*(row.cells for row in rows), strict=True)]
    scores = [sum(cell.score for cell in column if cell.score is not None) for column in columns]
    points = [sum(cell.points for cell in column) for column in columns]
    return _row(points, None if rows[0].cells[0].score is None else scores)


def _row(points: Sequence[int], scores: Sequence[float] | None, *, fouled: bool = False) -> Row:
    counts = points if scores is None else scores
    most = max(counts)
    cells = [
        Cell(own, None if scores is None else scores[at], counts[at] == most > min(counts))
        for at, own in enumerate(points)
    ]
    return Row(cells, fouled)
