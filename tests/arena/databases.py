"""Databases of tests that need their own."""

from arena.settings import Settings
from arena.storage import Storage, migrate_storage, open_storage


def open_new(settings: Settings) -> Storage:
    """Open the database of these settings, which may have no tables yet."""
    migrate_storage(settings)
    return open_storage(settings)
