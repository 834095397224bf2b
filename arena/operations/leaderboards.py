"""Leaderboards, and the baselines that hold their scale."""

from typing import Annotated

from annotated_types import Interval, Len

from arena.actors import KeyScope
from arena.core.boards import Board
from arena.errors import UnknownError
from arena.operations.operation import Context, operation
from arena.operations.parameters import MOST, Cursor, Limit, Moment, RulesetName, TableSize
from arena.queries.board import Baselines, Leaderboard

Bots = Annotated[
    list[str],
    Len(min_length=1, max_length=200),
    "`owner/bot@number`, or `owner/bot` for its newest version.",
]


@operation("GET", "/leaderboard", tag="results", lines="leaderboard")
def leaderboard(
    context: Context,
    ruleset: RulesetName = None,
    table_size: TableSize = None,
    league: Annotated[str | None, "Only bots with a place in a season of this league."] = None,
    season: Annotated[
        int | None, Interval(ge=1, le=MOST), "In this season of it; by default the latest."
    ] = None,
    division: Annotated[str | None, "In this division of it."] = None,
    owner: Annotated[str | None, "Only bots of this owner."] = None,
    language: Annotated[str | None, "Only bots written in this language."] = None,
    active_since: Annotated[Moment | None, "Only bots that have played since then."] = None,
    min_matches: Annotated[
        int, Interval(ge=1, le=MOST), "Only bots with at least this many rated matches."
    ] = 1,
    provisional: Annotated[
        bool | None, "Only bots whose strength comes from few deals, or only the others."
    ] = None,
    around: Annotated[str | None, "Show the lines around this bot."] = None,
    since: Annotated[Moment | None, "Show how Elo, strength and rank changed since then."] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Leaderboard:
    """Show the ratings: a leaderboard for each ruleset and table size, the best first."""
    from arena.queries import leaderboards as queries  # an arena without ratings answers without it

    query = queries.LeaderboardQuery(
        ruleset=ruleset,
        table_size=table_size,
        league=league,
        season=season,
        division=division,
        owner=owner,
        language=language,
        active_since=active_since,
        matches=min_matches,
        provisional=provisional,
        since=since,
    )
    return queries.leaderboard(context.storage, query, limit, cursor, around)


@operation("GET", "/leaderboard/export", tag="results")
def export_board(context: Context, ruleset: RulesetName = None, table_size: TableSize = None) -> Board:
    """Return the board of a pool with all from which `arena verify` checks it, signed by the arena.

    By default, it is the pool with most matches.
    """
    from arena.queries.names import choose_pools
    from arena.trust.exports.write_board import export_board
    from arena.trust.keys import arena_key

    with context.storage.read() as tx:
        pools = choose_pools(tx, ruleset, table_size)
    if not pools:
        raise UnknownError("no ratings yet" if table_size is None else "no ratings at such tables")
    pool = max(pools, key=lambda each: each.matches).pool
    return export_board(context.storage, pool, arena_key(context.settings))


@operation("GET", "/baselines", tag="results")
def list_baselines(context: Context) -> Baselines:
    """List the bot versions whose mean strength is 1500 in each pool."""
    from arena.results.strength import pools

    return Baselines(pools.list_baselines(context.storage))


@operation("POST", "/baselines", KeyScope.OPERATE, tag="results")
def add_baselines(context: Context, bots: Bots) -> Baselines:
    """Make bot versions baselines, all or none."""
    from arena.results.strength import pools

    pools.add_baselines(context.storage, context.actor, bots, context.now)
    return Baselines(pools.list_baselines(context.storage))


@operation("POST", "/baselines/remove", KeyScope.OPERATE, tag="results")
def remove_baselines(context: Context, bots: Bots) -> Baselines:
    """Remove bot versions from the baselines, all or none."""
    from arena.results.strength import pools

    pools.remove_baselines(context.storage, context.actor, bots, context.now)
    return Baselines(pools.list_baselines(context.storage))
