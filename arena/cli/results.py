"""Results: matches, deal by deal too, crosstables, and the check of ratings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.cli.context import Force, ask, asking
from arena.cli.doors import command_of
from arena.cli.linefiles import write_lines
from arena.core.canonical import json_line
from arena.core.seating import balance, seatings
from arena.errors import StateError, UnknownError
from arena.jsonvalues import to_json
from arena.operations import entries, leaderboards, results
from arena.queries.luck import ReferenceCheckInfo
from arena.queries.matches import MatchLine, MatchPage
from arena.queries.scoreboard import CrosstableMatrix
from arena.queries.sessions import PlayedMatch
from referee.cli.deals import show_deal
from referee.cli.output import MOST, AsJson, change, console, headline, moment, print_json, say, show
from referee.cli.tables import in_pages
from referee.cli.tables import table as make_table
from referee.matches.match import MAX_SESSIONS

Records = Mapping[int, Sequence[Mapping[str, Any]]]
"""By the number of a session the records of its deals; empty while they are withheld."""

SEATINGS = 120
"""Maximum number of sessions whose seatings are shown."""

match = typer.Typer(no_args_is_help=True, help="List and show matches, and their seatings.")
rating = typer.Typer(no_args_is_help=True, help="Recompute and check the ratings.")


@match.command("list")
@command_of(
    results.list_matches,
    flags={"since": "--from", "until": "--to"},
    metavars=dict.fromkeys(("bot", "opponent"), "OWNER/BOT[@VERSION]"),
    csv=True,
)
def list_(page: MatchPage, bot: str | None) -> None:
    """List finished matches, newest first, with points and changes of Elo."""
    show_matches(page.matches, bot)


def show_matches(lines: Sequence[MatchLine], bot: str | None = None) -> None:
    """Print matches; for those of one bot, show its own faults and forfeits next to those of all bots."""
    whose = [None] if bot is None else [bot, None]
    troubles = [("faults", name, [_of(line.bots, line.faults, name) for line in lines]) for name in whose]
    if any(sum(line.forfeits) for line in lines):
        troubles += [
            ("forfeits", name, [_of(line.bots, line.forfeits, name) for line in lines]) for name in whose
        ]
    rows = [
        (
            moment(line.finished_at),
            *_where(line),
            _points(line),
            *(counts[at] or "" for *_, counts in troubles),
        )
        for at, line in enumerate(lines)
    ]
    columns = ["finished", "tournament", ">round", ">table", "ruleset", "points (change of Elo)"]
    for what, name, _ in troubles:
        columns.append(f">{what}" if bot is None else f">{what} of {'all' if name is None else 'it'}")
    show(columns, rows, "no such matches")


def _where(line: MatchLine) -> tuple[object, ...]:
    return line.tournament, line.round, line.table, line.ruleset


def _of(names: Sequence[str], counts: Sequence[int], bot: str | None) -> int:
    """Return the sum of counts by bot, for all bots or for one, which may be named without a version."""
    by_bot = zip(names, counts, strict=True)
    return sum(count for name, count in by_bot if bot in (None, name, name.partition("@")[0]))


def _points(line: MatchLine) -> str:
    """Return the bots with points and changes of Elo, the best first."""
    changes = line.changes or [None] * len(line.bots)
    ranked = sorted(zip(line.points, line.bots, changes, strict=True), key=lambda pair: -pair[0])
    parts = [
        f"{name} {points:+d}" if moved is None else f"{name} {points:+d} ({change(moved)})"
        for points, name, moved in ranked
    ]
    return ", ".join(parts)


def show_crosstable(crossed: CrosstableMatrix) -> None:
    """Print in how many of their common deals the bot in the row finished ahead of the one in the column."""
    out, first = console(), crossed.offset + 1
    rows = [
        (place, name, *map(_cell, *counts))
        for place, (name, *counts) in enumerate(
            zip(crossed.bots, crossed.before, crossed.deals, strict=True), start=first
        )
    ]
    headline("\nCrosstable: deals finished before / deals together")
    columns = [f">{place}" for place in range(first, first + len(rows))]
    for page in in_pages([">", "finished before"], columns, rows, out.width):
        out.print(page, "")
    last = crossed.offset + len(rows)
    if len(rows) < crossed.entrants:
        say(f"places {first} to {last} of {crossed.entrants}")


def _cell(before: int | None, deals: int | None) -> str:
    if deals is None:
        return "·"
    return f"{before}/{deals}" if deals else "-"


@match.command("show")
def show_match(
    ctx: typer.Context,
    tournament: Annotated[str, typer.Argument(help="The tournament's name.")],
    round: Annotated[int, typer.Argument(min=1, max=MOST, help="The round, from 1.")],
    table: Annotated[int, typer.Argument(min=1, max=MOST, help="The table in the round, from 1.")],
    session: Annotated[
        int | None, typer.Option(help="The session whose deal is shown; by default the first.")
    ] = None,
    deal: Annotated[int | None, typer.Option(help="The deal that is shown; by default the first.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a match, and one of its deals: hands, tricks, points. With --session or --deal, only that deal.

    Deals that other tables of a duplicate tournament still have to play are not shown, nor their points.
    """
    place = tournament, round, table
    with asking(ctx) as call:
        summary = call(results.show_match, *place)
        numbers = [] if summary.withheld else [played.session for played in summary.sessions]
        records: Records = {
            number: call(results.list_deals, *place, number, MOST).deals for number in numbers
        }
    if as_json:
        print_json(match_object(summary, records))
        return
    is_summary = session is None and deal is None
    if summary.withheld and not is_summary:
        raise StateError(summary.withheld)
    numbers_shown = (1 if number is None else number for number in (session, deal))
    record = _record(records, *numbers_shown) if records else None
    if is_summary:
        _show_summary(summary, records)
    if summary.withheld:
        say(summary.withheld)
    if record is not None:
        show_deal(record, console())
        say("another one: --session N --deal N")


