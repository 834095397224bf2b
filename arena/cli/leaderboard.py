"""``arena leaderboard``: the best of each pool."""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import Any

import typer

from arena.cli.context import database_of, is_here
from arena.cli.doors import command_of
from arena.operations import leaderboards as operations
from arena.queries.board import Leaderboard, LeaderboardLine
from arena.results.strength.scale import ENOUGH, HELD, about
from referee.cli.output import change, console, headline, note, say

PROVISIONAL = "?"
"""Marks strengths that come from few deals."""

ALL: Mapping[str, Any] = {
    name: parameter.default for name, parameter in operations.leaderboard.parameters.items()
}
"""The parameters of the whole leaderboard."""

EMPTY = Leaderboard((), None)

NOBODY = "no ratings yet: they appear when the first round of a rated tournament closes"


@command_of(
    operations.leaderboard,
    flags={"provisional": "--provisional/--settled"},
    metavars={"around": "OWNER/BOT[@VERSION]"},
    csv=True,
    first=lambda ctx, values: EMPTY if values == ALL and is_here(ctx) and _is_empty(ctx) else None,
)
def leaderboard(page: Leaderboard, ctx: typer.Context) -> None:
    """Show the ratings: a leaderboard for each ruleset and table size."""
    options = {name: ctx.params[name] for name, default in ALL.items() if ctx.params[name] != default}
    changes = options.get("since") is not None
    show_leaderboards(page.leaderboard, changes=changes, empty="no such ratings" if options else NOBODY)


def _is_empty(ctx: typer.Context) -> bool:
    """Return whether nobody is rated, without loading the models, which takes longest."""
    from arena.queries.presence import is_anybody_rated

    with database_of(ctx) as database:
        return not is_anybody_rated(database)


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
            ">apart after",
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
            f"strength: estimated from points a deal ({_anchor({s.anchor for s in strengths})} is 1500); "
            f"95 %: its interval, and {HELD} of them held in trials, by the kind of field; "
            "ahead: share of deals in which it finishes ahead of another bot; Elo: updated match by match"
        )
        yield (
            "ranks: the places that a bot may have; tier: a bot that is beyond doubt worse than the best of "
            "a tier begins the next, so rank ranges of bots in two tiers may overlap; apart after: about how "
            "many deals more tell a bot from the next one, if both play them and their difference stays"
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
    if any(s.group > 1 for s in strengths):
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
        return (line.place, line.bot, *["-"] * 6, *counts)
    return (
        line.place,
        line.bot,
        strength.tier if strength.group == 1 else f"{strength.group}:{strength.tier}",
        f"{strength.best}-{strength.worst}",
        f"{strength.figure:.0f}{PROVISIONAL if line.provisional else ''}",
        f"{strength.figure_low:.0f}-{strength.figure_high:.0f}",
        "-" if strength.parts_after is None else about(strength.parts_after),
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
