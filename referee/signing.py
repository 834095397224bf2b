"""Ed25519 signatures: a referee signs the results of sessions, anyone with its public key checks them."""

from typing import NamedTuple, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from referee.matches.match import Signed


class KeyFileError(ValueError):
    """A file does not hold a private Ed25519 key."""


class SigningKey(NamedTuple):
    """A referee's key."""

    private: Ed25519PrivateKey
    public: str
    """The public key: 32 bytes in hexadecimal digits."""

    @classmethod
    def of(cls, private: Ed25519PrivateKey) -> Self:
        """Return the key pair of a private key."""
        return cls(private, private.public_key().public_bytes_raw().hex())

    @classmethod
    def draw(cls) -> Self:
        """Return a new, random key."""
        return cls.of(Ed25519PrivateKey.generate())

    @classmethod
    def read(cls, pem: bytes) -> Self:
        """Return the key that a PEM file (PKCS #8, without a password) holds. Raise KeyFileError."""
        try:
            private = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise KeyFileError("is damaged, or needs a password") from None
        if not isinstance(private, Ed25519PrivateKey):
            raise KeyFileError("holds a key, but not of Ed25519")
        return cls.of(private)

    def pem(self) -> bytes:
        """Return the key as a PEM file that ``read`` can read."""
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, digest: str) -> Signed:
        """Sign the 32 bytes of a digest, given in hexadecimal digits."""
        return Signed(digest, self.private.sign(bytes.fromhex(digest)).hex(), self.public)


def is_valid(signed: Signed) -> bool:
    """Return whether a signature fits its key and its digest."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signed.key))
        key.verify(bytes.fromhex(signed.signature), bytes.fromhex(signed.digest))
    except (InvalidSignature, ValueError):
        return False
    return True
