"""``arena tournament …``: creating, starting, following and ending tournaments."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena.cli import entries
from arena.cli.context import Yes, ask, asking, client_of, confirm, is_here, settings_of, storage_of
from arena.cli.doors import AsCsv, check_form, command_of, print_csv
from arena.cli.fields import given_fields, with_fields
from arena.cli.standings import confirm as confirm_results
from arena.cli.standings import correct, standings
from arena.cli.watch import follow, follow_there, progress_text
from arena.core.specs import (
    TournamentFields,
    TournamentSpec,
    entrants_asked_for,
    load_spec,
    located,
    make_changes,
    make_spec,
)
from arena.errors import ArenaError, SpecError, StateError
from arena.jsonvalues import to_json
from arena.operations import tournaments
from arena.operations.tournaments import Changed
from arena.queries.tournaments import TournamentPage
from arena.store.models import utc_now
from arena.tournaments import creation, overview
from arena.tournaments.changing import SETTLED
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import asker
from arena.tournaments.roster import RosterLine
from referee.cli.output import AsJson, console, headline, moment, print_json, say, show, warn
from referee.cli.tables import table
from referee.errors import Problem

MOST_LISTED = 50
"""Up to this many entrants are all listed; of more, only those with remarks."""


def show_progress(status: TournamentStatus) -> None:
    """Print how far a tournament has come."""
    matches = f"{status.matches_done} of {status.matches_total} matches"
    say(f"progress: {progress_text(status)}; {matches} paired so far are played")
    times = [
        f"{what} {moment(at)}"
        for what, at in (
            ("created", status.created_at),
            ("started", status.started_at),
            ("ended", status.finished_at),
        )
        if at is not None
    ]
    say(", ".join(times))
    if status.problem is not None:
        say(f"problem: {status.problem}")


def show_fields(fields: TournamentFields) -> None:
    """Print the settings of a tournament, in the form of its file."""
    named = {name: _setting(value) for name, value in fields.model_dump().items()}
    say("")
    console().print(table(["setting", "value"], list(named.items())))


def _setting(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {part}" for name, part in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return "not set" if value in (None, "") else str(value)


def show_roster(lines: Sequence[RosterLine]) -> None:
    """Print the entrants, and which of them are missing or cannot play."""
    say("")
    playing = [line for line in lines if line.withdrawn_after is None]
    connected = sum(line.connected is True for line in playing)
    reported = any(line.connected is not None for line in playing)
    headline(f"{len(lines)} entrants{f', {connected} of {len(playing)} connected' if reported else ''}")
    listed = lines if len(lines) <= MOST_LISTED else [line for line in lines if _standing(line)]
    rows = [(line.number, line.bot, _standing(line)) for line in listed[:MOST_LISTED]]
    if rows:
        console().print(table([">", "bot version", "state"], rows))
    if len(rows) < len(lines):
        say(f"{len(lines) - len(rows)} others are not listed; --json has all")


def _standing(line: RosterLine) -> str:
    """Return the remarks on an entrant; empty if there are none."""
    parts = [line.problem or ("connected" if line.connected and not line.absences else "")]
    if line.entered_at_round > 1:
        parts.append(f"entered in round {line.entered_at_round}")
    parts += [
        f"missed round{'s' if first < last else ''} {first}{f' to {last}' if first < last else ''}"
        for first, last in line.absences
    ]
    if line.forfeits:
        parts.append(f"forfeited {line.forfeits} session{'s' if line.forfeits > 1 else ''}")
    if line.withdrawn_after is not None:
        parts.append(f"withdrew after round {line.withdrawn_after}")
    return ", ".join(filter(None, parts))


app = typer.Typer(no_args_is_help=True, help="Create, start, follow and end tournaments.")

Name = Annotated[str, typer.Argument(metavar="TOURNAMENT", help="The tournament's name.")]


@app.command()
@with_fields
def create(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE.toml", help="The tournament as a TOML file.")
    ] = None,
    start: Annotated[bool, typer.Option("--start", help="Start it at once.")] = False,
    as_json: AsJson = False,
    **fields: object,
) -> None:
    """Create a tournament from a file, from options, or from both: options override the file's fields.

    With a file, an option replaces the whole field of that name: all `--entrant` together replace the file's
    `entrants`, and all `--option` its `options`.
    """
    options = given_fields(fields)
    spec = _requested_spec(ctx, file, options)
    if start and spec.beacon:
        text = "a tournament with a beacon is locked first, and started with the beacon's value"
        raise typer.BadParameter(text, param_hint="'--start'")

    try:
        with asking(ctx) as call:
            status = call(tournaments.create_tournament, spec)
            if start:
                with _created(spec.name):
                    status = call(tournaments.start_tournament, spec.name)
    except SpecError as error:
        raise located(file, options, error) if file else error from None
    step = "lock" if status.beacon else "start"
    follow = f"follow it with: arena tournament watch {status.tournament}"
    enough = status.entrants >= status.table_size
    enter = f"enter bots with: arena tournament enter {status.tournament} BOT"
    then = [follow] if start else [f"{step} it with: arena tournament {step} {status.tournament}"]
    _tell(status, as_json, *(then if enough else [enter, *then]))


@contextmanager
def _created(name: str) -> Iterator[None]:
    """Say that the tournament was created if the block, which starts it, fails."""
    try:
        yield
    except (ArenaError, OSError):
        warn(f"{name} is created, but not started")
        raise


def _requested_spec(ctx: typer.Context, file: Path | None, options: Mapping[str, object]) -> TournamentSpec:
    """Return the tournament that is requested.

    Raise SpecError, which includes problems with the entrants if there is an arena that knows them.
    """
    try:
        return load_spec(file, options) if file else make_spec(options, Path())
    except SpecError as error:
        problems: Sequence[Problem] = ()
        with suppress(ArenaError), storage_of(ctx) as storage:
            problems = creation.problems_of_entrants(storage, entrants_asked_for(file, options), utc_now())
        if not problems:
            raise
        wrong = located(file, options, SpecError.of(problems)) if file else SpecError.of(problems)
        raise SpecError.of([*dict.fromkeys([*error.problems, *wrong.problems])]) from None


@app.command()
@partial(with_fields, without=SETTLED)
def change(
    ctx: typer.Context,
    name: Name,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE.toml", help="The tournament as a TOML file; its entrants are not changed by this."
        ),
    ] = None,
    as_json: AsJson = False,
    **fields: object,
) -> None:
    """Change a tournament that is neither locked nor started: to what a file says, or some fields of it.

    Bots that have entered, invitations and requests stay. With a file, fields that it does not have get their
    defaults; options override the file's fields.
    """
    options = given_fields(fields)
    changes = load_spec(file, options).as_changes() if file else make_changes(options, Path())
    try:
        status = ask(ctx, tournaments.change_tournament, name, changes)
    except SpecError as error:
        raise located(file, options, error) if file else error from None
    _tell(status, as_json)


@app.command()
@command_of(
    tournaments.delete_tournament,
    sure="Delete {tournament}, with its entries, invitations and requests, for good",
)
def delete(_: None, tournament: str) -> None:
    """Delete a tournament that is neither locked nor started."""
    say(f"{tournament} is deleted")


@app.command("show")
def show_(ctx: typer.Context, name: Name, as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Show a tournament: its settings, its progress, who entered, who is missing, and what it waits for.

    As comma-separated values: its progress, as a line of arena tournament list.
    """
    check_form(as_json, as_csv)
    tournament = ask(ctx, tournaments.show_tournament, name)
    if as_json:
        print_json(to_json(tournament))
        return
    if as_csv:
        print_csv(TournamentStatus, [tournament])
        return
    _say_status(tournament)
    show_progress(tournament)
    show_fields(tournament.settings)
    show_roster(tournament.roster)
    say(*(f"warning: {line}" for line in tournament.warnings), *tournament.waits)


