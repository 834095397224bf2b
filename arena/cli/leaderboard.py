"""``arena leaderboard``: the best of each pool."""

import sys
from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

import arena.client as api
from arena.cli.context import answer, database_of, is_here
from arena.cli.lists import LARGEST_PAGE, AsCsv, Cursor, check_form, moment_of, objected, print_csv
from arena.queries.board import LeaderboardLine
from arena.strength.scale import ENOUGH, HELD
from referee.cli.output import MOST, AsJson, change, console, headline, note, print_json, say

if TYPE_CHECKING:
    from arena.client import Client
    from arena.queries.board import Leaderboard
    from arena.storage import Storage

Bot = Annotated[
    str | None, typer.Option(metavar="OWNER/BOT[@VERSION]", help="Show the lines around this bot.")
]


PROVISIONAL = "?"
"""Marks strengths that come from few deals."""

NOBODY = "no ratings yet: they appear when the first round of a rated tournament closes"


def leaderboard(
    ctx: typer.Context,
    ruleset: Annotated[
        str | None, typer.Option(help="Only this ruleset: its name, name@version, or the start of its hash.")
    ] = None,
    size: Annotated[int | None, typer.Option(min=2, max=8, help="Only tables of this size.")] = None,
    league: Annotated[str | None, typer.Option(help="Only bots with a place in this league.")] = None,
    season: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="In this season of it; by default the latest.")
    ] = None,
    division: Annotated[str | None, typer.Option(help="In this division of it.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only bots of this owner.")] = None,
    language: Annotated[str | None, typer.Option(help="Only bots written in this language.")] = None,
    active_since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only bots that have played since then.")
    ] = None,
    min_matches: Annotated[
        int, typer.Option(min=1, max=MOST, help="Only bots with at least this many rated matches.")
    ] = 1,
    provisional: Annotated[
        bool | None,
        typer.Option(
            "--provisional/--settled",
            help=f"Only bots whose strength comes from fewer than {ENOUGH} deals, or only the others.",
        ),
    ] = None,
    around: Bot = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Show how Elo, strength and rank changed since then.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=LARGEST_PAGE, help="Show this many places of each pool.")
    ] = 100,
    cursor: Cursor = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the ratings: a leaderboard for each ruleset and table size."""
    given: dict[str, Any] = {
        "ruleset": ruleset,
        "table_size": size,
        "league": league,
        "season": season,
        "division": division,
        "owner": owner,
        "language": language,
        "active_since": moment_of(active_since, "--active-since") if active_since else None,
        "matches": min_matches if min_matches > 1 else None,
        "provisional": provisional,
        "since": moment_of(since, "--since") if since else None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if is_here(ctx) and not (given or cursor or around or as_csv) and _is_empty(ctx):
        if as_json:
            print_json({"leaderboard": [], "next": None, "cut": []})
        else:
            show_leaderboards([])
        return

    def here(storage: "Storage") -> "Leaderboard":
        from arena.queries.leaderboards import Asked
        from arena.queries.leaderboards import leaderboard as find

        return find(storage, Asked(**given), limit, cursor, around)

    def there(arena: "Client") -> "Leaderboard":
        asked = {"min_matches" if name == "matches" else name: value for name, value in given.items()}
        return arena.send(api.results.leaderboard(**asked, around=around, limit=limit, cursor=cursor))

    found = answer(ctx, here, there)
    names = {"name": "bot", "last_played": "last_played_at"}
    check_form(as_json, as_csv)
    if as_json:
        lines = [objected(line, names) for line in found.lines]
        print_json({"leaderboard": lines, "next": found.next, "cut": found.cut})
    elif as_csv:
        print_csv(LeaderboardLine, found.lines, names)
        for line in _more(found):
            print(line, file=sys.stderr)
    else:
        empty = "no such ratings" if given else NOBODY
        show_leaderboards(found.lines, changes=since is not None, empty=empty)
        say(*_more(found))


def _is_empty(ctx: typer.Context) -> bool:
    """Return whether nobody is rated, without loading the models, which takes longest."""
    from arena.queries.presence import is_anybody_rated

    with database_of(ctx) as database:
        return not is_anybody_rated(database)


def _more(found: "Leaderboard") -> Iterator[str]:
    """Yield how to go on where pools have more places."""
    for one in found.cut:
        of_which = "" if found.next else f" of {one.ruleset}, tables of {one.table_size}"
        yield f"more{of_which}: --cursor {one.next}"


def show_leaderboards(
    lines: Sequence[LeaderboardLine], *, changes: bool = False, empty: str = NOBODY
) -> None:
    """Print one table for each pool."""
    if not lines:
        say(empty)
        return
    from referee.cli.tables import table  # which brings more of Rich than a line of text needs

    for (ruleset, size), pool in groupby(lines, key=lambda line: (line.ruleset, line.table_size)):
        headline(f"Leaderboard: {ruleset}, tables of {size}")
        rows = [(*_leaderboard_row(line), *(_changes(line) if changes else ())) for line in pool]
        columns = [
            ">",
            "bot version",
            ">tier",
            ">ranks",
            ">strength",
            ">95 %",
            ">ahead",
            ">Elo",
            ">matches",
            ">deals",
        ]
        columns += [">strength since", ">rank since", ">Elo since"] if changes else []
        console().print(table(columns, rows), "")
    note(*explained(lines))


def explained(lines: Sequence[LeaderboardLine]) -> Iterator[str]:
    """Yield explanations of the columns of leaderboards, as far as they are used."""
    strengths = [line.strength for line in lines if line.strength is not None]
    if strengths:
        yield (
            f"strength: estimated from points a deal ({_anchor({one.anchor for one in strengths})} is 1500); "
            f"95 %: its interval, and {HELD} of them held in trials, by the kind of field; "
            "ahead: share of deals in which it finishes ahead of another bot; Elo: updated match by match"
        )
        yield (
            "ranks: the places that a bot may have; tier: a bot that is beyond doubt worse than the best of "
            "a tier begins the next, so rank ranges of bots in two tiers may overlap"
        )
    if any(line.strength and line.strength.deals != line.deals for line in lines):
        yield (
            "deals: all rated ones; strengths come from those that all bots of the table played, without a "
            "forfeit"
        )
    if any(line.strength is None for line in lines):
        yield (
            "-: no strength yet, which is fitted after a round is closed, from deals that all bots of the "
            "table played"
        )
    if any(line.strength and line.provisional for line in lines):
        yield (
            f"{PROVISIONAL}: provisional, from fewer than {ENOUGH} deals; "
            "--settled leaves these out, and bots without a strength"
        )
    if any(one.group > 1 for one in strengths):
        yield "bots of different groups (tiers 2:1, 2:2, …) have never met, and cannot be compared"


def _anchor(anchors: Set[str]) -> str:
    """Return what the value 1500 stands for."""
    if "baselines" not in anchors:
        return "the mean"
    return "the mean of the baselines" + (" (of all, where a group has none)" if "mean" in anchors else "")


def _leaderboard_row(line: LeaderboardLine) -> tuple[object, ...]:
    strength = line.strength
    counts = (f"{line.rating:.0f}", line.matches, line.deals)
    if strength is None:
        return (line.place, line.name, *["-"] * 5, *counts)
    return (
        line.place,
        line.name,
        strength.tier if strength.group == 1 else f"{strength.group}:{strength.tier}",
        f"{strength.best}-{strength.worst}",
        f"{strength.figure:.0f}{PROVISIONAL if line.provisional else ''}",
        f"{strength.figure_low:.0f}-{strength.figure_high:.0f}",
        "-" if strength.ahead is None else f"{strength.ahead:.0%}",
        *counts,
    )


def _changes(line: LeaderboardLine) -> tuple[str, str, str]:
    """Return the changes of strength, rank and Elo; ``new`` for values that did not exist before."""
    before, strength = line.before, line.strength
    if before is None:
        return "", "", ""
    return (
        "" if strength is None else _change(strength.figure, before.figure),
        "" if strength is None else _change(before.rank, strength.rank),
        _change(line.rating, before.rating),
    )


def _change(now: float | None, before: float | None) -> str:
    return "new" if now is None or before is None else change(now - before)
