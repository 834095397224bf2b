"""Keys for named referees: the same in every run, so that a tournament can have the same head in two runs."""

from urllib.parse import quote

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.host.files import make_private
from arena.host.settings import Settings
from arena.store.storage import Storage
from arena.trust.keys import register_key
from referee.signing import SigningKey
from tests.arena.fakes import DECISION_KEY, LOCKED


def give_arena_key(settings: Settings) -> None:
    """Give an arena the key for decisions that worlds register."""
    folder = settings.prepare().data / "arena-key"
    make_private(folder)
    (folder / "decisions.pem").write_bytes(DECISION_KEY.pem())


def give_keys(settings: Settings, storage: Storage) -> None:
    """Give each referee of ``referee_ids`` its key before it starts."""
    folder = settings.prepare().data / "referee-keys"
    make_private(folder)
    for place, name in enumerate(settings.referee_ids):
        key = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes([place] * 32)))
        (folder / f"{quote(name, safe='')}.pem").write_bytes(key.pem())
        register_key(storage, name, key.public, LOCKED)