def match_object(match: PlayedMatch, records: Records) -> dict[str, object]:
    """Return a match as an object for JSON, with the ruleset only once instead of in each record."""
    fields: dict[str, Any] = to_json(match)
    for session in fields["sessions"]:
        deals = records.get(session["session"], ())
        session["records"] = [{name: deal[name] for name in deal if name != "ruleset"} for deal in deals]
    return fields


def _record(records: Records, session: int, deal: int) -> Mapping[str, Any]:
    if session not in records:
        done = ", ".join(map(str, records))
        raise UnknownError(f"no session {session} is done in this match; done: {done}")
    deals = records[session]
    if not 1 <= deal <= len(deals):
        raise UnknownError(f"no deal {deal} in session {session}: it has {len(deals)}")
    return deals[deal - 1]


def _show_summary(view: PlayedMatch, records: Records) -> None:
    problem = f" ({view.problem})" if view.problem else ""
    headline(f"{view.tournament}, round {view.round}, table {view.table}: {view.state}{problem}")
    out, fixed = console(), [">session", ">deals", ">faults"]
    called = list(view.bots)
    columns, rows = _sessions(view, called)
    if not make_table([*fixed, *columns], rows).fits(out.width):
        called = [f"bot {number}" for number in range(1, len(view.bots) + 1)]
        columns, rows = _sessions(view, called)
        say(*(f"{short}: {name}" for short, name in zip(called, view.bots, strict=True)), "")
    for page in in_pages(fixed, columns, rows, out.width):
        out.print(page, "")
    if any(any(played.faults) for played in view.sessions):
        out.print(make_table(["faults of", ">all", "kinds", "sessions"], _faults(view, records)), "")


def _sessions(view: PlayedMatch, called: Sequence[str]) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of the sessions; ``called`` names the bots by position at the table."""
    name_of = dict(zip(view.bots, called, strict=True))
    forfeits = any(played.forfeits for played in view.sessions)
    rows: list[list[object]] = []
    for played in view.sessions:
        points = dict(zip(played.bots, played.points or ("-",) * len(played.bots), strict=True))
        row: list[object] = [
            played.session,
            "-" if played.deal_points is None else len(played.deal_points),
            sum(played.faults),
            *(points[name] for name in view.bots),
        ]
        forfeit = ", ".join(name_of[played.bots[seat]] for seat in played.forfeits)
        rows.append([*row, forfeit] if forfeits else row)
    if view.points is not None:
        deals = "-" if view.withheld else sum(len(played.deal_points or ()) for played in view.sessions)
        total: list[object] = ["all", deals, "", *view.points]
        rows.append([*total, ""] if forfeits else total)
    return [*(f">{name}" for name in called), *(["forfeit"] if forfeits else [])], rows


def _faults(view: PlayedMatch, records: Records) -> Iterator[tuple[object, ...]]:
    """Yield, for each bot with faults, their number, kinds and sessions."""
    for name in view.bots:
        sessions, kinds = [], Counter[str]()
        for played in view.sessions:
            seat = played.bots.index(name)
            if played.faults[seat]:
                sessions.append(f"{played.session}: {played.faults[seat]}")
            for record in records.get(played.session, ()):
                faults: Any = record.get("faults", ())
                kinds.update(fault["kind"] for fault in faults if fault["seat"] == seat)
        count = sum(played.faults[played.bots.index(name)] for played in view.sessions)
        if count:
            counted = ", ".join(f"{kind} {times}" for kind, times in sorted(kinds.items()))
            yield name, count, counted, ", ".join(sessions)


@match.command()
def seating(
    size: Annotated[int, typer.Argument(min=2, max=8, help="Bots at the table.")],
    sessions: Annotated[int, typer.Argument(min=1, max=MAX_SESSIONS, help="Sessions in the match.")],
    duplicate: Annotated[
        bool, typer.Option("--duplicate", help="Show the seating of a duplicate tournament.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show who sits where in the sessions of a match, and how even the seating is."""
    drawn = seatings(size, sessions, duplicate=duplicate)
    even = balance(drawn)
    if as_json:
        print_json({"seatings": drawn, "seats": even.seats, "after": even.after})
        return
    heads = [f">seat {seat}" for seat in range(size)]
    rows = [
        (number, *(position + 1 for position in row)) for number, row in enumerate(drawn[:SEATINGS], start=1)
    ]
    console().print(make_table([">session", *heads], rows), "")
    if sessions > SEATINGS:
        say(f"… and {sessions - SEATINGS} more (--json shows all)", "")
    for what, (least, most) in (
        ("has each seat", even.seat_spread),
        ("plays after each other bot", even.neighbour_spread),
    ):
        say(f"a bot {what} {least if least == most else f'{least} to {most}'} times")


