"""``arena migrate``: the schema of the database."""

import typer

from arena.cli.context import settings_of
from arena.store.migrations import HEAD
from arena.store.models import utc_now
from arena.store.storage import migrate_storage, open_storage
from arena.trust.keys import register_arena_key
from referee.cli.output import AsJson, print_json, say


def migrate(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Upgrade the database to the schema of this version, or create its tables.

    This is one transaction: it happens as a whole or not at all. Make a backup first.
    """
    settings = settings_of(ctx)
    before = migrate_storage(settings)
    with open_storage(settings) as storage:
        register_arena_key(storage, settings, utc_now())
    if as_json:
        print_json({"before": before, "schema": HEAD})
    elif before == HEAD:
        say(f"the database is up to date: schema {HEAD}")
    else:
        say(f"the database has schema {HEAD} now" + (f"; it had {before}" if before else ""))
