"""Whether there is anything to ask for, told without loading what would read it."""

from sqlalchemy import column, exists, select, table

from arena.database import Database


def is_anybody_rated(database: Database) -> bool:
    """Return whether any bot version has a rating."""
    rated = table("ratings", column("matches"))
    with database.connect() as connection:
        return connection.execute(select(exists().where(rated.c.matches > 0))).scalar_one()
