"""Finding out whether there are any results, without loading the modules that read them."""

from sqlalchemy import column, exists, select, table

from arena.store.database import Database


def is_anybody_rated(database: Database) -> bool:
    """Return whether any bot version has a rating."""
    rated = table("ratings", column("matches"))
    with database.connect() as connection:
        return connection.execute(select(exists().where(rated.c.matches > 0))).scalar_one()
