"""Calls about results: leaderboards, matches, deals."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from arena.client.call import Call

if TYPE_CHECKING:
    from arena.matches.overview import PlayedMatch
    from arena.models import HighlightKind
    from arena.queries.board import Leaderboard
    from arena.queries.deals import SessionDeals
    from arena.queries.highlights import DealPage
    from arena.queries.matches import MatchPage, Result
    from arena.queries.meetings import Crosstable
    from arena.queries.tables import RoundTables
    from arena.queries.together import SameDeal

MATCH = "/matches/{tournament}/{round}/{table}"
ROUND = "/tournaments/{tournament}/rounds/{round}"
DEALS = f"{MATCH}/sessions/{{session}}/deals"


def leaderboard(
    ruleset: str | None = None,
    table_size: int | None = None,
    league: str | None = None,
    season: int | None = None,
    division: str | None = None,
    owner: str | None = None,
    language: str | None = None,
    active_since: datetime | None = None,
    min_matches: int = 1,
    provisional: bool | None = None,
    around: str | None = None,
    since: datetime | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> "Call[Leaderboard]":
    """Return the ratings: ``limit`` places of each pool, at most 200."""
    return Call("GET", "/leaderboard", "arena.queries.board:Leaderboard", query=dict(locals()))


def list_matches(
    bot: str | None = None,
    opponent: str | None = None,
    ruleset: str | None = None,
    tournament: str | None = None,
    round: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    faults: bool = False,
    result: "Result | None" = None,
    limit: int = 50,
    cursor: str | None = None,
) -> "Call[MatchPage]":
    """List matches that are done, the newest first."""
    return Call("GET", "/matches", "arena.queries.matches:MatchPage", query=dict(locals()), lines="lines")


def show_match(tournament: str, round: int, table: int) -> "Call[PlayedMatch]":
    """Return a match with its finished sessions."""
    return Call("GET", MATCH, "arena.matches.overview:PlayedMatch", dict(locals()))


def list_deals(
    tournament: str, round: int, table: int, session: int, limit: int = 50, cursor: str | None = None
) -> "Call[SessionDeals]":
    """Return the deals of a finished session as records."""
    named = {"tournament": tournament, "round": round, "table": table, "session": session}
    return Call(
        "GET",
        DEALS,
        "arena.queries.deals:SessionDeals",
        named,
        {"limit": limit, "cursor": cursor},
        lines="deals",
    )


def show_deal(tournament: str, round: int, table: int, session: int, deal: int) -> Call[dict[str, Any]]:
    """Return a deal of a finished session as a record."""
    return Call("GET", f"{DEALS}/{{deal}}", dict, dict(locals()))


def find_deals(
    kind: "HighlightKind",
    ruleset: str | None = None,
    table_size: int | None = None,
    bot: str | None = None,
    tournament: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> "Call[DealPage]":
    """Find deals worth seeing, at most one of each session."""
    return Call("GET", "/deals", "arena.queries.highlights:DealPage", query=dict(locals()), lines="lines")


def list_tables(tournament: str, round: int, limit: int = 100, offset: int = 0) -> "Call[RoundTables]":
    """Return the tables of a round, played or not."""
    named = {"tournament": tournament, "round": round}
    query = {"limit": limit, "offset": offset}
    return Call("GET", f"{ROUND}/tables", "arena.queries.tables:RoundTables", named, query)


def show_same_deal(
    tournament: str, round: int, session: int, deal: int, first: int = 1, most: int = 12
) -> "Call[SameDeal]":
    """Return a deal of a duplicate round at all tables, with the records of ``most`` of them."""
    named = {"tournament": tournament, "round": round, "session": session, "deal": deal}
    path = f"{ROUND}/sessions/{{session}}/deals/{{deal}}"
    return Call("GET", path, "arena.queries.together:SameDeal", named, {"first": first, "most": most})


def show_crosstable(
    bot: Sequence[str], ruleset: str | None = None, table_size: int | None = None
) -> "Call[Crosstable]":
    """Return how often each of these bots finished ahead of each other."""
    query = {"bot": list(bot), "ruleset": ruleset, "table_size": table_size}
    return Call("GET", "/crosstable", "arena.queries.meetings:Crosstable", query=query)
