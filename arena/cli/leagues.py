"""``arena league …``: a league's file, its members and its standings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import arena.client as api
from arena.cli import remote
from arena.cli.context import actor_at_terminal, answer
from arena.cli.entries import show_invitations, show_requests
from arena.cli.lists import AsCsv, check_form, print_csv
from arena.leagues import admission, applying, membership, overview
from arena.leagues.admission import LeagueEntries
from arena.leagues.answers import Joined
from arena.leagues.changes import Change
from arena.leagues.overview import DivisionShown, LeagueInfo, LeagueShown, SeasonShown
from arena.leagues.schedule import next_start
from arena.leagues.spec import load_league
from arena.models import utc_now
from arena.storage import Storage
from referee.cli.output import MOST, AsJson, headline, moment, number, print_json, renamed, say, show

if TYPE_CHECKING:
    from arena.client import Client

app = typer.Typer(
    no_args_is_help=True,
    help="Manage leagues: divisions, seasons that start by themselves, promotion and relegation.",
)

Name = Annotated[str, typer.Argument(metavar="LEAGUE", help="The league's name.")]
BotName = Annotated[str, typer.Argument(metavar="BOT", help="OWNER/BOT or OWNER/BOT@VERSION.")]


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
    actor, now = actor_at_terminal(), utc_now()

    def there(arena: "Client") -> list[Change]:
        send = api.leagues.apply_league if yes else api.leagues.preview_league
        return arena.send(send(spec.name, spec.to_object())).changes

    made = answer(
        ctx,
        lambda storage: (
            applying.apply(storage, actor, spec, now) if yes else applying.compare(storage, actor, spec)
        ),
        there,
    )
    if as_json:
        print_json({"league": spec.name, "applied": yes, "changes": made})
        return
    say(*map(_change_line, made))
    if any(change.field == "start" for change in made) and spec.start <= now:
        due = next_start(spec.start, spec.interval, now)
        say(f"start is past, so the next season is due at the first time that follows from it: {moment(due)}")
    if not made:
        say(f"{spec.name} already is as the file says: nothing to change")
    elif yes:
        say(f"{spec.name} is changed; see: arena league show {spec.name}")
    else:
        say(f"nothing is changed yet; to change it: arena league apply {file} --yes")


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
def join(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Let a bot play from the next season on, with its newest version then, or always with the one named.

    If joining needs the organiser's approval, this asks for it.
    """

    def here(storage: Storage) -> Joined:
        state = membership.join(storage, actor_at_terminal(), name, bot, utc_now())
        return Joined(name, bot, state, overview.show(storage, name, utc_now()).league.next_at)

    joined = answer(ctx, here, lambda arena: arena.send(api.leagues.join_league(name, bot)))
    if as_json:
        print_json(renamed(joined))
    elif joined.state == "asked":
        say(f"{bot} has asked to join {name}; its organiser answers: arena league entries {name}")
    else:
        say(_joined(joined))


def _joined(joined: Joined) -> str:
    when = f"the next season is due {moment(joined.next_at)}" if joined.next_at else NO_MORE
    return f"{joined.bot} is in {joined.league}; {when}"


NO_MORE = "no other season is planned"


