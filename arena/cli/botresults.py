"""Results of bots, as ``arena bot show``, ``history``, ``versus``, ``faults``, ``crosstable``; deals."""

from collections.abc import Sequence
from itertools import groupby

import typer

from arena.bots.estimates import Estimates
from arena.cli.doors import command_of
from arena.cli.leaderboard import show_leaderboards
from arena.cli.results import show_matches
from arena.core.luck import luck_told, share_told
from arena.operations import bots, results
from arena.queries.board import LeaderboardLine
from arena.queries.faults import KINDS, FaultsPage
from arena.queries.highlights import MADE, DealLine, DealPage
from arena.queries.histories import HistoryLine, HistoryPage
from arena.queries.luck import DealPoints
from arena.queries.meetings import CrossLine, Crosstable, Met
from arena.queries.profiles import Profile, SeatLine
from arena.queries.versus import Versus
from arena.store.models import HighlightKind
from referee.cli.output import console, headline, moment, note, say, show
from referee.cli.tables import in_pages

deal = typer.Typer(
    no_args_is_help=True, help="Find notable deals, what their cards were worth, and what decisions cost."
)

ABSENCES = (
    "absences are not faults: for bots that were absent, and so forfeited sessions, see "
    "`arena tournament standings NAME`"
)
NO_FAULTS = f"no bot has made a fault while it played; {ABSENCES}"


@deal.callback()
def group() -> None:
    """Find notable deals, what their cards were worth, and what decisions cost."""


@deal.command()
@command_of(results.find_deals, metavars={"bot": "OWNER/BOT[@VERSION]"}, csv=True)
def find(page: DealPage, kind: HighlightKind) -> None:
    """Find notable deals, at most one of each session, and the commands that show them.

    Deals that other tables of a duplicate tournament still have to play are left out.
    """
    rows = [(line.value, line.ruleset, _points(line), _shown_by(line)) for line in page.deals]
    show([f">{kind.value}", "ruleset", "points by seat", "show it with"], rows, "no matching deals")


@deal.command()
@command_of(results.show_luck)
def luck(result: DealPoints) -> None:
    """Show a deal's points by seat, what was expected from the cards, and what was made of them."""
    its = result.luck
    expected, made = (None, None) if its is None else (its.expected, its.made)
    lines = zip(result.bots, result.points, _figures(result, expected), _figures(result, made), strict=True)
    rows = [(seat, bot, f"{points:+d}", *more) for seat, (bot, points, *more) in enumerate(lines)]
    show([">seat", "bot version", ">points", ">expected from the cards", ">made of them"], rows, "")
    if its is None or its.expected is None:
        note("not known yet: workers compute what cards were worth when a round is over and no match waits")
        return
    above = " above the mean of the table" if sum(result.points) else ""
    uncounted = "" if its.made else "; not counted, because a bot did not play the deal to its end"
    note(
        f"expected: the fixed bots of {its.reference} played these cards {its.plays} times; of what a seat "
        f"made there above the mean of the table, {its.beta:.0%} came true in earlier deals",
        f"made: the points{above} beyond that{uncounted}",
        "it decides nothing: standings follow the points and scores that were made",
    )


def _figures(deal: DealPoints, values: Sequence[float] | None) -> list[str]:
    """Return figures by seat, nothing where they are not known."""
    return [""] * len(deal.bots) if values is None else [f"{value:+.2f}" for value in values]


@deal.command()
@command_of(results.list_estimates, csv="estimates")
def costs(estimates: Estimates) -> None:
    """Show what decisions of a deal cost, for the seats that somebody asked about, by an estimate."""
    if not estimates.estimates:
        note("no seat was asked about yet: arena deal estimate")
    for estimate in estimates.estimates:
        if estimate.waits or estimate.problem:
            say(f"seat {estimate.seat}: {estimate.problem or 'a worker computes it'}")
            continue
        clear = f"{len(estimate.costly)} of {estimate.decisions} could clearly have been better"
        say(f"seat {estimate.seat}: {clear}, in {estimate.worlds} worlds or more")
        rows = [
            (it.turn, it.played, it.better, f"{it.cost:.2f}", f"{it.plus_minus:.2f}")
            for it in estimate.costly
        ]
        if rows:
            show([">turn", "played", "better", ">cost", ">±"], rows, "")


@deal.command()
@command_of(results.ask_for_estimate)
def estimate(_: Estimates, seat: int) -> None:
    """Ask a worker to estimate what the decisions of a seat cost; it thinks for about eight seconds."""
    say(f"seat {seat}: asked; the answer is shown by: arena deal costs")


def _points(line: DealLine) -> str:
    return ", ".join(f"{name} {points:+d}" for name, points in zip(line.bots, line.points, strict=True))


def _shown_by(line: DealLine) -> str:
    """Return the command that shows a deal, or what was made of its cards."""
    if line.kind in MADE:
        return f"arena deal luck {line.tournament} {line.round} {line.table} {line.session} {line.deal}"
    place = f"{line.tournament} {line.round} {line.table} --session {line.session} --deal {line.deal}"
    return f"arena match show {place}"


@command_of(bots.list_faults, csv=True)
def faults_(page: FaultsPage) -> None:
    """List bot versions with faults, the most first, in rated and unrated matches."""
    rows = [(line.bot, line.faults, *(getattr(line, of.value) or "" for of in KINDS)) for line in page.bots]
    show(["bot version", ">faults", *(f">{of.value}" for of in KINDS)], rows, NO_FAULTS)
    if rows:
        note(ABSENCES)


