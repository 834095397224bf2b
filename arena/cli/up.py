"""``arena up``: a whole arena in one terminal."""

import signal
import threading
from contextlib import ExitStack

import typer

from arena.cli.context import settings_of
from arena.cli.house import House
from arena.cli.local import local_referees, metrics_addresses, only_arena, start_arena, watch_over
from arena.host.presence import left_in
from arena.host.processes import Supervisor
from arena.people.invitations import invite_first
from arena.store.models import utc_now
from arena.store.storage import migrate_storage, open_storage
from arena.trust.keys import register_arena_key
from arena.web.pages.links import sign_up_url
from referee.cli.output import say
from referee.descriptors import raise_limit
from referee.interrupts import ending, handling


def up(ctx: typer.Context) -> None:
    """Run a whole arena in this terminal: referees, worker, beat and web server. Ctrl-C stops it."""
    settings = settings_of(ctx)
    raise_limit()  # its children inherit it
    say(f"starting an arena in {settings.data} …")
    for _, _, address in local_referees(settings):  # a wrong file is reported here, not in a child's log
        settings.server_tls(address)
    settings.client_tls()
    settings.check_web_tls()
    if settings.embedded_database:  # one on a server belongs to other hosts, too
        migrate_storage(settings)
    with open_storage(settings) as storage:  # what is wrong with it is said here, not in a child's log
        if settings.embedded_database:
            register_arena_key(storage, settings, utc_now())
        first = invite_first(storage, utc_now()) if settings.web_listen else None
    stop = threading.Event()
    with (
        handling((signal.SIGINT, *ending()), lambda *_: stop.set()),
        only_arena(settings.data),
        left_in(settings.data, settings.served()),
        ExitStack() as stack,
        Supervisor(settings.logs, settings.environment(), report=say) as supervisor,
    ):
        start_arena(supervisor, settings, stop.is_set)
        storage = stack.enter_context(open_storage(settings))
        house = House(supervisor, settings, storage)
        housed = house.start()
        if exposed := settings.exposed():
            say(f"warning   {exposed}")
        shown = settings.shown()
        say(
            *(
                f"{name:<9} {address}{' with TLS' if settings.tls_certificate else ''}  "
                f"(process {supervisor.pid(name)})"
                for name, _, address in local_referees(settings)
            ),
            f"worker    {settings.worker_threads} matches at once  (process {supervisor.pid('worker')})",
            f"beat      every {settings.beat_seconds:g} s  (process {supervisor.pid('beat')})",
            *(
                [f"web       {settings.web_url}/  (process {supervisor.pid('web')})"]
                if settings.web_listen
                else []
            ),
            *(
                [f"accounts  none yet; the operator's: {sign_up_url(settings.web_url, first.code)}"]
                if first
                else []
            ),
            *([f"house     {housed} bots for test matches"] if housed else []),
            f"database  {shown['database_url']}",
            f"broker    {shown['broker_url']}",
            f"logs      {settings.logs}",
            *(
                f"metrics   http://{address}/metrics  ({name})"
                for name, address in metrics_addresses(settings).items()
            ),
            "Ctrl-C stops everything; open sessions continue with the next `arena up`.",
        )
        watch_over(supervisor, stop.is_set, lambda: house.look(say))
        say("stopping …")
    say("stopped")
