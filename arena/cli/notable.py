"""``arena deal find`` and ``arena bot faults``: notable deals, and bots with faults."""

import typer

from arena.cli.doors import command_of
from arena.operations import bots, results
from arena.queries.faults import KINDS, FaultsPage
from arena.queries.highlights import DealLine, DealPage
from arena.store.models import HighlightKind
from referee.cli.output import note, show

deal = typer.Typer(no_args_is_help=True, help="Find notable deals.")

ABSENCES = (
    "absences are not faults: for bots that were absent, and so forfeited sessions, see "
    "`arena tournament standings NAME`"
)
NO_FAULTS = f"no bot has made a fault while it played; {ABSENCES}"


@deal.callback()
def group() -> None:
    """Find notable deals."""


@deal.command()
@command_of(results.find_deals, metavars={"bot": "OWNER/BOT[@VERSION]"}, csv=True)
def find(page: DealPage, kind: HighlightKind) -> None:
    """Find notable deals, at most one of each session, and the commands that show them.

    Deals that other tables of a duplicate tournament still have to play are left out.
    """
    rows = [(one.value, one.ruleset, _points(one), _shown_by(one)) for one in page.deals]
    show([f">{kind.value}", "ruleset", "points by seat", "show it with"], rows, "no such deals")


def _points(line: DealLine) -> str:
    return ", ".join(f"{name} {points:+d}" for name, points in zip(line.bots, line.points, strict=True))


def _shown_by(line: DealLine) -> str:
    """Return the command that shows a deal."""
    place = f"{line.tournament} {line.round} {line.table} --session {line.session} --deal {line.deal}"
    return f"arena match show {place}"


@command_of(bots.list_faults, csv=True)
def faults_(page: FaultsPage) -> None:
    """List bot versions with faults, the most first, in rated and unrated matches."""
    rows = [(one.bot, one.faults, *(getattr(one, of.value) or "" for of in KINDS)) for one in page.bots]
    show(["bot version", ">faults", *(f">{of.value}" for of in KINDS)], rows, NO_FAULTS)
    if rows:
        note(ABSENCES)
