"""``arena web``: the process that serves the API."""

import typer

from arena import logs
from arena.cli.context import settings_of, storage_of
from arena.cli.output import say


def web(ctx: typer.Context) -> None:
    """Serve the API of this arena over HTTP."""
    from arena.web.app import make_app
    from arena.web.serving import serve

    settings = settings_of(ctx)
    logs.set_up(settings, "web")
    with storage_of(ctx) as storage:
        app = make_app(settings, storage)
        say(f"listening on {settings.web_listen}: {settings.web_url}")
        serve(app, settings)
