"""The secrets with which messages are signed: drawn, and sealed where they are stored."""

import secrets
from base64 import b64encode

from arena.sealing import Seal
from arena.settings import Settings

SECRET = 32
"""Bytes of a secret."""


def draw_secret() -> str:
    """Return a new secret, as Standard Webhooks writes them."""
    return f"whsec_{b64encode(secrets.token_bytes(SECRET)).decode()}"


def seal_of(settings: Settings) -> Seal:
    """Return what seals secrets: whoever has the worker token can read them. Raise SettingsError."""
    return Seal(settings.worker_secret().encode(), b"webhook secret")
