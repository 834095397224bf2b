"""``arena tournament standings``: the standings of a tournament."""

from typing import Annotated

import typer

from arena.cli import decisions
from arena.cli.context import ask, asking
from arena.cli.doors import print_answer
from arena.cli.lists import AsCsv, check_form, say_next
from arena.cli.pairings import Name
from arena.cli.results import show_crosstable
from arena.cli.watch import progress_text
from arena.core.formats import FORMATS
from arena.jsonvalues import to_json
from arena.operations import tournaments
from arena.queries.scoreboard import CROSSED, Placed, Scoreboard
from arena.tournaments.overview import ENDED
from referee.cli.output import AsJson, console, note, number, print_json, say
from referee.cli.tables import table


def standings(
    ctx: typer.Context,
    name: Name,
    crosstable: Annotated[
        bool, typer.Option("--crosstable", help="Show how often each bot finished ahead of each other.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=500, help="Show this many places in the crosstable.")
    ] = CROSSED,
    cursor: Annotated[
        str | None, typer.Option(help="Continue the crosstable after the one that ended with this cursor.")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show a tournament's standings. CSV has no crosstable; `arena crosstable` makes one of any bots."""
    check_form(as_json, as_csv)

    with asking(ctx) as call:
        found = call(tournaments.tournament_standings, name)
        crossed = call(tournaments.tournament_crosstable, name, limit, cursor) if crosstable else None
    if as_json:
        print_json(to_json(found) | (to_json(crossed) if crossed else {}))
        return
    if as_csv:
        print_answer(tournaments.tournament_standings, found, False, True, "standings")
        return
    show_standings(found)
    if crossed:
        show_crosstable(crossed.crosstable)
        say_next(crossed.next)
    decisions.show_corrections(found.corrections)
    if found.state not in ENDED:
        progress = progress_text(ask(ctx, tournaments.show_tournament, name))
        say(f"{name} is {found.state.value}, so this is not final: {progress}")
    elif found.provisional:
        say(f"this is provisional until the organiser confirms it: arena tournament confirm {name}")


def show_standings(found: Scoreboard) -> None:
    """Print standings, with the criteria of the format from left to right."""
    lines, decisive = found.standings, FORMATS[found.format].criteria.decisive
    points = ["points", "±"]
    if any(line.raw != line.points for line in lines):  # which only duplicate deals lead to
        points.append("raw")
    names = [name for key in decisive for name in (points if key == "points" else [key])]
    rows = [(line.rank, _name(line), *(_cell(line, name) for name in names)) for line in lines]
    columns = [">", "bot version", *(f">{_COLUMNS.get(name, name)}" for name in names)]
    if any(line.forfeits for line in lines):
        columns.append(">forfeited")
        rows = [(*row, line.forfeits or "") for row, line in zip(rows, lines, strict=True)]
    console().print(table(columns, rows))
    if any(line.forfeits for line in lines):
        note(
            "forfeited: sessions that the bot lost by absence or by too many faults; "
            "`arena bot log OWNER/BOT` has each"
        )


def _name(line: Placed) -> str:
    return f"{line.bot} (disqualified)" if line.disqualified else line.bot


def legend(format: str) -> str:
    """Return a line that explains the columns of a format's standings."""
    criteria = FORMATS[format].criteria
    meanings = _MEANINGS | (
        {"opponents": "opponents: their mean score in a match"} if criteria.per_match else {}
    )
    return "; ".join(meanings[name] for name in criteria.decisive)


_MEANINGS = {
    "score": "score: in each match one for each bot with fewer points, half for one with equal points",
    "points": "points: of all deals, ± the margin of that in 95 of 100 cases",
    "wins": "wins: matches in which everybody else was behind",
    "opponents": "opponents: their mean score",
    "opponents_cut": "cut: the mean score of its opponents without the weakest",
    "mean": "mean: score in a match",
    "reached": "round: the one that it reached",
    "last": "last match: its score there",
}
_COLUMNS = {"opponents_cut": "cut", "reached": "round", "last": "last match"}


def _cell(line: Placed, name: str) -> object:
    if name == "±":
        return _spread(line)
    return line.raw if name == "raw" else number(getattr(line, name))


def _spread(line: Placed) -> str:
    return "" if line.plus_minus is None else f"{line.plus_minus:.0f}"
