"""What the arena keeps, for how long, and how large its database is."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import make_url, text

from arena.actors import Actor, Role
from arena.bots.estimates import KEPT as ESTIMATES
from arena.host.settings import Settings
from arena.people import accounts, answers, browsers, invitations
from arena.store.storage import Storage
from arena.webhooks import sending
from referee.matches.journal import KEPT as LOG_ENTRIES
from referee.service.begun import MOST as ATTEMPTS


@dataclass(frozen=True, slots=True)
class KeptLine:
    """One kind of data."""

    what: str
    kept: str
    """For how long, or how much of it."""


@dataclass(frozen=True, slots=True)
class Retention:
    """What the arena keeps. Nothing else is ever deleted by itself."""

    database_bytes: int
    """The size of the database, on disk."""
    kept: tuple[KeptLine, ...]


def retention(storage: Storage, settings: Settings, actor: Actor) -> Retention:
    """Return what is kept, and for how long. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "see what is kept")
    return Retention(_size(storage, settings), tuple(_kept_lines()))


def _kept_lines() -> Iterator[KeptLine]:
    yield KeptLine("Tournaments, matches, deals, ratings, entries", "for ever: results are proven with them")
    yield KeptLine(
        "Accounts, bots, keys, tokens, changes in the audit log", "for ever; secrets only as hashes"
    )
    yield KeptLine("A bot's log", f"its latest {LOG_ENTRIES:,} entries")
    yield KeptLine("A browser that is signed in", f"{_days(browsers.STAYS)} after it was last used")
    yield KeptLine("An invitation", f"can be used for {_days(invitations.GOOD_FOR)}")
    yield KeptLine("A link for a forgotten password", f"can be used for {_days(accounts.GOOD_FOR)}")
    yield KeptLine("Answers to requests with an Idempotency-Key", f"{_days(answers.KEPT)}, encrypted")
    yield KeptLine("Messages to webhooks", f"{_days(sending.KEPT)} after they were sent or given up")
    yield KeptLine("Estimates of what decisions cost", f"the latest {ESTIMATES:,}")
    yield KeptLine("Deals of an open session", "until the session is stored or its round is closed")
    yield KeptLine("Attempts that referees began, in begun-attempts.db", f"the latest {ATTEMPTS:,}")


def _days(time: timedelta) -> str:
    return f"{time.days} day{'s' if time.days > 1 else ''}"


def _size(storage: Storage, settings: Settings) -> int:
    """Return how many bytes the database takes on disk."""
    if settings.embedded_database:
        file = Path(make_url(settings.database_url).database or "")
        parts = (file, file.with_name(f"{file.name}-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())
    with storage.read() as tx:
        return int(tx.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
