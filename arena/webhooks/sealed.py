"""The secrets with which messages are signed: drawn, and sealed where they are stored."""

import secrets
from base64 import b64encode
from contextlib import suppress

from arena.host.settings import Settings
from arena.store.encryption import Seal, Unsealable

SECRET = 32
"""Bytes of a secret."""


def draw_secret() -> str:
    """Return a new secret in the form of Standard Webhooks."""
    return f"whsec_{b64encode(secrets.token_bytes(SECRET)).decode()}"


def seal_of(settings: Settings) -> Seal:
    """Return the seal for secrets: whoever has the key of webhooks can read them. Raise SettingsError."""
    return _seal(settings.webhook_secret())


def open_secret(settings: Settings, sealed: str) -> tuple[str, str]:
    """Return a secret, and the sealed form in which to store it from now on.

    That differs from the current one if it was sealed with the worker token, as all secrets were before they
    had a key of their own. Raise Unsealable, SettingsError.
    """
    own = seal_of(settings)
    with suppress(Unsealable):
        return own.open(sealed).decode(), sealed
    secret = _seal(settings.worker_secret()).open(sealed)
    return secret.decode(), own.close(secret)


def _seal(key: str) -> Seal:
    return Seal(key.encode(), b"webhook secret")
