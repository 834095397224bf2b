"""Pages about some bots together: how often each finished ahead of each other one, and who makes faults."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fastapi.responses import HTMLResponse

from arena.errors import SpecError, UnknownError
from arena.operations import bots, results
from arena.operations.checking import schema_of
from arena.queries.faults import FaultsPage
from arena.queries.meetings import CrossLine, Met
from arena.web.pages.forms import AnyVisit
from arena.web.pages.routing import page_router
from arena.web.problems import wants_page

router = page_router()

LISTED = 50
"""Bots with faults on a page."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """The meetings of some bots in a pool."""

    ruleset: str
    table_size: int
    bots: Sequence[str]
    rows: Sequence[Sequence[Met | None]]
    """For each bot its results against each; None against itself."""


def crossed(lines: Sequence[CrossLine]) -> list[Crossed]:
    """Return lines, which are sorted by pool and bot, as a table for each pool."""
    return [
        Crossed(*pool, names, [[met.get((bot, other)) for other in names] for bot in names])
        for pool, of_pool in groupby(lines, key=lambda line: (line.ruleset, line.table_size))
        for met in [{(line.bot, line.opponent): line.met for line in of_pool}]
        for names in [list(dict.fromkeys(bot for bot, _ in met))]
    ]


@router.get("/crosstable")
def show_crosstable(visit: AnyVisit) -> HTMLResponse:
    """Show how often some bots finished ahead of each other, in each pool in which they met."""
    bots = [line.strip() for text in visit.sent.all("bot") for line in text.splitlines() if line.strip()]
    values = {"bots": bots, "ruleset": visit.sent["ruleset"], "pools": []}
    if not bots:
        return visit.page("among.html", **values)
    try:
        pools = crossed(visit.do(results.show_crosstable).crosstable)
    except (SpecError, UnknownError) as error:
        if not wants_page(visit.request.scope):
            raise
        return visit.page.again("among.html", error, **values)
    return visit.page("among.html", **{**values, "pools": pools})


@router.get("/faults")
def show_faults(visit: AnyVisit) -> HTMLResponse:
    """Show the bot versions with faults, those with the most first."""
    values = {"kinds": schema_of(bots.list_faults.parameters["kind"].kind)["enum"], "asked": visit.sent}
    try:
        page = visit.do(bots.list_faults, limit=LISTED)
    except (SpecError, UnknownError) as error:
        if not wants_page(visit.request.scope):
            raise
        return visit.page.again("faults.html", error, found=FaultsPage((), None), **values)
    return visit.page("faults.html", found=page, **values)
