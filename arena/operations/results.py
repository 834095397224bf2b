"""Matches and deals, and how bots did against each other."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from annotated_types import Interval, Len, MaxLen

from arena.actors import KeyScope
from arena.bots import estimates
from arena.core.cursors import next_place, read_place
from arena.operations.operation import Context, operation
from arena.operations.parameters import (
    LARGEST_PAGE,
    MOST,
    Cursor,
    Limit,
    Moment,
    Number,
    RulesetName,
    TableSize,
)
from arena.queries import deals, highlights, luck, matches, meetings, names, now
from arena.queries import tournaments as rounds
from arena.queries.sessions import PlayedMatch, played_match
from arena.store.models import HighlightKind

MOST_BOTS = 100
"""Maximum number of bots in a crosstable."""
MOST_TABLES = 24
"""Maximum number of tables whose records of a deal are returned at once."""

MOST_SEATS = 8

MOST_IN_PLAY = 100
"""Maximum number of tables in play that are returned at once."""

MATCH = "/matches/{tournament}/{round}/{table}"
DEALS = f"{MATCH}/sessions/{{session}}/deals"
ESTIMATES = f"{DEALS}/{{deal}}/estimates"
ROUND = "/tournaments/{tournament}/rounds/{round}"

Bot = Annotated[str | None, "Who sat there: `owner/bot`, or one version as `owner/bot@number`."]


@operation("GET", "/now", tag="results")
def show_now(
    context: Context,
    tables: Annotated[int, Interval(ge=0, le=MOST_IN_PLAY), "Maximum number of tables."] = 24,
) -> now.Now:
    """Return what is being played in all tournaments, what has not started, and when leagues go on."""
    return now.on_now(context.storage, tables)


@operation("GET", "/search", tag="results")
def search_names(
    context: Context,
    q: Annotated[Annotated[str, MaxLen(200)], "How the names begin, or `owner/` and how its bots begin."],
    limit: Annotated[int, Interval(ge=1, le=LARGEST_PAGE), "Maximum number of names of each kind."] = 8,
) -> names.SearchResult:
    """Return the bots, owners, tournaments and leagues whose names begin with a text."""
    return names.search(context.storage, q, limit)


@operation("GET", "/matches", tag="results", lines="matches")
def list_matches(
    context: Context,
    bot: Bot = None,
    opponent: Annotated[str | None, "Who sat there, too; goes with `bot`."] = None,
    ruleset: RulesetName = None,
    tournament: Annotated[str | None, "Only matches of this tournament."] = None,
    round: Annotated[int | None, Interval(ge=1, le=MOST), "Only this round of the tournament."] = None,
    since: Annotated[Moment | None, "Only matches that finished then or later."] = None,
    until: Annotated[Moment | None, "Only matches that finished before."] = None,
    faults: Annotated[bool, "Only matches with faults, of the bot if one is named."] = False,
    result: Annotated[matches.Result | None, "The bot's result; goes with `bot`."] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> matches.MatchPage:
    """List matches that are done, the newest first, with points and changes of Elo.

    Test matches are among them only if a bot or their tournament is named.
    """
    query = matches.MatchQuery(bot, opponent, ruleset, tournament, round, since, until, faults, result)
    return matches.find_matches(context.storage, query, limit, cursor)


@operation("GET", MATCH, tag="results")
def show_match(context: Context, tournament: str, round: Number, table: Number) -> PlayedMatch:
    """Return a match with its finished sessions: who sat where, points, faults and forfeits."""
    return played_match(context.storage, tournament, round, table)


@operation("GET", DEALS, tag="results", lines="deals")
def list_deals(
    context: Context,
    tournament: str,
    round: Number,
    table: Number,
    session: Number,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> deals.SessionDeals:
    """Return the deals of a finished session as records, each to be replayed alone.

    409 in a duplicate tournament until the round is over: other tables still have to play them.
    """
    return deals.session_deals(context.storage, tournament, round, table, session, limit, cursor)


@operation("GET", f"{DEALS}/{{deal}}", tag="results")
def show_deal(
    context: Context, tournament: str, round: Number, table: Number, session: Number, deal: Number
) -> Mapping[str, Any]:
    """Return a deal of a finished session as a record (docs/schemas/deal-record.schema.json).

    409 in a duplicate tournament until the round is over: other tables still have to play it.
    """
    return deals.one_deal(context.storage, tournament, round, table, session, deal)


@operation("GET", f"{DEALS}/{{deal}}/luck", tag="results")
def show_luck(
    context: Context, tournament: str, round: Number, table: Number, session: Number, deal: Number
) -> luck.DealPoints:
    """Return the points of a deal by seat, what was expected from the cards, and what was made of them.

    409 in a duplicate tournament until the round is over: other tables still have to play it.
    """
    return luck.deal_points(context.storage, tournament, round, table, session, deal)


@operation("GET", ESTIMATES, tag="results")
def list_estimates(
    context: Context, tournament: str, round: Number, table: Number, session: Number, deal: Number
) -> estimates.Estimates:
    """Return what decisions of a deal cost, by sage's estimate, for the seats that somebody asked about."""
    place = estimates.Place(tournament, round, table, session, deal)
    return estimates.Estimates(estimates.estimates_of(context.storage, place))