PLAYED = "rated deals that all bots of the table played"
"""The deals that count for meetings."""
NOT_COUNTED = "for matches in which a bot forfeited, see: arena match list --bot A --opponent B"


@command_of(bots.show_bot, csv="pools")
def show_(profile: Profile, bot: str) -> None:
    """Show a bot: its standing, results by seat, faults, most frequent opponents, and latest matches.

    With --csv: its standing, a line for each version and pool.
    """
    say(f"{profile.bot}: {profile.language or 'language not stated'}, {profile.link or 'no link'}")
    versions = [
        (line.bot, line.language, moment(line.created_at), moment(line.revoked_at))
        for line in profile.versions
    ]
    show(["bot version", "language", "registered", "revoked"], versions, "")
    say("")
    show_leaderboards(profile.pools)
    _show_luck(profile.pools)
    _show_seats(profile.seats)
    if profile.seats:
        note(
            "Counted by seat: points and first in rated deals that all bots of the table played, without a "
            "forfeit; faults and forfeits in all that is rated.",
            "",
        )
    if profile.faults:
        kinds = ", ".join(f"{kind} {count}" for kind, count in profile.faults.items())
        note(f"faults, rated or not: {sum(profile.faults.values())} ({kinds})", "")
    headline(f"Met most, in {PLAYED}")
    show(
        ["bot version", *_MET],
        [(line.bot, *_met(line.met)) for line in profile.opponents],
        f"nobody yet; {NOT_COUNTED}",
    )
    headline("\nLatest matches")
    show_matches(profile.matches, bot)


def _show_luck(lines: Sequence[LeaderboardLine]) -> None:
    lucky = [(line, line.luck) for line in lines if line.luck]
    if lucky:
        headline("Luck taken out (±: in 95 of 100 cases)")
    for line, luck in lucky:
        say(f"{line.bot}, {line.ruleset}, tables of {line.table_size}: {luck_told(luck)}")
        if share := share_told([luck]):
            note(share, "")
    if lucky:
        say("")


def _show_seats(lines: Sequence[SeatLine]) -> None:
    for (ruleset, size), seats in groupby(lines, key=lambda line: (line.ruleset, line.table_size)):
        headline(f"By seat: {ruleset}, tables of {size}")
        rows = [
            (line.seat, line.deals, _signed(line.mean), _spread(line.plus_minus), *_outcome_columns(line))
            for line in seats
        ]
        show([">seat", ">deals", ">points a deal", ">±", ">first", ">faults", ">forfeits"], rows, "")
        say("")


def _outcome_columns(line: SeatLine) -> tuple[object, ...]:
    first = f"{line.first / line.deals:.0%}" if line.deals else ""
    return first, line.faults or "", line.forfeits or ""


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
def versus_(versus: Versus, bot: str, opponent: str) -> None:
    """Show two bots head to head: who finished ahead, points, by seat, by version, latest matches.

    With --csv: who finished ahead, a line for each pool.
    """
    say(f"{bot} against {opponent}, in {PLAYED}:")
    if not versus.pools:
        note(f"none yet; {NOT_COUNTED}")
    pools = [(f"{line.ruleset}, tables of {line.table_size}", *_met(line.met)) for line in versus.pools]
    show(["pool", *_MET], [*pools, ("all", *_met(versus.met))], "")
    if versus.pools:
        say("", "By all deals of both, also against others (±: in 95 of 100 cases):")
        verdicts = [(f"{line.ruleset}, tables of {line.table_size}", line.verdict) for line in versus.pools]
        say(*(f"  {pool}: {it.sentence if it else 'one of them is not rated'}" for pool, it in verdicts))
    if len(versus.versions) > 1:
        headline("\nBy version")
        show(
            ["bot version", "against", *_MET],
            [(line.bot, line.opponent, *_met(line.met)) for line in versus.versions],
            "",
        )
    if versus.seats:
        headline(f"\nBy seat of {bot}, in their latest {versus.sessions} sessions")
        seats = [(line.seat, line.deals, line.ahead, line.behind, f"{line.lead:+d}") for line in versus.seats]
        show([">seat", *_MET[1:]], seats, "")
    headline("\nLatest matches")
    show_matches(versus.matches, bot)


@command_of(results.show_crosstable, metavars={"bot": "OWNER/BOT[@VERSION]..."}, csv="crosstable")
def crosstable_(table: Crosstable, bot: list[str]) -> None:
    """Show how often these bots finished ahead of each other, in each pool in which they met."""
    _show_crosstables(list(dict.fromkeys(bot)), table.crosstable)


def _show_crosstables(bots: Sequence[str], lines: Sequence[CrossLine]) -> None:
    if not lines:
        note(f"these bots have not met in {PLAYED} yet; {NOT_COUNTED}")
    out = console()
    for (ruleset, size), pool in groupby(lines, key=lambda line: (line.ruleset, line.table_size)):
        headline(f"Deals finished before / deals together: {ruleset}, tables of {size}")
        cells = {(line.bot, line.opponent): f"{line.met.ahead}/{line.met.deals}" for line in pool}
        rows = [(at, bot, *(cells.get((bot, o), "·") for o in bots)) for at, bot in enumerate(bots, 1)]
        columns = [f">{at}" for at in range(1, len(bots) + 1)]
        for page in in_pages([">", "finished before"], columns, rows, out.width):
            out.print(page, "")
