"""``arena web``: the process that serves the API and the web pages."""

import typer

from arena.cli.context import settings_of, storage_of
from arena.errors import SettingsError
from arena.host import logs
from referee.cli.output import say


def web(ctx: typer.Context) -> None:
    """Serve the web pages and the API of this arena over HTTP."""
    from arena.store.watch import Watch
    from arena.web.app import make_app
    from arena.web.serving import serve

    settings = settings_of(ctx)
    if not settings.web_listen:
        raise SettingsError("web_listen", "it is empty; set it to the host:port to serve the API on")
    logs.set_up(settings, "web")
    with storage_of(ctx) as storage, Watch(storage, "web"):
        serve(make_app(settings, storage), settings, lambda: say(f"listening on {settings.web_listen}"))
