"""``arena tournament …``: creating, starting, following and ending tournaments."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import arena.client as api
from arena.cli import decisions, entries, pairings, remote
from arena.cli.asking import Yes, confirm
from arena.cli.context import actor_at_terminal, answer, settings_of, storage_of
from arena.cli.fields import given_fields, with_fields
from arena.cli.lists import LARGEST_PAGE, AsCsv, check_form, print_csv, say_cut
from arena.cli.roster import show_progress, show_roster, show_terms, shown_object
from arena.cli.standings import standings
from arena.cli.watch import follow, follow_there, status_object
from arena.errors import ArenaError, SpecError, StateError
from arena.matches.referees import asker
from arena.models import utc_now
from arena.rounds import closing, showing
from arena.settings import Settings
from arena.specs import TournamentSpec, entrants_asked_for, load_spec, located, make_spec
from arena.storage import Storage
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.doubts import list_doubts
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.roster import absence, roster
from referee.cli.output import AsJson, console, moment, print_json, say, show, warn
from referee.errors import Problem

if TYPE_CHECKING:
    from arena.client import Client

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
    given = given_fields(fields)
    spec = _asked(ctx, file, given)
    if start and spec.beacon:
        text = "a tournament with a beacon is locked first, and started with the beacon's value"
        raise typer.BadParameter(text, param_hint="'--start'")

    def here(storage: Storage) -> tuple[TournamentStatus, list[str]]:
        status = creation.create(storage, actor_at_terminal(), spec, utc_now())
        warnings = list_doubts(storage, spec.name)
        if start:
            with _created(spec.name):
                status, absent = _start(storage, settings_of(ctx), spec.name)
            warnings += absent
        return status, warnings

    def there(arena: "Client") -> tuple[TournamentStatus, list[str]]:
        fields = spec.model_dump(mode="json", exclude_unset=True)
        changed = arena.send(api.tournaments.create_tournament(fields))
        if start:
            with _created(spec.name):
                changed = arena.send(api.tournaments.start_tournament(spec.name))
        return remote.status_in(changed), list(changed.warnings)

    try:
        status, warnings = answer(ctx, here, there)
    except SpecError as error:
        raise located(file, given, error) if file else error from None
    step = "lock" if status.beacon else "start"
    follow = f"follow it with: arena tournament watch {status.name}"
    enough = status.entrants >= status.table_size
    enter = f"enter bots with: arena tournament enter {status.name} BOT"
    then = [follow] if start else [f"{step} it with: arena tournament {step} {status.name}"]
    _tell(status, as_json, *(then if enough else [enter, *then]), warnings=warnings)


@contextmanager
def _created(name: str) -> Iterator[None]:
    """Say that the tournament was created if the block, which starts it, fails."""
    try:
        yield
    except (ArenaError, OSError):
        warn(f"{name} is created, but not started")
        raise


def _asked(ctx: typer.Context, file: Path | None, given: Mapping[str, object]) -> TournamentSpec:
    """Return the tournament that is requested.

    Raise SpecError, which includes problems with the entrants if there is an arena that knows them.
    """
    try:
        return load_spec(file, given) if file else make_spec(given, Path())
    except SpecError as error:
        found: Sequence[Problem] = ()
        with suppress(ArenaError), storage_of(ctx) as storage:
            found = creation.entrants_wrong(storage, entrants_asked_for(file, given), utc_now())
        if not found:
            raise
        wrong = located(file, given, SpecError.of(found)) if file else SpecError.of(found)
        raise SpecError.of([*dict.fromkeys([*error.problems, *wrong.problems])]) from None


@app.command("show")
def show_(ctx: typer.Context, name: Name, as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Show a tournament: its settings, its progress, who entered, who is missing, and what it waits for.

    As comma-separated values: its progress, as a line of arena tournament list.
    """
    check_form(as_json, as_csv)
    found = answer(
        ctx,
        lambda storage: showing.show(storage, name, utc_now(), asker(settings_of(ctx))),
        lambda arena: arena.send(api.tournaments.show_tournament(name)),
    )
    if as_json:
        print_json(shown_object(found))
        return
    if as_csv:
        print_csv(TournamentStatus, [found], {"name": "tournament"}, without={"id"})
        return
    _tell(found, False)
    show_progress(found)
    show_terms(found.settings)
    show_roster(found.roster)
    say(*(f"warning: {line}" for line in found.warnings), *found.waits)


