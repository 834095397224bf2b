"""The key of the tests' referees."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.signing import SigningKey

KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
"""The key of the referees in tests that depend on a particular key."""
