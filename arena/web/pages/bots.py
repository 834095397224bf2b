"""The pages of bots: results, opponents and notable deals; and two bots head to head."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse

from arena.queries import histories, matches
from arena.queries.board import LeaderboardLine
from arena.queries.profiles import Profile, profile
from arena.queries.versus import versus
from arena.store.storage import Storage
from arena.web.context import Shared
from arena.web.naming import BotOrVersion
from arena.web.pages.asked import FromForm
from arena.web.pages.faults import own_faults
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router
from arena.web.pages.timelines import TimeLine, timeline

router = page_router()

OPPONENTS = 15
FITS, CHANGES = 100, 150
"""How many of the latest changes of strength and of Elo are drawn."""
TABLED = 40
"""How many of these are in the table."""
FAULTY = 50
"""How many of the latest matches with faults are marked."""


class BotAsked(FromForm):
    """The query parameters that choose the pool of the time line."""

    ruleset: str | None = None
    table_size: Annotated[int | None, Query(ge=2, le=8)] = None


@dataclass(frozen=True, slots=True)
class Course:
    """The history of a bot in a pool."""

    ruleset: str
    drawn: TimeLine | None
    lines: Sequence[histories.HistoryLine]
    """The changes, the latest first."""


@router.get("/bots/{owner}/{bot}")
def show_bot(
    page: Page, web: Shared, name: BotOrVersion, asked: Annotated[BotAsked, Query()]
) -> HTMLResponse:
    """Show a bot, all its versions together or one of them."""
    told = profile(web.storage, name, OPPONENTS)
    pools = list(dict.fromkeys((line.ruleset, line.table_size) for line in told.pools))
    ruleset = asked.ruleset or (pools[0][0] if pools else None)
    return page(
        "bot.html",
        bot=told,
        name=name,
        pools=pools,
        latest=latest_lines(told),
        course=None if ruleset is None else course(web.storage, told, name, ruleset, asked.table_size),
        telling=web.telling.of_bot(name, told.matches),
        faults=own_faults(web.storage, page.actor, told.owner, name),
        own=f"{next(iter(sorted(page.actor.owners)), 'you')}/BOT",
    )


@router.get("/bots/{owner}/{bot}/versus")
def show_versus(
    page: Page,
    web: Shared,
    name: BotOrVersion,
    opponent: Annotated[str, Query(max_length=200)],
) -> HTMLResponse:
    """Show two bots head to head."""
    return page("versus.html", met=versus(web.storage, name, opponent, OPPONENTS))


def latest_lines(told: Profile) -> list[LeaderboardLine]:
    """Return the newest rated version's line in each pool."""
    found: dict[tuple[str, int], LeaderboardLine] = {}
    for line in told.pools:
        found.setdefault((line.ruleset, line.table_size), line)
    return [*found.values()]


def course(storage: Storage, told: Profile, name: str, ruleset: str, size: int | None) -> Course:
    """Return the history of a bot in a pool. Raise UnknownError."""
    kinds = {histories.HistoryKind.STRENGTH: FITS, histories.HistoryKind.ELO: CHANGES}
    lines = histories.latest(storage, histories.Asked(name, ruleset, size), kinds)
    asked = matches.Asked(bot=name, ruleset=ruleset, faults=True)
    faulty = matches.find_places(storage, asked, FAULTY) if told.faults else ()
    return Course(ruleset, timeline(lines, told.versions, faulty), lines[:TABLED])
