"""Exports: a tournament as one file that proves itself."""

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from itertools import chain
from typing import Annotated

import anyio
from fastapi import Depends, Query
from fastapi.responses import StreamingResponse
from starlette.types import Message, Send

from arena.core.specs import Name
from arena.trust.exports.write import export_lines, export_records
from arena.web.asking import Caller
from arena.web.context import Shared
from arena.web.routing import api_router

router = api_router("exports")

NDJSON = "application/x-ndjson"

CHUNK = 1 << 16
"""Approximate number of characters that are sent at once."""

PATIENCE_SECONDS = 60
"""How long a client may stall while it reads an export, which occupies one of few places."""


class Lines(StreamingResponse):
    """A response that streams lines as they are made."""

    media_type = NDJSON

    async def stream_response(self, send: Send) -> None:
        """Send the lines. Raise TimeoutError if the client stalls."""

        async def patient(message: Message) -> None:
            with anyio.fail_after(PATIENCE_SECONDS):
                await send(message)

        await super().stream_response(patient)


def place(web: Shared, caller: Caller) -> Iterator[ExitStack]:
    """Hold a slot for an export until it is sent. Raise TooMany.

    What is entered into the stack ends then, or when the download is aborted.
    """
    with web.exports.held(caller), ExitStack() as held:
        yield held


@router.get(
    "/tournaments/{tournament}/export",
    response_class=Lines,
    responses={200: {"content": {NDJSON: {"schema": {"type": "string"}}}, "description": "JSON lines."}},
)
def export_tournament(
    web: Shared,
    held: Annotated[ExitStack, Depends(place)],
    tournament: Name,
    deals: Annotated[bool, Query(description="The deal records only.")] = False,
) -> Lines:
    """Return a tournament as JSON lines: what `arena export` writes, and `arena verify` reads."""
    lines = (export_records if deals else export_lines)(web.storage, tournament)
    made = held.enter_context(closing(chunks(lines, CHUNK)))
    return Lines(chain([next(made, "")], made))  # an unknown tournament is reported before the answer begins


def chunks(lines: Generator[str], size: int) -> Generator[str]:
    """Yield lines in chunks of about ``size`` characters; close what is behind them at the end."""
    with closing(lines):
        chunk, length = list[str](), 0
        for line in lines:
            chunk.append(f"{line}\n")
            length += len(line)
            if length >= size:
                yield "".join(chunk)
                chunk, length = [], 0
        yield "".join(chunk)
