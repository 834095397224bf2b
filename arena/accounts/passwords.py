"""Passwords: Argon2id from argon2-cffi, with the parameters of RFC 9106's second recommended option."""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from arena.errors import SpecError

SHORTEST, LONGEST = 10, 200
"""The least and the most characters of a password."""

hasher = PasswordHasher()
"""Makes and checks hashes."""


def hash_password(password: str) -> str:
    """Return what is stored of a password. Raise SpecError for one that is too short or too long."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise SpecError("password", f"must have {SHORTEST} to {LONGEST} characters, not {len(password)}")
    return hasher.hash(password)


NOBODYS = "$argon2id$v=19$m=65536,t=3,p=4$sTgTS9bKMeymnU7/nqSVTQ$zL1eE1HRdp9y1ylY3cQSXAr1bPdOMXeSOIDa5hD7CoA"
"""The hash with which a password is compared if there is no account, so that timing does not reveal that."""


def is_password(stored: str | None, password: str) -> bool:
    """Return whether ``password`` is the stored one; this takes just as long if none is stored."""
    try:
        hasher.verify(stored or NOBODYS, password[: LONGEST + 1])
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Return whether a password was hashed with other parameters than new ones are."""
    return hasher.check_needs_rehash(stored)
