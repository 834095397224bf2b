"""``arena leaderboard``: the best of each pool."""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import Any

import typer

from arena.cli.context import database_of, is_here
from arena.cli.doors import command_of, table_of
from arena.operations import leaderboards as operations
from arena.queries.board import CHANGES, COLUMNS, PROVISIONAL, Leaderboard, LeaderboardLine
from arena.results.strength.scale import ENOUGH
from referee.cli.output import console, headline, note, say

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
    columns = [*COLUMNS, *CHANGES] if changes else COLUMNS
    for (ruleset, size), pool in groupby(lines, key=lambda line: (line.ruleset, line.table_size)):
        headline(f"Leaderboard: {ruleset}, tables of {size}")
        console().print(table_of(columns, [*pool], none="-"), "")
    note(*explained(lines))


def explained(lines: Sequence[LeaderboardLine]) -> Iterator[str]:
    """Yield explanations of the columns of leaderboards, as far as they are used."""
    strengths = [line.strength for line in lines if line.strength is not None]
    if strengths:
        yield from (f"{c.head}: {c.about}" for c in COLUMNS if c.about and c.terminal)
        yield f"{_anchor({strength.anchor for strength in strengths})} has the strength 1500"
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
    if any(strength.group > 1 for strength in strengths):
        yield "bots of different groups (tiers 2:1, 2:2, …) have never met, and cannot be compared"


def _anchor(anchors: Set[str]) -> str:
    """Return what the value 1500 stands for."""
    if "baselines" not in anchors:
        return "the mean"
    return "the mean of the baselines" + (" (of all, where a group has none)" if "mean" in anchors else "")
