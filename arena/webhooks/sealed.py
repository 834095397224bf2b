"""The secrets with which messages are signed: drawn, and sealed where they are stored."""

import secrets
from base64 import b64encode
from contextlib import suppress

from arena.sealing import Seal, Unsealable
from arena.settings import Settings

SECRET = 32
"""Bytes of a secret."""


def draw_secret() -> str:
    """Return a new secret, as Standard Webhooks writes them."""
    return f"whsec_{b64encode(secrets.token_bytes(SECRET)).decode()}"


def seal_of(settings: Settings) -> Seal:
    """Return what seals secrets: whoever has the key of webhooks can read them. Raise SettingsError."""
    return _seal(settings.webhook_secret())


def open_secret(settings: Settings, sealed: str) -> tuple[str, str]:
    """Return a secret, and how it is to be stored from now on.

    That differs from how it is stored if it was sealed with the worker token, as all were before they had a
    key of their own. Raise Unsealable, SettingsError.
    """
    own = seal_of(settings)
    with suppress(Unsealable):
        return own.open(sealed).decode(), sealed
    secret = _seal(settings.worker_secret()).open(sealed)
    return secret.decode(), own.close(secret)


def _seal(key: str) -> Seal:
    return Seal(key.encode(), b"webhook secret")
