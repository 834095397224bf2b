"""What came out: leaderboards, matches deal by deal, exports."""

import os
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.context import storage_of
from arena.cli.deals import show_deal
from arena.cli.output import AsJson, console, headline, print_json, say
from arena.cli.output import table as make_table
from arena.errors import StorageError, UnknownError
from arena.services import records, results
from arena.services.records import MatchView
from arena.services.results import LeaderboardLine

app = typer.Typer()
match = typer.Typer(no_args_is_help=True, help="Look at matches.")
app.add_typer(match, name="match")


@app.command()
def leaderboard(
    ctx: typer.Context,
    ruleset: Annotated[
        str | None, typer.Option(help="Only this ruleset: its name, name@version, or the start of its hash.")
    ] = None,
    size: Annotated[int | None, typer.Option(help="Only tables of this size.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Places shown of each pool.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show the ratings: a leaderboard for each ruleset and table size."""
    with storage_of(ctx) as storage:
        found = results.leaderboard(storage, ruleset, limit)
    lines = [line for line in found if size in (None, line.table_size)]
    if as_json:
        print_json(lines)
    else:
        show_leaderboards(lines)


def show_leaderboards(lines: list[LeaderboardLine]) -> None:
    """Print one table for each pool."""
    if not lines:
        say("no ratings yet: they come when the first round of a tournament closes")
    for (ruleset, size), pool in groupby(lines, key=lambda line: (line.ruleset, line.table_size)):
        rows = [(line.rank, line.name, f"{line.rating:.0f}", line.matches, line.deals) for line in pool]
        headline(f"Leaderboard: {ruleset}, tables of {size}")
        console().print(make_table([">", "bot version", ">Elo", ">matches", ">deals"], rows), "")


@match.command("show")
def show_match(
    ctx: typer.Context,
    tournament: Annotated[str, typer.Argument(help="The tournament's name.")],
    round: Annotated[int, typer.Argument(help="The round, from 1.")],
    table: Annotated[int, typer.Argument(help="The table in the round, from 1.")],
    session: Annotated[int, typer.Option(help="The session whose deal is shown.")] = 1,
    deal: Annotated[int, typer.Option(help="The deal that is shown.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Show a match, and one of its deals: hands, tricks, points."""
    with storage_of(ctx) as storage:
        view = records.match_view(storage, tournament, round, table)
    if as_json:
        print_json(view)
        return
    _show_summary(view)
    if view.sessions:
        show_deal(_record(view, session, deal), console())
        say("another one: --session N --deal N")


def _record(view: MatchView, session: int, deal: int) -> Mapping[str, object]:
    for one in view.sessions:
        if one.number == session:
            if not 1 <= deal <= len(one.records):
                raise UnknownError(f"no deal {deal} in session {session}: it has {len(one.records)}")
            return one.records[deal - 1]
    done = ", ".join(str(one.number) for one in view.sessions)
    raise UnknownError(f"no session {session} is done in this match; done: {done}")


def _show_summary(view: MatchView) -> None:
    rows = []
    for one in view.sessions:
        points = dict(zip(one.names, one.points, strict=True))
        forfeit = one.names[one.forfeit] if one.forfeit is not None else None
        rows.append(
            (one.number, len(one.records), *(points[name] for name in view.names), sum(one.faults), forfeit)
        )
    if view.points is not None:
        rows.append(("all", sum(len(one.records) for one in view.sessions), *view.points, None, None))
    problem = f" ({view.problem})" if view.problem else ""
    headline(f"{view.tournament}, round {view.round}, table {view.table}: {view.state}{problem}")
    columns = [">session", ">deals", *(f">{name}" for name in view.names), ">faults", "forfeit"]
    console().print(make_table(columns, rows), "")


@app.command()
def export(
    ctx: typer.Context,
    tournament: Annotated[str, typer.Argument(help="The tournament's name.")],
    output: Annotated[Path | None, typer.Option(help="File to write; without it, standard output.")] = None,
) -> None:
    """Write all deal records of a tournament as JSON lines."""
    with storage_of(ctx) as storage:
        lines = records.export_records(storage, tournament)
        if output is None:
            for line in lines:
                print(line)
        else:
            count = write_lines(output, lines)
            say(f"{count} deals written to {output}")


def write_lines(path: Path, lines: Iterator[str]) -> int:
    """Write lines to a file that appears whole or not at all; gives their number. StorageError."""
    count = 0
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(line + "\n")
                count += 1
        part.replace(path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    return count