@operation("POST", ESTIMATES, KeyScope.BOTS, tag="results")
def ask_for_estimate(
    context: Context,
    tournament: str,
    round: Number,
    table: Number,
    session: Number,
    deal: Number,
    seat: Annotated[int, Interval(ge=0, le=MOST_SEATS - 1), "The seat whose decisions are judged."],
) -> estimates.Estimates:
    """Ask a worker to estimate what the decisions of a seat cost; it thinks for about eight seconds.

    Of each account one estimate may wait. 409 in a duplicate tournament until the round is over.
    """
    place = estimates.Place(tournament, round, table, session, deal)
    estimates.ask_for_estimate(context.storage, context.actor, place, seat, context.now)
    return estimates.Estimates(estimates.estimates_of(context.storage, place))


@operation("GET", "/deals", tag="results", lines="deals")
def find_deals(
    context: Context,
    kind: Annotated[
        HighlightKind,
        "closest: the fewest points between the best seat and the second; swing: the most that a seat won or "
        "lost; longest: the most actions; bombs: the most bombs; best-made, worst-made: the most points "
        "that a seat made of its cards beyond what was expected from them, or short of that.",
    ],
    ruleset: RulesetName = None,
    table_size: TableSize = None,
    bot: Annotated[str | None, "Who played it: `owner/bot`, or one version."] = None,
    tournament: Annotated[str | None, "Only deals of this tournament."] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> highlights.DealPage:
    """Find notable deals: from each session the one that stands out most, the most notable first.

    Deals that other tables of a duplicate tournament still have to play are left out.
    """
    query = highlights.HighlightQuery(kind, ruleset, table_size, bot, tournament)
    return highlights.find_deals(context.storage, query, limit, cursor)


@operation("GET", f"{ROUND}/tables", tag="results", lines="tables")
def list_tables(
    context: Context, tournament: str, round: Number, limit: Limit = 100, cursor: Cursor = None
) -> rounds.RoundTables:
    """Return the tables of a round, played or not: the bots, the progress and the points of each."""
    question = ("tables", tournament, round)
    place = read_place(question, cursor)
    tables = rounds.round_tables(context.storage, tournament, round, limit, place)
    return replace(tables, next=next_place(question, place + limit, tables.count))


@operation("GET", f"{ROUND}/sessions/{{session}}/deals/{{deal}}", tag="results")
def show_same_deal(
    context: Context,
    tournament: str,
    round: Number,
    session: Number,
    deal: Number,
    limit: Annotated[int, Interval(ge=1, le=MOST_TABLES), "Tables with their records."] = 12,
    cursor: Cursor = None,
) -> deals.SameDeal:
    """Return a deal of a duplicate round at all its tables, with each bot's score beside the others."""
    question = ("same deal", tournament, round, session, deal)
    place = read_place(question, cursor)
    same = deals.same_deal(context.storage, tournament, round, session, deal, place + 1, limit)
    return replace(same, next=next_place(question, place + limit, same.tables[-1].table))


@operation("GET", "/crosstable", tag="results")
def show_crosstable(
    context: Context,
    bot: Annotated[
        list[str], Len(min_length=2, max_length=MOST_BOTS), "Two bots or more, or versions of them."
    ],
    ruleset: RulesetName = None,
    table_size: TableSize = None,
) -> meetings.Crosstable:
    """Return how often these bots finished ahead of each other, in each pool in which they met."""
    return meetings.Crosstable(meetings.crosstable(context.storage, bot, ruleset, table_size))