@app.command()
def lock(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Close the entries of a tournament that has not started, and publish its commitment."""
    status = answer(
        ctx,
        lambda storage: lifecycle.lock(storage, actor_at_terminal(), name, utc_now()),
        lambda arena: remote.status_in(arena.send(api.tournaments.lock_tournament(name))),
    )
    value = " --beacon VALUE" if status.beacon else ""
    _tell(status, as_json, f"start it with: arena tournament start {status.name}{value}")


@app.command()
def start(
    ctx: typer.Context,
    name: Name,
    beacon: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="The beacon's value, published after the tournament was locked."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start a tournament, or continue one that failed."""

    def here(storage: Storage) -> tuple[TournamentStatus, list[str]]:
        status, warnings = _start(storage, settings_of(ctx), name, beacon)
        return status, [*list_doubts(storage, name), *warnings]

    def there(arena: "Client") -> tuple[TournamentStatus, list[str]]:
        changed = arena.send(api.tournaments.start_tournament(name, beacon))
        return remote.status_in(changed), list(changed.warnings)

    status, warnings = answer(ctx, here, there)
    _tell(status, as_json, f"follow it with: arena tournament watch {status.name}", warnings=warnings)


def _start(
    storage: Storage, settings: Settings, name: str, beacon: str | None = None
) -> tuple[TournamentStatus, list[str]]:
    """Start a tournament; return its status, and a line for each entrant that is not connected."""
    ask, now = asker(settings), utc_now()
    status = lifecycle.start(storage, actor_at_terminal(), name, now, ask, beacon)
    _wake(settings, status)
    return status, absence(roster(storage, name, now, ask), ask)


def _wake(settings: Settings, status: TournamentStatus) -> None:
    from arena.messages import wake  # Celery, which takes long to load, and no other command here needs

    wake(settings, status.id)


@app.command()
def pause(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Pause a running tournament: open sessions finish, and no others start."""
    status = answer(
        ctx,
        lambda storage: lifecycle.pause(storage, actor_at_terminal(), name, utc_now()),
        lambda arena: remote.status_in(arena.send(api.tournaments.pause_tournament(name))),
    )
    _tell(status, as_json, f"go on with: arena tournament resume {status.name}")


@app.command()
def resume(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Continue a paused tournament."""

    def here(storage: Storage) -> TournamentStatus:
        status = lifecycle.resume(storage, actor_at_terminal(), name, utc_now())
        _wake(settings_of(ctx), status)
        return status

    def there(arena: "Client") -> TournamentStatus:
        changed = arena.send(api.tournaments.resume_tournament(name))
        warn(*changed.warnings)
        return remote.status_in(changed)

    status = answer(ctx, here, there)
    _tell(status, as_json, f"follow it with: arena tournament watch {status.name}")


@app.command()
def cancel(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """End a tournament at once and for good: finished matches count and are rated, the others do not.

    To end it without losing any match, stop it instead.
    """

    def here(storage: Storage) -> TournamentStatus:
        _confirm_cancelling(overview.status(storage, name), yes)
        return closing.cancel(storage, actor_at_terminal(), name, utc_now())

    def there(arena: "Client") -> TournamentStatus:
        _confirm_cancelling(arena.send(api.tournaments.show_tournament(name)), yes)
        return remote.status_in(arena.send(api.tournaments.cancel_tournament(name)))

    _tell(answer(ctx, here, there), as_json)


def _confirm_cancelling(status: TournamentStatus, yes: bool) -> None:
    if not status.ended:
        counts = f"finished matches count ({status.matches_done} so far), the others do not"
        confirm(f"Cancel {status.name}, which is {status.state.value}, for good; {counts}", yes)


@app.command()
def watch(
    ctx: typer.Context,
    name: Name,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object per line, whenever something has changed.")
    ] = False,
) -> None:
    """Follow a tournament to its end: sessions done, rate, time left, and what it waits for."""

    def here(storage: Storage) -> TournamentStatus:
        _require_started(overview.status(storage, name))
        return follow(storage, name, console(), ask=asker(settings_of(ctx)), as_json=as_json)

    def there(arena: "Client") -> TournamentStatus:
        _require_started(arena.send(api.tournaments.show_tournament(name)))
        return follow_there(arena, name, console(), as_json=as_json)

    status = answer(ctx, here, there)
    if not status.ended:
        raise StateError(f"{name} has failed: {status.problem}; go on with: arena tournament start {name}")
    if not as_json:
        say(f"{name} is {status.state.value}; see: arena tournament standings {name}")


def _require_started(status: TournamentStatus) -> None:
    if status.state == "created":
        raise StateError(f"{status.name} is not started; start it with: arena tournament start {status.name}")


@app.command("list")
def list_(
    ctx: typer.Context,
    limit: Annotated[
        int, typer.Option(min=1, max=LARGEST_PAGE, help="Show at most this many tournaments.")
    ] = 100,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List tournaments, the newest first."""
    check_form(as_json, as_csv)
    found = answer(
        ctx,
        lambda storage: overview.list_tournaments(storage, limit),
        lambda arena: arena.send(api.tournaments.list_tournaments(limit=limit)).tournaments,
    )
    if as_json:
        print_json({"tournaments": list(map(status_object, found))})
        return
    if as_csv:
        print_csv(TournamentStatus, found, {"name": "tournament"}, without={"id"})
        return
    rows = [
        (
            one.name,
            one.state.value,
            one.format,
            one.ruleset,
            "yes" if one.rated else "no",
            one.entrants,
            f"{one.round}/{one.rounds or '?'}",
            f"{one.sessions_done}/{one.sessions_total}",
            moment(one.created_at),
        )
        for one in found
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
    say_cut(len(rows), limit, "--limit")


for command in (
    *(standings, entries.enter, entries.may_enter, pairings.withdraw),
    *(entries.invite, entries.entries, entries.approve, entries.decline),
    *(pairings.stop, pairings.pairings, decisions.confirm, decisions.correct),
):
    app.command()(command)


def _luck(status: TournamentStatus) -> str:
    if status.beacon is None:
        return "the organiser's seed alone"
    said = repr(status.beacon_value) if status.beacon_value else "to be given at the start"
    return f"the seed and the beacon {status.beacon!r}: {said}"


def _tell(
    status: TournamentStatus, as_json: bool, *next_steps: str, warnings: Sequence[str] | None = None
) -> None:
    """Print a tournament's status and what to do next; warnings are part of the JSON object."""
    if as_json:
        print_json(status_object(status) | ({} if warnings is None else {"warnings": warnings}))
        return
    warn(*warnings or ())
    say(
        f"{status.name} is {status.state.value}: {status.format}, {status.ruleset}, {status.entrants} bots "
        f"at tables of {status.table_size}{'' if status.rated else '; not rated'}",
        f"hash of its seed: {status.seed_hash}",
        f"commitment: {status.commitment or 'none before it is locked or started'}",
        f"luck: {_luck(status)}",
        *([f"its seed: {status.seed}"] if status.seed else []),
        *next_steps,
    )
