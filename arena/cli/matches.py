"""``arena match list``: finished matches."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

import arena.client as api
from arena.cli.context import answer
from arena.cli.lists import LARGEST_PAGE, AsCsv, Cursor, moment_of, print_list, say_next
from arena.queries.matches import Asked, MatchLine, Result, find_matches
from referee.cli.output import MOST, AsJson, change, moment, show

MATCH_KEYS = {"names": "bots"}
"""Fields of a match with other names in JSON."""

BotName = Annotated[str | None, typer.Option(metavar="OWNER/BOT[@VERSION]", help="Only matches of this bot.")]


def list_(
    ctx: typer.Context,
    bot: BotName = None,
    opponent: Annotated[
        str | None, typer.Option(metavar="OWNER/BOT[@VERSION]", help="Only its matches against this one.")
    ] = None,
    ruleset: Annotated[
        str | None, typer.Option(help="Only this ruleset: its name, name@version, or the start of its hash.")
    ] = None,
    tournament: Annotated[str | None, typer.Option(help="Only matches of this tournament.")] = None,
    round: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Only matches of this round of the tournament.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="Only matches that finished then or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="DATE", help="Only matches that finished before.")
    ] = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="Only matches with faults; with --bot, with faults of that bot.")
    ] = False,
    result: Annotated[
        Result | None,
        typer.Option(help="Only matches that the bot won (nobody had more points), or lost."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST_PAGE, help="Show at most this many matches.")] = 50,
    cursor: Cursor = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List finished matches, newest first, with points and changes of Elo."""
    if round is not None and tournament is None:
        raise typer.BadParameter("not given, and --round needs it", param_hint="'--tournament'")
    asked: dict[str, Any] = {
        "bot": bot,
        "opponent": opponent,
        "ruleset": ruleset,
        "tournament": tournament,
        "round": round,
        "since": moment_of(since, "--from") if since else None,
        "until": moment_of(until, "--to") if until else None,
        "faults": faults,
        "result": result,
    }
    if asked["since"] and asked["until"] and asked["since"] >= asked["until"]:
        raise typer.BadParameter(f"{until} is not after --from, which is {since}", param_hint="'--to'")
    page = answer(
        ctx,
        lambda storage: find_matches(storage, Asked(**asked), limit, cursor),
        lambda arena: arena.send(api.results.list_matches(**asked, limit=limit, cursor=cursor)),
    )
    if not print_list(
        "matches", MatchLine, page.lines, as_json=as_json, as_csv=as_csv, next=page.next, names=MATCH_KEYS
    ):
        show_matches(page.lines, bot)
        say_next(page.next)


def show_matches(lines: Sequence[MatchLine], bot: str | None = None) -> None:
    """Print matches; for those of one bot, show its own faults and forfeits next to those of all bots."""
    whose = [None] if bot is None else [bot, None]
    troubles = [("faults", one, [_of(line.names, line.faults, one) for line in lines]) for one in whose]
    if any(sum(line.forfeits) for line in lines):
        troubles += [
            ("forfeits", one, [_of(line.names, line.forfeits, one) for line in lines]) for one in whose
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
    for what, one, _ in troubles:
        columns.append(f">{what}" if bot is None else f">{what} of {'all' if one is None else 'it'}")
    show(columns, rows, "no such matches")


def _where(line: MatchLine) -> tuple[object, ...]:
    return line.tournament, line.round, line.table, line.ruleset


def _of(names: Sequence[str], counts: Sequence[int], bot: str | None) -> int:
    """Return the sum of counts by bot, for all bots or for one, which may be named without a version."""
    told = zip(names, counts, strict=True)
    return sum(count for name, count in told if bot in (None, name, name.partition("@")[0]))


def _points(line: MatchLine) -> str:
    """Return the bots with points and changes of Elo, the best first."""
    changes = line.changes or [None] * len(line.names)
    told = sorted(zip(line.points, line.names, changes, strict=True), key=lambda one: -one[0])
    parts = [
        f"{name} {points:+d}" if moved is None else f"{name} {points:+d} ({change(moved)})"
        for points, name, moved in told
    ]
    return ", ".join(parts)
