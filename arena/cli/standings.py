"""``arena tournament standings``, ``confirm`` and ``correct``: standings, and decisions about results."""

from collections.abc import Sequence
from typing import Annotated

import typer

from arena.cli.context import Yes, ask, asking
from arena.cli.context import confirm as confirmed
from arena.cli.doors import AsCsv, check_form, print_answer, say_next, table_of
from arena.cli.entries import BotName, Name
from arena.cli.results import show_crosstable
from arena.cli.watch import progress_text
from arena.core.corrections import Correction, Kind, correction_text
from arena.core.luck import share_told
from arena.jsonvalues import to_json
from arena.operations import tournaments
from arena.queries.scoreboard import CROSSED, FORFEITED, LUCK, Scoreboard, StandingLine, standing_columns
from arena.tabular import Column
from arena.tournaments.overview import ENDED
from referee.cli.output import MOST, AsJson, console, headline, note, print_json, say


def confirm(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Confirm the results of a tournament that has ended; they are final from then on."""
    confirmed(f"Confirm the results of {name}, for good", yes)
    with asking(ctx) as call:
        status = call(tournaments.confirm_tournament, name)
        [*_, event] = call(tournaments.tournament_head, name).events
    if as_json:
        print_json(to_json(status))
    else:
        say(f"the results of {name} are final", f"signed with the key {event['details']['signed']['key']}")


def correct(
    ctx: typer.Context,
    name: Name,
    bot: BotName,
    reason: Annotated[str, typer.Option(help="The reason, which everybody can read.")],
    disqualify: Annotated[bool, typer.Option("--disqualify", help="Rank it behind all others.")] = False,
    reinstate: Annotated[bool, typer.Option("--reinstate", help="Undo its disqualification.")] = False,
    points: Annotated[
        int | None,
        typer.Option(min=-MOST, max=MOST, help="Points to add to its match; --points=-5 subtracts."),
    ] = None,
    round: Annotated[int | None, typer.Option(min=1, max=MOST, help="The match's round.")] = None,
    table: Annotated[int | None, typer.Option(min=1, max=MOST, help="The match's table.")] = None,
    as_json: AsJson = False,
) -> None:
    """Correct the standings of a tournament that has ended, by a public entry that gives the reason.

    Either --disqualify, --reinstate, or --points with --round and --table. Matches and ratings
    stay as they were.
    """
    if sum([disqualify, reinstate, points is not None]) != 1:
        raise typer.BadParameter("give one of --disqualify, --reinstate and --points")
    kind: Kind = "points" if points is not None else "disqualified" if disqualify else "reinstated"
    corrections = ask(ctx, tournaments.correct_standings, name, bot, kind, reason, round, table, points)
    if as_json:
        print_json({"tournament": name, **to_json(corrections)})
    else:
        say(correction_text(corrections), f"signed with the key {corrections.key}")


def show_corrections(corrections: Sequence[Correction]) -> None:
    """Print the organiser's corrections of the standings."""
    if corrections:
        headline("Corrections by the organiser")
        say(*map(correction_text, corrections))


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
        board = call(tournaments.tournament_standings, name)
        crossed = call(tournaments.tournament_crosstable, name, limit, cursor) if crosstable else None
    if as_json:
        print_json(to_json(board) | (to_json(crossed) if crossed else {}))
        return
    if as_csv:
        print_answer(tournaments.tournament_standings, board, False, True, "standings")
        return
    show_standings(board)
    if crossed:
        show_crosstable(crossed.crosstable)
        say_next(crossed.next)
    show_corrections(board.corrections)
    if board.state not in ENDED:
        progress = progress_text(ask(ctx, tournaments.show_tournament, name))
        say(f"{name} is {board.state.value}, so this is not final: {progress}")
    elif board.provisional:
        say(f"this is provisional until the organiser confirms it: arena tournament confirm {name}")


def show_standings(board: Scoreboard) -> None:
    """Print standings, with the criteria of the format from left to right."""
    columns = standing_columns(board)
    console().print(table_of(columns, board.standings))
    note(*(legend(column) for column in columns if column in (*LUCK, FORFEITED)))
    if share := share_told(line.luck for line in board.standings if line.luck):
        note(share)
    if FORFEITED in columns:
        note("`arena bot log OWNER/BOT` has each forfeit")


def legend(*columns: Column[StandingLine]) -> str:
    """Return what columns mean, in a line."""
    return "; ".join(f"{column.head}: {column.about}" for column in columns)
