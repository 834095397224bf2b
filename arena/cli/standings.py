"""``arena tournament standings``: the standings of a tournament."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

import arena.client as api
from arena.cli import decisions, remote
from arena.cli.context import answer
from arena.cli.lists import AsCsv, check_form, print_rows
from arena.cli.pairings import Name
from arena.cli.results import show_crosstable
from arena.cli.watch import progress_text
from arena.formats import FORMATS
from arena.standings import scoreboard
from arena.standings.corrections import Correction
from arena.standings.scoreboard import CROSSED, Crosstable, StandingLine
from arena.storage import Storage
from arena.tournaments import overview
from arena.tournaments.overview import TournamentStatus
from referee.cli.output import MOST, AsJson, console, note, number, print_json, say
from referee.cli.tables import table

if TYPE_CHECKING:
    from arena.client import Client

Shown = tuple[list[StandingLine], Crosstable | None, TournamentStatus, list[Correction]]
"""Standings, a crosstable if requested, the tournament's status, and the organiser's later decisions."""


def standings(
    ctx: typer.Context,
    name: Name,
    crosstable: Annotated[
        bool, typer.Option("--crosstable", help="Show how often each bot finished ahead of each other.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=500, help="Show this many places in the crosstable.")
    ] = CROSSED,
    offset: Annotated[
        int, typer.Option(min=0, max=MOST, help="Skip this many places of the crosstable.")
    ] = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show a tournament's standings. CSV has no crosstable; `arena crosstable` makes one of any bots."""
    check_form(as_json, as_csv)

    def here(storage: Storage) -> Shown:
        return (
            scoreboard.standings(storage, name),
            scoreboard.crosstable(storage, name, limit, offset) if crosstable else None,
            overview.status(storage, name),
            scoreboard.corrections(storage, name),
        )

    def there(arena: "Client") -> Shown:
        found = arena.send(api.tournaments.tournament_standings(name))
        asked = api.tournaments.tournament_crosstable(name, limit, offset)
        return (
            remote.standing_lines(found.standings),
            remote.crosstable_of(arena.send(asked).crosstable) if crosstable else None,
            arena.send(api.tournaments.show_tournament(name)),
            list(found.corrections),
        )

    lines, crossed, status, corrections = answer(ctx, here, there)
    if as_json:
        found: dict[str, object] = {
            "tournament": name,
            "state": status.state,
            "provisional": status.provisional,
            "corrections": corrections,
            "standings": [standing_object(line) for line in lines],
        }
        if crossed:
            found["crosstable"] = crossed.matrix
        print_json(found)
        return
    if as_csv:
        objects = [standing_object(line) for line in lines]
        print_rows([*objects[0]], (one.values() for one in objects))
        return
    show_standings(lines, status.format)
    if crossed:
        show_crosstable(crossed)
    decisions.show_corrections(corrections)
    if not status.ended:
        say(f"{name} is {status.state.value}, so this is not final: {progress_text(status)}")
    elif status.provisional:
        say(f"this is provisional until the organiser confirms it: arena tournament confirm {name}")


def standing_object(line: StandingLine) -> dict[str, object]:
    """Return a line of the standings as an object for JSON."""
    standing = asdict(line.standing)
    del standing["entrant"]
    names = ("raw", "deals", "plus_minus", "disqualified", "forfeits")
    rest = {name: getattr(line, name) for name in names}
    return {"rank": standing.pop("rank"), "bot": line.name, **standing, **rest}


def show_standings(lines: list[StandingLine], format: str) -> None:
    """Print standings, with the criteria of the format from left to right."""
    decisive = FORMATS[format].criteria.decisive
    points = ["points", "±"]
    if any(line.raw != line.standing.points for line in lines):  # which only duplicate deals lead to
        points.append("raw")
    names = [name for key in decisive for name in (points if key == "points" else [key])]
    rows = [(line.standing.rank, _name(line), *(_cell(line, name) for name in names)) for line in lines]
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


def _name(line: StandingLine) -> str:
    return f"{line.name} (disqualified)" if line.disqualified else line.name


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


def _cell(line: StandingLine, name: str) -> object:
    if name == "±":
        return _spread(line)
    return line.raw if name == "raw" else number(getattr(line.standing, name))


def _spread(line: StandingLine) -> str:
    return "" if line.plus_minus is None else f"{line.plus_minus:.0f}"
