"""The processes of an arena, each a command, and its settings."""

import logging
import signal
import threading
from contextlib import ExitStack
from typing import Annotated

import typer

from arena import logs
from arena.bots.journal import DatabaseJournal
from arena.cli.context import settings_of
from arena.cli.local import local_referees, metrics_addresses, only_arena, start_arena, watch_over
from arena.cli.output import AsJson, console, print_json, say
from arena.cli.tables import table
from arena.errors import SettingsError
from arena.metrics import WORKER, DatabaseCollector, RefereeCollector, published
from arena.processes import Supervisor
from arena.settings import PREFIX, Settings
from arena.storage import Storage, open_storage
from arena.tasks import run_beat, run_worker
from arena.tokens import DatabaseAuthenticator
from referee.service import server
from referee.service.metrics import Meter
from referee.service.server import ServerOptions


def up(ctx: typer.Context) -> None:
    """Run a whole arena in this terminal: referees, a worker and the beat. Ctrl-C stops it."""
    settings = settings_of(ctx)
    for read in (settings.server_tls, settings.client_tls):
        read()  # a wrong file is told here, not in a child's log
    open_storage(settings).close()  # so that the children find the database ready
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with (
        only_arena(settings.data),
        Supervisor(settings.logs, settings.environment(), told=say) as supervisor,
    ):
        start_arena(supervisor, settings)
        shown = settings.shown()
        say(
            *(
                f"{name:<9} {address}{' with TLS' if settings.tls_certificate else ''}  "
                f"(process {supervisor.pid(name)})"
                for name, _, address in local_referees(settings)
            ),
            f"worker    {settings.worker_threads} matches at once  (process {supervisor.pid('worker')})",
            f"beat      every {settings.beat_seconds:g} s  (process {supervisor.pid('beat')})",
            f"database  {shown['database_url']}",
            f"broker    {shown['broker_url']}",
            f"logs      {settings.logs}",
            *(
                f"metrics   http://{address}/metrics  ({name})"
                for name, address in metrics_addresses(settings).items()
            ),
            "Ctrl-C stops it all; what is being played goes on with the next `arena up`.",
        )
        watch_over(supervisor, stop.is_set)
        say("stopping …")
    say("stopped")


def referee(
    ctx: typer.Context,
    listen: Annotated[str | None, typer.Option(help="host:port to listen on; before ARENA_LISTEN.")] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Which of ARENA_REFEREES it is, where that differs from what it listens on."),
    ] = None,
) -> None:
    """Run a referee: bots and workers connect to it.

    SIGTERM lets it finish what is being played, SIGINT (Ctrl-C) ends it at once.
    """
    settings = settings_of(ctx, **({"listen": listen} if listen else {}))
    logs.set_up(settings, "referee")
    place = place_of(settings, address)
    tls = settings.server_tls()
    meter = Meter() if settings.metrics_listen else None
    with (
        open_storage(settings) as storage,
        DatabaseJournal(storage, settings.referees[place]) as journal,
        published(settings, "referee", *([RefereeCollector(meter)] if meter else ())),
    ):
        server.run(
            settings.listen,
            DatabaseAuthenticator(storage, settings.worker_secret()),
            options=ServerOptions(
                addresses=settings.referees,
                share=(place, len(settings.referees)),
                tls=tls,
                drain_seconds=settings.drain_seconds,
                open_to_spectators=settings.spectators == "anyone",
                journal=logs.LoggingJournal(journal) if settings.log_level == "debug" else journal,
                meter=meter,
            ),
            on_ready=lambda port: logging.getLogger("arena").info("the referee listens on port %d", port),
        )


def place_of(settings: Settings, address: str | None) -> int:
    """Which of the settings' referees the one at ``address`` is; by default the one that listens there.

    A lone referee is that one, whatever it listens on. SettingsError.
    """
    known = settings.referees
    if address is None and len(known) == 1:
        return 0
    if (address or settings.listen) in known:
        return known.index(address or settings.listen)
    if address is not None:
        raise SettingsError("referees", f"--address {address} is none of {', '.join(known)}")
    raise SettingsError(
        "referees", f"{settings.listen} is none of {', '.join(known)}; say which it is with --address"
    )


def worker(ctx: typer.Context) -> None:
    """Run a worker: it has matches played and keeps what comes of them."""
    settings = settings_of(ctx)
    logs.set_up(settings, "worker")
    with published(settings, "worker", WORKER):
        run_worker(settings)


def beat(ctx: typer.Context) -> None:
    """Run the beat: it looks at every tournament now and then. One is enough."""
    settings = settings_of(ctx)
    logs.set_up(settings, "beat")
    with ExitStack() as stack:
        if settings.metrics_listen:
            # Not migrated here: the beat has to run even while the database is away.
            storage = stack.enter_context(Storage(settings.database_url))
            stack.enter_context(published(settings, "beat", DatabaseCollector(storage)))
        run_beat(settings)


def config(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show the settings; secrets are hidden."""
    shown = settings_of(ctx).shown()
    if as_json:
        print_json(shown)
    else:
        rows = [(name, text, f"{PREFIX}{name.upper()}") for name, text in shown.items()]
        console().print(table(["setting", "value", "variable"], rows))
