"""``arena migrate``, ``arena backup`` and ``arena restore``: the database, its schema and its copies."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.context import Force, Yes, actor_at_terminal, confirm, settings_of, storage_of
from arena.running import backups
from arena.running.backups import Lost, deal_anew
from arena.store.migrations import HEAD
from arena.store.models import utc_now
from arena.store.storage import migrate_storage, open_storage
from arena.trust.keys import register_arena_key
from referee.cli.output import AsJson, print_json, say, warn
from referee.processes.interrupts import unwound_on_signals
from referee.ruleset.words import counted


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


def backup(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the database to a file; the arena may be running.

    It holds the seeds of tournaments that have not ended, so keep it as secret as the arena. For PostgreSQL
    use pg_dump. An existing file is replaced only with --force.
    """
    with unwound_on_signals():
        revision = backups.backup(settings_of(ctx), file, force=force)
    if as_json:
        print_json({"file": str(file), "schema": revision})
    else:
        say(f"{file} holds the database, schema {revision}")


def restore(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(help="The backup; without it, the database was restored by other means.")
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Replace the database with a backup; its contents are lost. Stop everything first.

    The backup is checked before anything is asked or changed, and upgraded if it is of an earlier version.
    Whatever was unfinished then is played again with new cards; the command says in which tournaments.
    After pg_restore, run this without a file, so that new cards are dealt then, too.
    """
    settings = settings_of(ctx)
    if file is None:
        with storage_of(ctx) as storage:
            anew = deal_anew(storage, actor_at_terminal(), utc_now())
        _tell(anew, as_json, {}, "the database is as it was restored")
        return
    with (
        unwound_on_signals(),
        backups.prepared(settings, actor_at_terminal(), file, utc_now()) as restoration,
    ):
        if restoration.replaced:
            warn(*_lost_lines(restoration.lost))
            confirm(f"Replace {restoration.replaced} with {file}, and lose what it holds", yes)
        restoration.commit()
    lost = asdict(restoration.lost) if restoration.lost else dict.fromkeys(Lost.__dataclass_fields__)
    done = f"{settings.shown()['database_url']} is as it was backed up"
    _tell(restoration.redealt, as_json, {"file": str(file), **lost}, done)


def _lost_lines(lost: Lost | None) -> Iterator[str]:
    """Yield lines about what is lost with the database that is replaced."""
    if lost is None:
        yield "what is lost is not known: the present database cannot be compared with the backup"
        return
    if lost.again:
        yield f"ended since the backup, and run again: {', '.join(lost.again)}"
    if lost.gone:
        yield f"created since the backup, and gone: {', '.join(lost.gone)}"
    if lost.sessions or lost.bots:
        yield f"lost: {counted(lost.sessions, 'finished session')}, {counted(lost.bots, 'bot version')}"


def _tell(redealt: Sequence[str], as_json: bool, fields: dict[str, object], done: str) -> None:
    if as_json:
        print_json({**fields, "schema": HEAD, "anew": redealt})
        return
    say(f"{done}, schema {HEAD}")
    if redealt:
        say(f"dealt with new cards from here on: {', '.join(redealt)}")