@app.command()
@command_of(tournaments.lock_tournament)
def lock(status: Changed) -> None:
    """Close the entries of a tournament that has not started, and publish its commitment."""
    value = " --beacon VALUE" if status.beacon else ""
    _tell(status, False, f"start it with: arena tournament start {status.tournament}{value}")


@app.command()
@command_of(tournaments.start_tournament, metavars={"beacon": "VALUE"})
def start(status: Changed) -> None:
    """Start a tournament, or continue one that failed."""
    _tell(status, False, f"follow it with: arena tournament watch {status.tournament}")


@app.command()
@command_of(tournaments.pause_tournament)
def pause(status: Changed) -> None:
    """Pause a running tournament: open sessions finish, and no others start."""
    _tell(status, False, f"resume with: arena tournament resume {status.tournament}")


@app.command()
@command_of(tournaments.resume_tournament)
def resume(status: Changed) -> None:
    """Continue a paused tournament."""
    _tell(status, False, f"follow it with: arena tournament watch {status.tournament}")


@app.command()
def cancel(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """End a tournament at once and for good: finished matches count and are rated, the others do not.

    To end it without losing any match, stop it instead.
    """

    with asking(ctx) as call:
        _confirm_cancelling(call(tournaments.show_tournament, name), yes)
        _tell(call(tournaments.cancel_tournament, name), as_json)


def _confirm_cancelling(status: TournamentStatus, yes: bool) -> None:
    if not status.ended:
        counts = f"finished matches count ({status.matches_done} so far), the others do not"
        confirm(f"Cancel {status.tournament}, which is {status.state.value}, for good; {counts}", yes)


@app.command()
def watch(
    ctx: typer.Context,
    name: Name,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object per line, whenever something has changed.")
    ] = False,
) -> None:
    """Follow a tournament to its end: sessions done, rate, time left, and what it waits for."""

    if is_here(ctx):
        with storage_of(ctx) as storage:
            _require_started(overview.status(storage, name))
            status = follow(storage, name, console(), ask=asker(settings_of(ctx)), as_json=as_json)
    else:
        with client_of(ctx) as arena:
            _require_started(arena.call(tournaments.show_tournament, name))
            status = follow_there(arena, name, console(), as_json=as_json)
    if not status.ended:
        raise StateError(f"{name} has failed: {status.problem}; resume with: arena tournament start {name}")
    if not as_json:
        say(f"{name} is {status.state.value}; see: arena tournament standings {name}")


