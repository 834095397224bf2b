"""Passwords: Argon2id from argon2-cffi, with the parameters of RFC 9106's second recommended option."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from arena.errors import SpecError, TooMany

SHORTEST, LONGEST = 10, 200
"""The least and the most characters of a password."""

hasher = PasswordHasher()
"""Makes and checks hashes; each takes 64 MiB."""

AT_ONCE = 2
"""Hashes that are computed at once."""

WAITING = 6
"""Hashes that may wait for these; whoever asks for a further one is refused, so that threads stay free."""

SECONDS = 2
"""After how many seconds somebody who was refused may try again."""

_computing = threading.BoundedSemaphore(AT_ONCE)
_admitted = threading.BoundedSemaphore(AT_ONCE + WAITING)


@contextmanager
def _turn() -> Iterator[None]:
    """Wait for a turn to compute a hash. Raise TooMany if too many wait already."""
    if not _admitted.acquire(blocking=False):
        raise TooMany("too many passwords are being checked at once; try again", SECONDS)
    try:
        with _computing:
            yield
    finally:
        _admitted.release()


def check_password(password: str) -> None:
    """Raise SpecError for a password that is too short or too long to be set."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise SpecError("password", f"must have {SHORTEST} to {LONGEST} characters, not {len(password)}")


def hash_password(password: str) -> str:
    """Return what is stored of a password. Raise SpecError for one that cannot be set, TooMany."""
    check_password(password)
    with _turn():
        return hasher.hash(password)


NOBODYS = "$argon2id$v=19$m=65536,t=3,p=4$sTgTS9bKMeymnU7/nqSVTQ$zL1eE1HRdp9y1ylY3cQSXAr1bPdOMXeSOIDa5hD7CoA"
"""The hash with which a password is compared if there is no account, so that timing does not reveal that."""


def is_password(stored: str | None, password: str) -> bool:
    """Return whether ``password`` is the stored one; this takes just as long if none is stored.

    Raise TooMany.
    """
    try:
        with _turn():
            hasher.verify(stored or NOBODYS, password[: LONGEST + 1])
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Return whether a password was hashed with other parameters than new ones are."""
    return hasher.check_needs_rehash(stored)
