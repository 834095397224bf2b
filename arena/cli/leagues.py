"""``arena league …``: a league's file, its members and its standings."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.context import ask, asking
from arena.cli.doors import command_of
from arena.cli.entries import Invited, TakeBack, say_invited, show_entries
from arena.jsonvalues import to_json
from arena.leagues.applying import Change
from arena.leagues.overview import DivisionShown, LeagueInfo, LeagueShown, SeasonShown
from arena.leagues.spec import load_league
from arena.operations import leagues
from arena.operations.leagues import History, Joined, Leagues, Left
from arena.store.models import utc_now
from arena.tournaments.admission import EntriesShown, RequestShown
from referee.cli.output import AsJson, headline, moment, number, print_json, say, show

app = typer.Typer(
    no_args_is_help=True,
    help="Manage leagues: divisions, seasons that start by themselves, promotion and relegation.",
)

Name = Annotated[str, typer.Argument(metavar="LEAGUE", help="The league's name.")]


@app.command()
def apply(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The league as a TOML file.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Make the changes; without this they are only shown.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Create or change a league as a file says, from its next season on; without --yes, show the changes."""
    spec = load_league(file)
    plan = ask(ctx, leagues.apply_league if yes else leagues.preview_league, spec.name, spec)
    if as_json:
        print_json(to_json(plan))
        return
    made, now = plan.changes, utc_now()
    say(*map(_change_line, made))
    if any(change.field == "start" for change in made) and spec.start <= now:
        due = spec.next_start(now)
        say(f"start is past, so the next season is due at the first time that follows from it: {moment(due)}")
    if not made:
        say(f"{spec.name} already is as the file says: nothing to change")
    elif yes:
        say(f"{spec.name} is changed; see: arena league show {spec.name}")
    else:
        say(f"preview only; to apply: arena league apply {file} --yes")


def _change_line(change: Change) -> str:
    if change.before is None:
        return f"+ {change.field}: {_text(change.after)}"
    if change.after is None:
        return f"- {change.field}: {_text(change.before)}"
    return f"~ {change.field}: {_text(change.before)} → {_text(change.after)}"


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@app.command()
@command_of(leagues.join_league)
def join(joined: Joined) -> None:
    """Let a bot play from the next season on, with its newest version then, or always with the one named.

    If joining needs the organiser's approval, this asks for it.
    """
    if joined.state == "asked":
        name = joined.league
        say(f"{joined.bot} has asked to join {name}; its organiser answers: arena league entries {name}")
    elif joined.state == "invited":
        say(f"{joined.bot} is invited to {joined.league}: its author decides about rated play")
    else:
        say(_joined(joined))


def _joined(joined: Joined) -> str:
    when = f"the next season is due {moment(joined.next_at)}" if joined.next_at else NO_MORE
    return f"{joined.bot} is in {joined.league}; {when}"


NO_MORE = "no other season is planned"


@app.command()
@command_of(leagues.leave_league)
def leave(left: Left) -> None:
    """Take a bot out of a league from the next season on; it finishes a running one."""
    say(f"{left.bot} has left {left.league}")


@app.command()
def invite(
    ctx: typer.Context, name: Name, invited: Invited, take_back: TakeBack = False, as_json: AsJson = False
) -> None:
    """Let owners, or single bots, join a league that is not open to everybody."""
    with asking(ctx) as call:
        if take_back:
            for bot in invited:
                call(leagues.uninvite_member, name, bot)
            entries = call(leagues.league_entries, name)
        else:
            entries = call(leagues.invite_members, name, invited)
    say_invited(entries, as_json)


@app.command()
@command_of(leagues.league_entries)
def entries(page: EntriesShown) -> None:
    """Show who is invited to a league, which bots have asked to join it, and what they were answered."""
    show_entries(page, "no bot has asked to join")


@app.command()
@command_of(leagues.approve_member, metavars={"bot": "BOT"})
def approve(joined: Joined) -> None:
    """Approve a bot that has asked to join a league."""
    say(_joined(joined))


@app.command()
@command_of(leagues.decline_member, options=["reason"], metavars={"bot": "BOT"})
def decline(request: RequestShown) -> None:
    """Decline a bot that has asked to join a league."""
    say(f"{request.bot} is declined: {request.reason}")


@app.command("list")
@command_of(leagues.list_leagues, csv="leagues")
def list_(page: Leagues) -> None:
    """List all leagues."""
    rows = [
        (row.league, ", ".join(row.divisions), row.members, _season(row), moment(row.next_at), row.problem)
        for row in page.leagues
    ]
    columns = ["league", "divisions", ">bots", "season", "next season", "problem"]
    show(columns, rows, "no leagues yet: arena league apply FILE.toml")


def _season(league: LeagueInfo) -> str:
    return f"{league.season} {'running' if league.running else 'finished'}" if league.season else ""


@app.command("show")
@command_of(leagues.show_league)
def show_(league: LeagueShown, season: int | None) -> None:
    """Show a league's divisions as they stand in its latest season, and when the next one is due."""
    entries = "" if league.entries == "open" else f"; entries: {league.entries}"
    say(f"{league.league}: {league.members} bots, {', '.join(league.divisions)}{entries}")
    problem = f" ({league.problem})" if league.problem else ""
    played = ", ".join((*league.formats, *league.rulesets))
    say(f"a season of {played} every {league.interval_hours:g} hours")
    say(f"next season: {moment(league.next_at) or NO_MORE}{problem}")
    for season_line in league.seasons:
        say(_dates(season_line))
        for division in season_line.divisions:
            _show_division(division)
    if season is None:
        _show_outside(league)


def _dates(season: SeasonShown) -> str:
    end = f"finished {moment(season.finished_at)}" if season.finished_at else "running"
    return f"season {season.season}: started {moment(season.started_at)}, {end}"


def _show_division(division: DivisionShown) -> None:
    played = f"{division.tournament}, {division.state}" if division.tournament else "too few for a table"
    headline(f"\n{division.division} ({played})")
    rows = [
        (line.rank, line.bot, _number(line.score), _number(line.points), line.came.value, line.goes)
        for line in division.lines
    ]
    show([">", "bot version", ">score", ">points", "came", "goes"], rows, "nobody")


def _number(value: float | None) -> str:
    return "" if value is None else number(value)


def _show_outside(league: LeagueShown) -> None:
    if league.outside:
        headline("\nwithout a place")
        show(["bot", ""], [(row.bot, row.problem or "from the next season on") for row in league.outside], "")


@app.command()
@command_of(leagues.league_history)
def history(past: History) -> None:
    """List a league's seasons, the latest first: who won, who was promoted and who was relegated."""
    rows = [
        (
            season.season,
            moment(season.started_at),
            moment(season.finished_at) or "running",
            season.divisions[0].lines[0].bot,
            ", ".join(_going(season, "promoted")),
            ", ".join(_going(season, "relegated")),
        )
        for season in past.seasons
    ]
    columns = [">season", "started", "finished", "first", "go up", "go down"]
    show(columns, rows, "no season has started yet")


def _going(season: SeasonShown, where: str) -> list[str]:
    return [line.member for division in season.divisions for line in division.lines if line.goes == where]
