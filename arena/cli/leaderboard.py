"""``arena leaderboard``: the best of each pool."""

from collections.abc import Set
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.context import database_of, storage_of
from arena.cli.output import MOST, AsJson, console, headline, print_json, renamed, say
from arena.queries.presence import is_anybody_rated

if TYPE_CHECKING:
    from arena.queries.leaderboards import LeaderboardLine


def leaderboard(
    ctx: typer.Context,
    ruleset: Annotated[
        str | None, typer.Option(help="Only this ruleset: its name, name@version, or the start of its hash.")
    ] = None,
    size: Annotated[int | None, typer.Option(min=2, max=8, help="Only tables of this size.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Show this many places of each pool.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show the ratings: a leaderboard for each ruleset and table size."""
    lines = [line for line in _find(ctx, ruleset, limit) if size in (None, line.table_size)]
    if as_json:
        print_json({"leaderboard": [renamed(line, name="bot") for line in lines]})
    else:
        show_leaderboards(lines)


def _find(ctx: typer.Context, ruleset: str | None, limit: int) -> "list[LeaderboardLine]":
    """Return the lines; the models are loaded only where there are any, as they take the longest."""
    with database_of(ctx) as database:
        if ruleset is None and not is_anybody_rated(database):
            return []
    from arena.queries import leaderboards

    with storage_of(ctx) as storage:
        return leaderboards.leaderboard(storage, ruleset, limit)


def show_leaderboards(lines: "list[LeaderboardLine]") -> None:
    """Print one table for each pool."""
    if not lines:
        say("no ratings yet: they come when the first round of a tournament closes")
        return
    from arena.cli.tables import table  # which brings more of Rich than a line of text needs

    for (ruleset, size), pool in groupby(lines, key=lambda line: (line.ruleset, line.table_size)):
        headline(f"Leaderboard: {ruleset}, tables of {size}")
        rows = list(map(_leaderboard_row, pool))
        columns = [">", "bot version", ">tier", ">ranks", ">strength", ">95 %", ">Elo", ">matches", ">deals"]
        console().print(table(columns, rows), "")
    anchors = {line.strength.anchor for line in lines if line.strength is not None}
    if anchors:
        say(
            f"strength: from points a deal, {_anchor(anchors)} has 1500, 95 %: its interval; "
            "Elo: the running number"
        )
    if any(line.strength and line.strength.group > 1 for line in lines):
        say("bots of different groups (tiers 2:1, 2:2, …) have never met, and cannot be compared")


def _anchor(anchors: Set[str]) -> str:
    """Return what has 1500."""
    if "baselines" not in anchors:
        return "the mean"
    return "the mean of the baselines" + (" (of all, where a group has none)" if "mean" in anchors else "")


def _leaderboard_row(line: "LeaderboardLine") -> tuple[object, ...]:
    strength = line.strength
    counts = (f"{line.rating:.0f}", line.matches, line.deals)
    if strength is None:
        return (line.place, line.name, *["-"] * 4, *counts)
    return (
        line.place,
        line.name,
        strength.tier if strength.group == 1 else f"{strength.group}:{strength.tier}",
        f"{strength.best}-{strength.worst}",
        f"{strength.figure:.0f}",
        f"{strength.figure_low:.0f}-{strength.figure_high:.0f}",
        *counts,
    )
