"""Answers kept for a day, so that a repeated request is executed only once.

An answer may contain a token. It is encrypted with a key derived from the client's credentials, so that the
database alone does not reveal it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.errors import SpecError, StateError
from arena.store.encryption import Seal, Unsealable
from arena.store.models import KeptAnswer
from arena.store.storage import Storage, changed

KEPT = timedelta(days=1)
"""How long an answer is kept."""

HELD = timedelta(seconds=10)
"""How long a request is taken to be in progress; the process that works on it renews that before it ends."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    status: int
    """The HTTP status."""
    kind: str
    """The content type; empty if there is no body."""
    body: bytes


@dataclass(frozen=True, slots=True)
class RepeatableRequest:
    """A request that is to be executed only once."""

    secret: bytes
    """The idempotency key, and the API key or cookie of whoever sent it."""
    content: bytes
    """Method, path, and body."""

    @property
    def name(self) -> str:
        """Return the key under which the request is stored."""
        return sha256(b"name " + self.secret).hexdigest()

    @property
    def seal(self) -> Seal:
        """Return what seals and opens its answer."""
        return Seal(self.secret, b"kept answer")


def begin(storage: Storage, request: RepeatableRequest, now: datetime) -> Answer | None:
    """Return None if this request is to be executed now, or else the answer that it had before.

    Raise SpecError if the key was sent with another request, StateError if there is no answer yet.
    """
    row = _claim(storage, request, now)
    if row is None:
        return None
    if row.request_hash != sha256(request.content).hexdigest():
        raise SpecError("Idempotency-Key", "was used with another request; use a new key for each")
    if row.status is None or row.sealed is None:
        if row.held_until is not None and now < row.held_until < now + 2 * HELD:  # by any clock
            raise StateError("a request with this Idempotency-Key is being processed; try again")
        raise StateError(
            "the answer to the request with this Idempotency-Key is lost, because the arena stopped; "
            "check whether the request took effect, and use a new key if it did not"
        )
    return _open(request, row.status, row.sealed)


def _claim(storage: Storage, request: RepeatableRequest, now: datetime) -> KeptAnswer | None:
    """Note that a request is being executed, and return None; or return the row that its key already has."""
    claim = KeptAnswer(
        key_hash=request.name,
        request_hash=sha256(request.content).hexdigest(),
        created_at=now,
        held_until=now + HELD,
    )
    try:
        with storage.write() as tx:
            changed(tx, delete(KeptAnswer).where(col(KeptAnswer.created_at) <= now - KEPT))
            row = tx.get(KeptAnswer, request.name)
            if row is None:
                tx.add(claim)
            return row
    except IntegrityError:  # another process was faster
        with storage.read() as tx:
            return tx.get(KeptAnswer, request.name)


def hold(storage: Storage, request: RepeatableRequest, now: datetime) -> None:
    """Note that a request that was begun is still being executed."""
    mine = (col(KeptAnswer.key_hash) == request.name, col(KeptAnswer.status).is_(None))
    with storage.write() as tx:
        changed(tx, update(KeptAnswer).where(*mine).values(held_until=now + HELD))


def keep(storage: Storage, request: RepeatableRequest, answer: Answer) -> None:
    """Keep the answer to a request that was begun."""
    sealed = request.seal.close(answer.kind.encode("latin-1") + b"\n" + answer.body)
    mine = col(KeptAnswer.key_hash) == request.name
    with storage.write() as tx:
        changed(tx, update(KeptAnswer).where(mine).values(status=answer.status, sealed=sealed))


def forget(storage: Storage, request: RepeatableRequest) -> None:
    """Let a request that was begun but not executed be sent again."""
    mine = (col(KeptAnswer.key_hash) == request.name, col(KeptAnswer.status).is_(None))
    with storage.write() as tx:
        changed(tx, delete(KeptAnswer).where(*mine))


def _open(request: RepeatableRequest, status: int, sealed: str) -> Answer:
    try:
        plain = request.seal.open(sealed)
    except Unsealable:
        raise StateError("the answer to this Idempotency-Key cannot be read; use a new key") from None
    kind, _, body = plain.partition(b"\n")
    return Answer(status, kind.decode("latin-1"), body)
