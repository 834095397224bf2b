"""``arena tournament standings``, ``confirm`` and ``correct``: standings, and decisions about results."""

from collections.abc import Sequence
from typing import Annotated

import typer

from arena.cli.context import Yes, ask, asking
from arena.cli.context import confirm as confirmed
from arena.cli.doors import AsCsv, check_form, print_answer, say_next
from arena.cli.entries import BotName, Name
from arena.cli.results import show_crosstable
from arena.cli.watch import progress_text
from arena.core.corrections import Correction, Kind, correction_text
from arena.core.formats import FORMATS
from arena.core.luck import share_told
from arena.jsonvalues import to_json
from arena.operations import tournaments
from arena.queries.scoreboard import CROSSED, Scoreboard, StandingLine
from arena.tournaments.overview import ENDED
from referee.cli.output import MOST, AsJson, console, headline, note, number, print_json, say
from referee.cli.tables import table


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
    lines, decisive = board.standings, FORMATS[board.format].criteria.decisive
    points = ["points", "±"]
    if any(line.raw != line.points for line in lines):  # which only duplicate deals lead to
        points.append("raw")
    names = [name for key in decisive for name in (points if key == "points" else [key])]
    rows = [(line.rank, _name(line), *(_cell(line, name) for name in names)) for line in lines]
    columns = [">", "bot version", *(f">{_COLUMNS.get(name, name)}" for name in names)]
    luck = [line.luck for line in lines if line.luck]
    if luck:
        columns += [">expected", ">made", ">±"]
        rows = [(*row, *_luck(line)) for row, line in zip(rows, lines, strict=True)]
    if any(line.forfeits for line in lines):
        columns.append(">forfeited")
        rows = [(*row, line.forfeits or "") for row, line in zip(rows, lines, strict=True)]
    console().print(table(columns, rows))
    if luck:
        note(
            "expected: points a deal above the mean of the table that the cards made likely; made: those "
            "beyond that, ± in 95 of 100 cases; the tournament is won by points"
        )
        if share := share_told(luck):
            note(share)
    if any(line.forfeits for line in lines):
        note(
            "forfeited: sessions that the bot lost by absence or by too many faults; "
            "`arena bot log OWNER/BOT` has each"
        )


def _luck(line: StandingLine) -> tuple[str, str, str]:
    luck = line.luck
    if luck is None:
        return "", "", ""
    spread = "" if luck.made_plus_minus is None else f"{luck.made_plus_minus:.2f}"
    return f"{luck.expected:+.2f}", f"{luck.made:+.2f}", spread


def _name(line: StandingLine) -> str:
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


def _cell(line: StandingLine, name: str) -> object:
    if name == "±":
        return _spread(line)
    return line.raw if name == "raw" else number(getattr(line, name))


def _spread(line: StandingLine) -> str:
    return "" if line.plus_minus is None else f"{line.plus_minus:.0f}"
