"""The schema's history (Alembic). ``python -m arena.store.migrations TEXT`` writes the next migration."""

HEAD = "0007"
"""The revision that this version of the arena requires: the latest in ``versions/``."""
