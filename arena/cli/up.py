"""``arena up``: a whole arena in one terminal, with house bots."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import typer
from sqlmodel import select

from arena.actors import HOUSE
from arena.bots.versions import HOUSE_BOTS, is_registered, register_version, rotate_version
from arena.cli.context import actor_at_terminal, settings_of
from arena.cli.local import (
    arena_command,
    local_referees,
    metrics_addresses,
    only_arena,
    start_arena,
    watch_over,
)
from arena.cli.register import token_file
from arena.errors import ArenaError, SettingsError, StorageError
from arena.host.files import make_private, write_private
from arena.host.presence import left_in
from arena.host.processes import Supervisor
from arena.host.settings import Settings
from arena.people.invitations import invite_first
from arena.people.tokens import hash_token
from arena.results.strength.pools import list_baselines
from arena.store.models import BotVersion, utc_now
from arena.store.storage import Storage, migrate_storage, open_storage
from arena.trust.keys import register_arena_key
from arena.web.pages.links import sign_up_url
from referee.cli.output import say
from referee.processes.closed import outlast_readers
from referee.processes.descriptors import raise_limit
from referee.processes.interrupts import ending, handling
from referee.reading.names import tidy

LOOK_SECONDS = 2.0
"""How often to look for new baselines."""


class House:
    """The house bots of an arena, as processes of a supervisor."""

    def __init__(self, supervisor: Supervisor, settings: Settings, storage: Storage) -> None:
        self._supervisor, self._settings, self._storage = supervisor, settings, storage
        self._started: list[str] = []
        self._looked = 0.0

    def start(self) -> int:
        """Start the bots that are wanted; return how many run. Raise ArenaError."""
        for bot in self._missing():
            self._start(bot)
        return len(self._started)

    def look(self, report: Callable[[str], None]) -> None:
        """Start bots that have become wanted, at intervals; ``report`` gets a line if one cannot start."""
        if time.monotonic() < self._looked + LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        missing: list[str] = []
        try:
            missing += self._missing()
            for bot in missing:
                self._start(bot)
                report(f"{HOUSE}/{bot} is a baseline, and plays now")
        except StorageError:
            return  # it is looked again
        except ArenaError as error:
            self._started += missing  # it would fail again
            report(f"house bots: {error}")

    def _missing(self) -> Iterator[str]:
        """Yield the bots that should run but were not started."""
        baselines = {name.partition("@")[0] for name in list_baselines(self._storage)}
        for place, bot in enumerate(HOUSE_BOTS):
            if bot not in self._started and (
                place < self._settings.house_bots or f"{HOUSE}/{bot}" in baselines
            ):
                yield bot

    def _start(self, bot: str) -> None:
        environment = {
            "ARENA_TOKEN": _token(self._storage, self._settings.data / "house", f"{HOUSE}/{bot}"),
            "ARENA_REFEREE": ",".join(self._settings.referees),
            "ARENA_BOT_LOG": "off",
            "ARENA_SAGE_MS": "",  # it is as strong as its name says
        }
        self._supervisor.start(f"{HOUSE}-{bot}", arena_command("bot", "run", bot), environment)
        self._started.append(bot)


def _token(storage: Storage, folder: Path, bot: str) -> str:
    """Return the token of a house bot, kept in a file; the bot is registered if it is new."""
    file = token_file(folder, bot)
    try:
        if file.exists() and _is_good(storage, stored := tidy(file.read_text("utf-8", errors="replace"))):
            return stored
        register = rotate_version if is_registered(storage, f"{bot}@1") else register_version
        token = register(storage, actor_at_terminal(), bot, utc_now()).token
        make_private(folder)
        file.unlink(missing_ok=True)
        write_private(file, f"{token}\n")
    except OSError as error:
        raise SettingsError("data", f"cannot keep the token of {bot} in {file}: {error.strerror}") from None
    return token


def _is_good(storage: Storage, token: str) -> bool:
    with storage.read() as tx:
        revoked = select(BotVersion.revoked_at).where(BotVersion.token_hash == hash_token(token))
        return tx.exec(revoked).all() == [None]


def up(ctx: typer.Context) -> None:
    """Run a whole arena in this terminal: referees, worker, beat and web server. Ctrl-C stops it."""
    outlast_readers()
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
        values = settings.shown()
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
            f"database  {values['database_url']}",
            f"broker    {values['broker_url']}",
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
