"""Signing keys: of referees, generated at their first start and recorded in tournaments; and of the arena."""

import os
import tempfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from sqlmodel import col, select

from arena.errors import SettingsError
from arena.host.files import make_private
from arena.host.settings import Settings
from arena.store.models import ArenaKey, RefereeKey, Tournament
from arena.store.storage import Storage, put_rows
from arena.tournaments.events import note_keys
from arena.tournaments.overview import ENDED
from referee.signing import KeyFileError, SigningKey


def signing_key(settings: Settings, referee: str) -> SigningKey:
    """Return a referee's key from the data folder; generate it at the first start. Raise SettingsError."""
    folder = settings.prepare().data / "referee-keys"
    return _read_or_draw(folder, folder / f"{quote(referee, safe='')}.pem", "referee")


def arena_key(settings: Settings) -> SigningKey:
    """Return the key with which the arena signs organisers' decisions; generate it if there is none.

    Raise SettingsError.
    """
    folder = settings.prepare().data / "arena-key"
    return _read_or_draw(folder, folder / "decisions.pem", "arena")


def register_arena_key(storage: Storage, settings: Settings, now: datetime) -> None:
    """Record the public key for decisions, which heads of tournaments name. Raise SettingsError."""
    public = arena_key(settings).public
    with storage.write() as tx:
        row = tx.get(ArenaKey, ArenaKey.DECISIONS)
        if row is None or row.key != public:
            put_rows(tx, ArenaKey, [{"name": ArenaKey.DECISIONS, "key": public, "since": now}])


def _read_or_draw(folder: Path, file: Path, whose: str) -> SigningKey:
    try:
        make_private(folder)
        if not file.exists():
            _draw(file)
        return SigningKey.read(file.read_bytes())
    except OSError as error:
        raise SettingsError("data", f"cannot keep the {whose}'s key in {file}: {error.strerror}") from None
    except KeyFileError as error:
        text = f"{file}: the {whose}'s key {error}; restore it from a backup, or delete it for a new key"
        raise SettingsError("data", text) from None


def _draw(file: Path) -> None:
    """Generate a key; if several processes do so at once, the first one's is kept. Raise OSError."""
    with suppress(FileExistsError), tempfile.NamedTemporaryFile(dir=file.parent) as draft:
        draft.write(SigningKey.draw().pem())
        draft.flush()
        os.fsync(draft.fileno())
        os.link(draft.name, file)  # whole or not at all; private, as drafts are


def register_key(storage: Storage, referee: str, key: str, now: datetime) -> None:
    """Record the public key that a referee signs with from now on, also in tournaments that have begun."""
    with storage.write() as tx:
        row = tx.get(RefereeKey, referee)
        if row is None or row.key != key:
            put_rows(tx, RefereeKey, [{"referee": referee, "key": key, "since": now}])
        begun = select(Tournament).where(
            col(Tournament.commitment).is_not(None), col(Tournament.state).not_in(ENDED)
        )
        for tournament in tx.exec(begun.order_by(col(Tournament.id))).all():
            note_keys(tx, tournament, now)
