"""House bots: sample bots that ``arena up`` runs, so that there is always somebody to play against."""

from pathlib import Path

from sqlmodel import select

from arena.bots.versions import register_version, rotate_version
from arena.cli.context import actor_at_terminal
from arena.cli.local import arena_command
from arena.cli.tokenfiles import token_file
from arena.errors import SettingsError
from arena.files import make_private, write_private
from arena.models import BotVersion, utc_now
from arena.processes import Supervisor
from arena.settings import Settings
from arena.storage import Storage
from arena.tokens import hash_token
from arena.tournaments.testmatches import HOUSE

BOTS = ("keeper", "greedy", "pairs-first", "lowest", "random", "sage-quick", "sage", "sage-deep")
"""Sample bots in the order in which they are run: quick ones, the best of them first, and then sage at three
strengths, which costs processor time while it plays."""


def start_house(supervisor: Supervisor, settings: Settings, storage: Storage) -> list[str]:
    """Start the house bots of an arena; return their processes' names. Raise SettingsError, StorageError."""
    names = []
    for bot in BOTS[: settings.house_bots]:
        token = _token(storage, settings.data / "house", f"{HOUSE}/{bot}")
        environment = {
            "ARENA_TOKEN": token,
            "ARENA_REFEREE": ",".join(settings.referees),
            "ARENA_BOT_LOG": "off",
        }
        names.append(f"{HOUSE}-{bot}")
        supervisor.start(names[-1], arena_command("bot", "run", bot), environment)
    return names


def _token(storage: Storage, folder: Path, bot: str) -> str:
    """Return the token of a house bot, kept in a file; the bot is registered if it is new."""
    file = token_file(folder, bot)
    try:
        if file.exists() and _is_good(storage, kept := file.read_text().strip()):
            return kept
        known = _is_known(storage, f"{bot}@1")
        register = rotate_version if known else register_version
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


def _is_known(storage: Storage, name: str) -> bool:
    with storage.read() as tx:
        return tx.exec(select(BotVersion.id).where(BotVersion.name == name)).first() is not None
