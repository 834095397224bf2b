"""``arena beat``: the process that advances tournaments and starts seasons."""

from contextlib import ExitStack

import typer

from arena.cli.context import settings_of
from arena.host import logs
from arena.play.messages import run_beat


def beat(ctx: typer.Context) -> None:
    """Run the beat: it advances tournaments and starts seasons. One is enough."""
    settings = settings_of(ctx)
    logs.set_up(settings, "beat")
    with ExitStack() as stack:
        if settings.metrics_listen:
            from arena.play.metrics import DatabaseCollector, published  # the beat itself needs no database
            from arena.store.storage import Storage

            # Not migrated here: the beat has to run even while the database is away.
            storage = stack.enter_context(Storage(settings.database_url))
            stack.enter_context(published(settings, "beat", DatabaseCollector(storage)))
        run_beat(settings)
