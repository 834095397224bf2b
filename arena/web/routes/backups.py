"""A backup of the database, to download."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Annotated

from fastapi import Depends, Request

from arena.actors import KeyScope, Role
from arena.operations.operation import Context
from arena.running.backups import BACK_UP, open_backup
from arena.web.asking import allowed, require_own_page
from arena.web.context import Shared
from arena.web.routes.exports import Lines
from arena.web.routing import api_router

router = api_router("operator")

SQLITE = "application/vnd.sqlite3"

CHUNK = 1 << 18
"""Bytes that are read at once."""


class Backup(Lines):
    """A response that streams a file."""

    media_type = SQLITE


Operating = Annotated[Context, Depends(allowed(KeyScope.OPERATE))]


def place(web: Shared, context: Operating, request: Request) -> Iterator[ExitStack]:
    """Hold the slot for a backup until it is sent, for those who may have one. Raise NotAllowed, TooMany.

    What is entered into the stack ends then, or when the download is aborted.
    """
    require_own_page(request)
    context.actor.require(Role.OPERATOR, BACK_UP)
    with web.backups.held(""), ExitStack() as held:
        yield held


@router.get(
    "/operator/backup",
    response_class=Backup,
    responses={
        200: {
            "content": {SQLITE: {"schema": {"type": "string", "format": "binary"}}},
            "description": "A SQLite database.",
        }
    },
)
def download_backup(web: Shared, context: Operating, held: Annotated[ExitStack, Depends(place)]) -> Backup:
    """Return a copy of the database as of this moment, as `arena backup` writes it.

    It holds the seeds of tournaments that have not ended, so keep it as secret as the arena. A database that
    is a server is not copied: use pg_dump.
    """
    file = held.enter_context(open_backup(web.storage, web.settings, context.actor, context.now))
    headers = {
        "Cache-Control": "no-store",
        "Content-Length": str(os.fstat(file.fileno()).st_size),
        "Content-Disposition": f'attachment; filename="arena-{context.now:%Y-%m-%d-%H%M}.db"',
    }
    return Backup(iter(partial(file.read, CHUNK), b""), headers=headers)
