"""Results of bots: ``arena bot show``, ``history``, ``versus``, ``faults``, ``crosstable``, ``deal find``."""

from collections.abc import Sequence
from itertools import groupby

import typer

from arena.cli.doors import command_of
from arena.cli.leaderboard import show_leaderboards
from arena.cli.results import show_matches
from arena.operations import bots, results
from arena.queries.faults import KINDS, FaultsPage
from arena.queries.highlights import DealLine, DealPage
from arena.queries.histories import HistoryLine, HistoryPage
from arena.queries.meetings import CrossLine, Crosstable, Met
from arena.queries.profiles import Profile, SeatLine
from arena.queries.versus import Versus
from arena.store.models import HighlightKind
from referee.cli.output import console, headline, moment, note, say, show
from referee.cli.tables import in_pages

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


PLAYED = "rated deals that all bots of the table played"
"""The deals that count for meetings."""
NOT_COUNTED = "for matches in which a bot forfeited, see: arena match list --bot A --opponent B"


@command_of(bots.show_bot, csv="pools")
def show_(found: Profile, bot: str) -> None:
    """Show a bot: its standing, results by seat, faults, most frequent opponents, and latest matches.

    With --csv: its standing, a line for each version and pool.
    """
    say(f"{found.bot}: {found.language or 'no language told'}, {found.link or 'no link'}")
    versions = [
        (one.bot, one.language, moment(one.created_at), moment(one.revoked_at)) for one in found.versions
    ]
    show(["bot version", "language", "registered", "revoked"], versions, "")
    say("")
    show_leaderboards(found.pools)
    _show_seats(found.seats)
    if found.seats:
        note(
            "Counted by seat: points and first in rated deals that all bots of the table played, without a "
            "forfeit; faults and forfeits in all that is rated.",
            "",
        )
    if found.faults:
        kinds = ", ".join(f"{kind} {count}" for kind, count in found.faults.items())
        note(f"faults, rated or not: {sum(found.faults.values())} ({kinds})", "")
    headline(f"Met most, in {PLAYED}")
    show(
        ["bot version", *_MET],
        [(one.bot, *_met(one.met)) for one in found.opponents],
        f"nobody yet; {NOT_COUNTED}",
    )
    headline("\nLatest matches")
    show_matches(found.matches, bot)


def _show_seats(lines: Sequence[SeatLine]) -> None:
    for (ruleset, size), seats in groupby(lines, key=lambda one: (one.ruleset, one.table_size)):
        headline(f"By seat: {ruleset}, tables of {size}")
        rows = [
            (one.seat, one.deals, _signed(one.mean), _spread(one.plus_minus), *_rest(one)) for one in seats
        ]
        show([">seat", ">deals", ">points a deal", ">±", ">first", ">faults", ">forfeits"], rows, "")
        say("")


def _rest(one: SeatLine) -> tuple[object, ...]:
    first = f"{one.first / one.deals:.0%}" if one.deals else ""
    return first, one.faults or "", one.forfeits or ""


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f}"


def _spread(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


_MET = [">matches", ">deals", ">before", ">behind", ">points ahead"]
"""Columns of ``_met``."""


def _met(met: Met) -> tuple[object, ...]:
    return met.matches, met.deals, met.ahead, met.behind, f"{met.lead:+d}"


@command_of(bots.show_history, csv=True)
def history_(page: HistoryPage) -> None:
    """List how a bot's Elo changed by matches and its strength by fits, the latest change first."""
    columns = ["when", "bot version", "pool", "match", ">Elo", ">change", ">strength", ">95 %", ">deals"]
    show(columns, list(map(_history_row, page.history)), "nothing has changed yet: no round is closed")


def _history_row(line: HistoryLine) -> tuple[object, ...]:
    pool = f"{line.ruleset}, {line.table_size}"
    if line.rating is not None and line.change is not None:
        where = f"{line.tournament}/{line.round}/{line.table}"
        elo = f"{line.rating:.0f}", f"{line.change:+.1f}"
        return moment(line.at), line.bot, pool, where, *elo, "", "", ""
    strength = f"{line.figure:.0f}", f"{line.figure_low:.0f}-{line.figure_high:.0f}"
    return moment(line.at), line.bot, pool, "", "", "", *strength, line.deals


@command_of(bots.show_versus, metavars={"opponent": "OWNER/BOT[@VERSION]"}, csv="pools")
def versus_(found: Versus, bot: str, opponent: str) -> None:
    """Show two bots head to head: who finished ahead, points, by seat, by version, latest matches.

    With --csv: who finished ahead, a line for each pool.
    """
    say(f"{bot} against {opponent}, in {PLAYED}:")
    if not found.pools:
        note(f"none yet; {NOT_COUNTED}")
    pools = [(f"{one.ruleset}, tables of {one.table_size}", *_met(one.met)) for one in found.pools]
    show(["pool", *_MET], [*pools, ("all", *_met(found.met))], "")
    if found.pools:
        say("", "By all deals of both, also against others (±: in 95 of 100 cases):")
        verdicts = [(f"{one.ruleset}, tables of {one.table_size}", one.verdict) for one in found.pools]
        say(
            *(f"  {pool}: {told.sentence if told else 'one of them is not rated'}" for pool, told in verdicts)
        )
    if len(found.versions) > 1:
        headline("\nBy version")
        show(
            ["bot version", "against", *_MET],
            [(one.bot, one.opponent, *_met(one.met)) for one in found.versions],
            "",
        )
    if found.seats:
        headline(f"\nBy seat of {bot}, in their latest {found.sessions} sessions")
        seats = [(one.seat, one.deals, one.ahead, one.behind, f"{one.lead:+d}") for one in found.seats]
        show([">seat", *_MET[1:]], seats, "")
    headline("\nLatest matches")
    show_matches(found.matches, bot)


@command_of(results.show_crosstable, metavars={"bot": "OWNER/BOT[@VERSION]..."}, csv="crosstable")
def crosstable_(found: Crosstable, bot: list[str]) -> None:
    """Show how often these bots finished ahead of each other, in each pool in which they met."""
    _show_crosstables(list(dict.fromkeys(bot)), found.crosstable)


def _show_crosstables(bots: Sequence[str], lines: Sequence[CrossLine]) -> None:
    if not lines:
        note(f"these bots have not met in {PLAYED} yet; {NOT_COUNTED}")
    out = console()
    for (ruleset, size), pool in groupby(lines, key=lambda line: (line.ruleset, line.table_size)):
        headline(f"Deals finished before / deals together: {ruleset}, tables of {size}")
        cells = {(line.bot, line.opponent): f"{line.met.ahead}/{line.met.deals}" for line in pool}
        rows = [(at, bot, *(cells.get((bot, one), "·") for one in bots)) for at, bot in enumerate(bots, 1)]
        columns = [f">{at}" for at in range(1, len(bots) + 1)]
        for page in in_pages([">", "finished before"], columns, rows, out.width):
            out.print(page, "")
