"""``arena worker``: the process that has matches played."""

import typer

from arena.cli.context import settings_of
from arena.host import logs
from arena.play.metrics import WORKER, published
from arena.play.tasks import run_worker


def worker(ctx: typer.Context) -> None:
    """Run a worker: it has referees play matches, and stores the results."""
    settings = settings_of(ctx)
    logs.set_up(settings, "worker")
    with published(settings, "worker", WORKER):
        run_worker(settings)
