"""``arena deal find`` and ``arena bot faults``: notable deals, and bots with faults."""

from typing import Annotated

import typer

import arena.client as api
from arena.cli.context import answer
from arena.cli.lists import LARGEST_PAGE, AsCsv, Cursor, print_list, say_next
from arena.models import HighlightKind
from arena.queries import faults, highlights
from arena.queries.faults import KINDS, FaultsLine
from arena.queries.highlights import DealLine
from referee.cli.output import AsJson, note, show
from referee.matches.kinds import FaultKind

deal = typer.Typer(no_args_is_help=True, help="Find notable deals.")

ABSENCES = (
    "absences are not faults: for bots that were absent, and so forfeited sessions, see "
    "`arena tournament standings NAME`"
)
NO_FAULTS = f"no bot has made a fault while it played; {ABSENCES}"

Ruleset = Annotated[
    str | None, typer.Option(help="Only this ruleset: its name, name@version, or the start of its hash.")
]
Size = Annotated[int | None, typer.Option(min=2, max=8, help="Only tables of this size.")]


@deal.callback()
def group() -> None:
    """Find notable deals."""


@deal.command()
def find(
    ctx: typer.Context,
    kind: Annotated[
        HighlightKind,
        typer.Argument(
            help="closest: the fewest points between the best seat and the second; swing: the most points"
            " that a seat won or lost; longest: the most actions; bombs: the most bombs played."
        ),
    ],
    ruleset: Ruleset = None,
    size: Size = None,
    bot: Annotated[
        str | None, typer.Option(metavar="OWNER/BOT[@VERSION]", help="Only deals that this bot played.")
    ] = None,
    tournament: Annotated[str | None, typer.Option(help="Only deals of this tournament.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST_PAGE, help="Show at most this many deals.")] = 20,
    cursor: Cursor = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Find notable deals, at most one of each session, and the commands that show them.

    Deals that other tables of a duplicate tournament still have to play are left out.
    """
    asked = (kind, ruleset, size, bot, tournament)
    page = answer(
        ctx,
        lambda storage: highlights.find_deals(storage, highlights.Asked(*asked), limit, cursor),
        lambda arena: arena.send(api.results.find_deals(*asked, limit, cursor)),
    )
    names = {"names": "bots"}
    if not print_list(
        "deals", DealLine, page.lines, as_json=as_json, as_csv=as_csv, next=page.next, names=names
    ):
        rows = [(one.value, one.ruleset, _points(one), _shown_by(one)) for one in page.lines]
        show([f">{kind.value}", "ruleset", "points by seat", "show it with"], rows, "no such deals")
        say_next(page.next)


def _points(line: DealLine) -> str:
    return ", ".join(f"{name} {points:+d}" for name, points in zip(line.names, line.points, strict=True))


def _shown_by(line: DealLine) -> str:
    """Return the command that shows a deal."""
    place = f"{line.tournament} {line.round} {line.table} --session {line.session} --deal {line.deal}"
    return f"arena match show {place}"


def faults_(
    ctx: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Only bots of this owner.")] = None,
    ruleset: Ruleset = None,
    size: Size = None,
    kind: Annotated[FaultKind | None, typer.Option(help="Only faults of this kind.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=LARGEST_PAGE, help="Show at most this many bot versions.")
    ] = 50,
    cursor: Cursor = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List bot versions with faults, the most first, in rated and unrated matches."""
    asked = (owner, ruleset, size, kind)
    page = answer(
        ctx,
        lambda storage: faults.faults_by_bot(storage, faults.Asked(*asked), limit, cursor),
        lambda arena: arena.send(api.bots.list_faults(*asked, limit, cursor)),
    )
    names = {"name": "bot"}
    if not print_list(
        "bots", FaultsLine, page.lines, as_json=as_json, as_csv=as_csv, next=page.next, names=names
    ):
        rows = [(one.name, one.faults, *(getattr(one, of.value) or "" for of in KINDS)) for one in page.lines]
        show(["bot version", ">faults", *(f">{of.value}" for of in KINDS)], rows, NO_FAULTS)
        if rows:
            note(ABSENCES)
        say_next(page.next)
