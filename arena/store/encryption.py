"""Encrypting texts for storage, with a key that is not in the database."""

from base64 import b64decode, b64encode
from os import urandom

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

NONCE = 12
"""Length of AES-GCM's nonce in bytes."""


class Unsealable(ValueError):
    """Raised if a stored text was sealed with another secret, or is damaged."""


class Seal:
    """Seals and opens texts with a secret."""

    def __init__(self, secret: bytes, purpose: bytes) -> None:
        self._cipher = AESGCM(HKDF(SHA256(), 32, None, purpose).derive(secret))

    def close(self, plain: bytes) -> str:
        """Encrypt a text for storage."""
        nonce = urandom(NONCE)
        return b64encode(nonce + self._cipher.encrypt(nonce, plain, None)).decode()

    def open(self, sealed: str) -> bytes:
        """Decrypt a stored text. Raise Unsealable."""
        try:
            raw = b64decode(sealed, validate=True)
            return self._cipher.decrypt(raw[:NONCE], raw[NONCE:], None)
        except (InvalidTag, ValueError):
            raise Unsealable("it was sealed with another secret, or is damaged") from None