def _require_started(status: TournamentStatus) -> None:
    if status.state == "created":
        raise StateError(
            f"{status.tournament} is not started; start it with: arena tournament start {status.tournament}"
        )


@app.command("list")
@command_of(tournaments.list_tournaments, csv=True)
def list_(page: TournamentPage) -> None:
    """List tournaments, the newest first."""
    rows = [
        (
            line.tournament,
            line.state.value,
            line.format,
            line.ruleset,
            "yes" if line.rated else "no",
            line.entrants,
            f"{line.round}/{line.rounds or '?'}",
            f"{line.sessions_done}/{line.sessions_total}",
            moment(line.created_at),
        )
        for line in page.tournaments
    ]
    columns = [
        "tournament",
        "state",
        "format",
        "ruleset",
        "rated",
        ">entrants",
        ">round",
        ">sessions",
        "created",
    ]
    show(columns, rows, "no tournaments yet: arena tournament create")


for command in (
    *(standings, entries.enter, entries.may_enter, entries.withdraw),
    *(entries.invite, entries.entries, entries.approve, entries.decline),
    *(entries.stop, entries.pairings, entries.soft_play, confirm_results, correct),
):
    app.command()(command)


def _luck(status: TournamentStatus) -> str:
    if status.beacon is None:
        return "the organiser's seed alone"
    said = repr(status.beacon_value) if status.beacon_value else "to be given at the start"
    return f"the seed and the beacon {status.beacon!r}: {said}"


def _tell(status: Changed, as_json: bool, *next_steps: str) -> None:
    """Print a tournament after a change, and what to do next."""
    if as_json:
        print_json(to_json(status))
        return
    warn(*status.warnings)
    _say_status(status)
    say(*next_steps)


def _say_status(status: TournamentStatus) -> None:
    say(
        f"{status.tournament} is {status.state.value}: {status.format}, {status.ruleset}, {status.entrants} "
        f"bots at tables of {status.table_size}{'' if status.rated else '; not rated'}",
        f"hash of its seed: {status.seed_hash}",
        f"commitment: {status.commitment or 'none before it is locked or started'}",
        f"luck: {_luck(status)}",
        *([f"its seed: {status.seed}"] if status.seed else []),
    )