@app.command()
def leave(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Take a bot out of a league from the next season on; it finishes a running one."""
    answer(
        ctx,
        lambda storage: membership.leave(storage, actor_at_terminal(), name, bot, utc_now()),
        lambda arena: _leave(arena, name, bot),
    )
    if as_json:
        print_json({"league": name, "bot": bot})
    else:
        say(f"{bot} has left {name}")


def _leave(arena: "Client", name: str, bot: str) -> None:
    arena.send(api.leagues.leave_league(name, bot))


@app.command()
def invite(
    ctx: typer.Context,
    name: Name,
    invited: Annotated[list[str], typer.Argument(metavar="OWNER|OWNER/BOT...", help="Owners, or bots.")],
    take_back: Annotated[
        bool, typer.Option("--take-back", help="Invite them no longer; those that have joined stay.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let owners, or single bots, join a league that is not open to everybody."""
    actor, now = actor_at_terminal(), utc_now()

    def here(storage: Storage) -> LeagueEntries:
        if not take_back:
            return admission.invite(storage, actor, name, invited, now)
        for one in invited:
            admission.uninvite(storage, actor, name, one, now)
        return admission.list_entries(storage, actor, name)

    def there(arena: "Client") -> LeagueEntries:
        if not take_back:
            return arena.send(api.leagues.invite_members(name, invited))
        for one in invited:
            uninvite = api.leagues.uninvite_member if "/" in one else api.leagues.uninvite_member_owner
            arena.send(uninvite(name, one))
        return arena.send(api.leagues.league_entries(name))

    found = answer(ctx, here, there)
    if as_json:
        print_json(renamed(found))
    else:
        names = ", ".join(one.invited for one in found.invitations)
        say(f"invited to {name}: {names or 'nobody'}")


@app.command()
def entries(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show who is invited to a league, which bots have asked to join it, and what they were answered."""
    found = answer(
        ctx,
        lambda storage: admission.list_entries(storage, actor_at_terminal(), name),
        lambda arena: arena.send(api.leagues.league_entries(name)),
    )
    if as_json:
        print_json(renamed(found))
        return
    say(f"entries: {found.entries}")
    show_invitations(found.invitations)
    show_requests(found.requests, "no bot has asked to join")


@app.command()
def approve(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Approve a bot that has asked to join a league."""

    def here(storage: Storage) -> Joined:
        membership.approve(storage, actor_at_terminal(), name, bot, utc_now())
        return Joined(name, bot, "joined", overview.show(storage, name, utc_now()).league.next_at)

    joined = answer(ctx, here, lambda arena: arena.send(api.leagues.approve_member(name, bot)))
    if as_json:
        print_json(renamed(joined))
    else:
        say(_joined(joined))


@app.command()
def decline(
    ctx: typer.Context,
    name: Name,
    bot: BotName,
    reason: Annotated[str, typer.Option(help="The reason, which its author can read.")],
    as_json: AsJson = False,
) -> None:
    """Decline a bot that has asked to join a league."""
    found = answer(
        ctx,
        lambda storage: admission.decline(storage, actor_at_terminal(), name, bot, reason, utc_now()),
        lambda arena: arena.send(api.leagues.decline_member(name, bot, reason)),
    )
    if as_json:
        print_json({"league": name, **renamed(found)})
    else:
        say(f"{found.bot} is declined: {found.reason}")


@app.command("list")
def list_(ctx: typer.Context, as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List all leagues."""
    check_form(as_json, as_csv)
    found = answer(ctx, overview.list_leagues, lambda arena: arena.send(api.leagues.list_leagues()).leagues)
    if as_json:
        print_json({"leagues": [renamed(one, name="league") for one in found]})
        return
    if as_csv:
        print_csv(LeagueInfo, found, {"name": "league"})
        return
    rows = [
        (one.name, ", ".join(one.divisions), one.members, _season(one), moment(one.next_at), one.problem)
        for one in found
    ]
    columns = ["league", "divisions", ">bots", "season", "next season", "problem"]
    show(columns, rows, "no leagues yet: arena league apply FILE.toml")


def _season(league: LeagueInfo) -> str:
    return f"{league.season} {'running' if league.running else 'finished'}" if league.season else ""


@app.command("show")
def show_(
    ctx: typer.Context,
    name: Name,
    season: Annotated[int | None, typer.Option(min=1, max=MOST, help="Show this earlier season.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a league's divisions as they stand in its latest season, and when the next one is due."""
    found = answer(
        ctx,
        lambda storage: overview.show(storage, name, utc_now(), season),
        lambda arena: remote.league_shown(arena.send(api.leagues.show_league(name, season))),
    )
    if as_json:
        print_json(_object(found))
        return
    league = found.league
    entries = "" if league.entries == "open" else f"; entries: {league.entries}"
    say(f"{name}: {league.members} bots, {', '.join(league.divisions)}{entries}")
    say(f"next season: {moment(league.next_at) or NO_MORE}{f' ({league.problem})' if league.problem else ''}")
    if found.season:
        say(_dates(found.season))
        for division in found.season.divisions:
            _show_division(division)
    if season is None:
        _show_outside(found)


def _object(found: LeagueShown) -> dict[str, object]:
    return {
        **renamed(found.league, name="league"),
        "seasons": [_season_object(found.season)] if found.season else [],
        "outside": [renamed(one, name="bot") for one in found.outside],
    }


def _season_object(season: SeasonShown) -> dict[str, object]:
    divisions = [
        {**renamed(one, name="division"), "lines": [renamed(line, name="bot") for line in one.lines]}
        for one in season.divisions
    ]
    return {**renamed(season, number="season"), "divisions": divisions}


def _dates(season: SeasonShown) -> str:
    end = f"finished {moment(season.finished_at)}" if season.finished_at else "running"
    return f"season {season.number}: started {moment(season.started_at)}, {end}"


def _show_division(division: DivisionShown) -> None:
    played = f"{division.tournament}, {division.state}" if division.tournament else "too few for a table"
    headline(f"\n{division.name} ({played})")
    rows = [
        (one.rank, one.name, _number(one.score), _number(one.points), one.came.value, one.goes)
        for one in division.lines
    ]
    show([">", "bot version", ">score", ">points", "came", "goes"], rows, "nobody")


def _number(value: float | None) -> str:
    return "" if value is None else number(value)


def _show_outside(found: LeagueShown) -> None:
    if found.outside:
        headline("\nwithout a place")
        show(["bot", ""], [(one.name, one.problem or "from the next season on") for one in found.outside], "")


@app.command()
def history(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """List a league's seasons, the latest first: who won, who was promoted and who was relegated."""
    seasons = answer(
        ctx,
        lambda storage: overview.history(storage, name, utc_now()),
        lambda arena: arena.send(api.leagues.league_history(name)).seasons,
    )
    if as_json:
        print_json({"league": name, "seasons": [_season_object(one) for one in seasons]})
        return
    rows = [
        (
            season.number,
            moment(season.started_at),
            moment(season.finished_at) or "running",
            season.divisions[0].lines[0].name,
            ", ".join(_going(season, "promoted")),
            ", ".join(_going(season, "relegated")),
        )
        for season in seasons
    ]
    columns = [">season", "started", "finished", "first", "go up", "go down"]
    show(columns, rows, "no season has started yet")


def _going(season: SeasonShown, where: str) -> list[str]:
    return [one.member for division in season.divisions for one in division.lines if one.goes == where]