@rating.command()
def rebuild(
    ctx: typer.Context,
    mend: Annotated[bool, typer.Option("--mend", help="Correct what differs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Recompute all ratings, sums and tallies from the deals, and compare them with those stored.

    Exits with status 1 if anything differs. With --mend, ratings that differ from the sum of their changes
    are corrected, and so are sums and tallies. The changes themselves are never altered; wrong ones are
    reported. Tournaments may be running; they do not have to wait.
    """
    from arena.operations import operator  # with the checks of `arena doctor`, which take long to load

    result = ask(ctx, operator.mend_ratings if mend else operator.check_ratings)
    if as_json:
        print_json(to_json(result))
    else:
        mended = f"; {result.mended} were wrong and have been corrected" if result.mended else ""
        say(
            f"failed: {result.problem}"
            if result.problem is not None
            else f"ok: {result.ratings} ratings in {result.pools} pools follow from {result.matches} "
            f"matches{mended}"
        )
    if result.problem is not None:
        raise typer.Exit(1)


@rating.command()
def export(
    ctx: typer.Context,
    ruleset: Annotated[
        str | None, typer.Option(help="Ruleset of the pool; by default that with most matches.")
    ] = None,
    table_size: Annotated[int | None, typer.Option(min=2, max=8, help="How many sit at a table.")] = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write; the default is standard output.")
    ] = None,
    force: Force = False,
) -> None:
    """Write the board of a pool as a file that `arena verify` checks, with the exports of its tournaments."""
    board = ask(ctx, leaderboards.export_board, ruleset, table_size)
    text = json_line(to_json(board))
    if output is None:
        print(text)
        return
    write_lines(output, [text], force=force)
    say(f"{board.ruleset}: {len(board.bots)} bots and {len(board.rounds)} rounds written to {output}")


@rating.command()
def references(
    ctx: typer.Context,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Let workers compute again what they have done, and correct it."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show how far workers are with computing what cards were worth; with --rebuild, have it computed again.

    Workers do it when no match waits for them. The exit status is 1 if the latest time that all was computed
    again found anything wrong.
    """
    from arena.operations import operator  # with the checks of `arena doctor`, which take long to load

    progress = ask(ctx, operator.compute_references if rebuild else operator.references)
    check = progress.check
    if as_json:
        print_json(to_json(progress))
    else:
        say(f"{progress.reference}: {progress.deals:,} rated deals are done")
        since = f", the oldest since {moment(progress.oldest)}" if progress.oldest else ""
        say(f"waiting: {progress.sessions:,} sessions in {progress.rounds:,} rounds that have ended{since}")
        if check is not None:
            _say_check(check)
    if check is not None and (check.wrong or check.betas or check.problem):
        raise typer.Exit(1)


def _say_check(check: ReferenceCheckInfo) -> None:
    """Print how far workers are with computing everything again, and what was wrong."""
    say(
        f"{'computed again' if check.ended_at else 'being computed again'}, asked for "
        f"{moment(check.asked_at)}: {check.deals:,} deals in {check.sessions:,} sessions"
    )
    if check.wrong or check.betas:
        corrected = f"{check.wrong:,} sessions and beta of {check.betas:,} rounds"
        say(f"wrong: {corrected} were wrong and have been corrected, and {check.mended:,} sums with them")
    if check.problem:
        say(f"failed: {check.problem}")


@rating.command()
def baseline(
    ctx: typer.Context,
    bots: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OWNER/BOT[@VERSION]]...", help="Bots, or versions of them."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove them from the baselines.")] = False,
    enter: Annotated[
        list[str] | None,
        typer.Option(metavar="TOURNAMENT", help="Enter them into this tournament; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make bot versions baselines, whose mean strength is 1500 in each pool; list the baselines.

    In a pool without baselines, the mean strength of the bots that are not provisional is 1500. A house bot,
    such as house/sage, need not be registered: `arena up` runs those that are baselines.
    """
    for option, is_given in (("--remove", remove), ("--enter", bool(enter))):
        if is_given and not bots:
            raise typer.BadParameter("name at least one bot", param_hint=f"'{option}'")
    if remove and enter:
        raise typer.BadParameter("is for bots that become baselines", param_hint="'--enter'")
    change = leaderboards.remove_baselines if remove else leaderboards.add_baselines
    with asking(ctx) as call:
        page = call(change, bots) if bots else call(leaderboards.list_baselines)
        for tournament, bot in ((tournament, bot) for tournament in enter or () for bot in bots or ()):
            call(entries.enter_bot, tournament, bot)
    if as_json:
        print_json(to_json(page))
    else:
        show(
            ["baseline"], [(name,) for name in page.baselines], "no baselines: the mean of each pool is 1500"
        )
