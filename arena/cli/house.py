"""The house bots that ``arena up`` runs: the configured number, and those that are baselines."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlmodel import select

from arena.actors import HOUSE
from arena.bots.house import BOTS, is_registered
from arena.bots.versions import register_version, rotate_version
from arena.cli.context import actor_at_terminal
from arena.cli.local import arena_command
from arena.cli.tokenfiles import token_file
from arena.errors import ArenaError, SettingsError, StorageError
from arena.host.files import make_private, write_private
from arena.host.processes import Supervisor
from arena.host.settings import Settings
from arena.people.tokens import hash_token
from arena.results.strength.baselines import list_baselines
from arena.store.models import BotVersion, utc_now
from arena.store.storage import Storage
from referee.tokens import tidy

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
        for bot in self._wanted():
            self._start(bot)
        return len(self._started)

    def look(self, report: Callable[[str], None]) -> None:
        """Start bots that have become wanted, at intervals; ``report`` gets a line if one cannot start."""
        if time.monotonic() < self._looked + LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        wanted: list[str] = []
        try:
            wanted += self._wanted()
            for bot in wanted:
                self._start(bot)
                report(f"{HOUSE}/{bot} is a baseline, and plays now")
        except StorageError:
            return  # it is looked again
        except ArenaError as error:
            self._started += wanted  # it would fail again
            report(f"house bots: {error}")

    def _wanted(self) -> Iterator[str]:
        """Yield the bots that should run but were not started."""
        baselines = {name.partition("@")[0] for name in list_baselines(self._storage)}
        for place, bot in enumerate(BOTS):
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
        if file.exists() and _is_good(storage, kept := tidy(file.read_text("utf-8", errors="replace"))):
            return kept
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
        asked = select(BotVersion.revoked_at).where(BotVersion.token_hash == hash_token(token))
        return tx.exec(asked).all() == [None]
