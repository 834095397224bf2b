"""``arena referee``: the process that bots and workers connect to."""

import logging
import sqlite3
from typing import Annotated

import typer

from arena.bots.journal import DatabaseJournal
from arena.cli.context import settings_of
from arena.errors import SettingsError
from arena.host import logs
from arena.host.settings import Settings
from arena.people.tokens import DatabaseAuthenticator
from arena.play.metrics import published
from arena.store.storage import open_storage
from arena.store.watch import Watch
from arena.trust.keys import register_key, signing_key
from referee.service import server
from referee.service.begun import BegunAttempts
from referee.service.meter import Meter
from referee.service.metrics import PrometheusMeter
from referee.service.server import ServerOptions


def referee(
    ctx: typer.Context,
    listen: Annotated[
        str | None, typer.Option(help="host:port to listen on; overrides ARENA_LISTEN.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Which of ARENA_REFEREES it is, if not the address that it listens on."),
    ] = None,
) -> None:
    """Run a referee: bots and workers connect to it.

    On SIGTERM it finishes what is being played; on SIGINT (Ctrl-C) it ends at once.
    """
    settings = settings_of(ctx, **({"listen": listen} if listen else {}))
    logs.set_up(settings, "referee")
    place = place_of(settings, address)
    name = (settings.referee_ids or settings.referees)[place]
    key = signing_key(settings, name)
    tls = settings.server_tls(settings.referees[place])
    if exposed := settings.exposed():
        logging.getLogger("arena").warning("%s; set ARENA_TLS_CERTIFICATE and ARENA_TLS_KEY", exposed)
    meter = PrometheusMeter() if settings.metrics_listen else None
    with (
        open_storage(settings) as storage,
        Watch(storage, f"referee {name}"),
        DatabaseJournal(storage, name) as journal,
        begun_attempts(settings) as begun,
        published(settings, "referee", *([meter] if meter else ())),
    ):
        register_key(storage, name, key.public, storage.now())
        server.run(
            settings.listen,
            DatabaseAuthenticator(storage, settings.worker_secret(), storage.now),
            options=ServerOptions(
                addresses=settings.referees,
                ids=settings.referee_ids,
                share=(place, len(settings.referees)),
                tls=tls,
                drain_seconds=settings.drain_seconds,
                open_to_spectators=settings.spectators == "anyone",
                journal=logs.LoggingJournal(journal) if settings.log_level == "debug" else journal,
                meter=meter or Meter(),
                key=key,
                begun=begun,
            ),
            on_ready=lambda port: logging.getLogger("arena").info("the referee listens on port %d", port),
        )


def begun_attempts(settings: Settings) -> BegunAttempts:
    """Return what remembers the attempts that the referees of this data folder have begun.

    Raise SettingsError.
    """
    file = settings.prepare().data / "begun-attempts.db"
    try:
        return BegunAttempts(file)
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingsError("data", f"cannot note in {file} which attempts are begun: {why}") from None


def place_of(settings: Settings, address: str | None) -> int:
    """Return the index of the configured referee at ``address``, or by default at ``listen``.

    If only one is configured, it is that one, whatever it listens on. Raise SettingsError if none matches.
    """
    referees = settings.referees
    if address is None and len(referees) == 1:
        return 0
    if (address or settings.listen) in referees:
        return referees.index(address or settings.listen)
    if address is not None:
        raise SettingsError("referees", f"--address {address} is not one of {', '.join(referees)}")
    raise SettingsError(
        "referees", f"{settings.listen} is not one of {', '.join(referees)}; select one with --address"
    )
