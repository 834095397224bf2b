"""Server-sent events: written once for all who follow the same thing, and sent as few pieces."""

import json
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

PING = b": ping\n\n"
"""Says nothing, so that nobody on the way takes a stream for dead."""

PING_SECONDS = 15.0
"""After how long a silence it is sent."""


def event(kind: str, values: object, id: str | None = None) -> bytes:
    """Return an event as it is sent, with its values as JSON, which has no line breaks."""
    data = json.dumps(values, separators=(",", ":"))
    number = "" if id is None else f"id: {id}\n"
    return f"event: {kind}\n{number}data: {data}\n\n".encode()


class EventStream(StreamingResponse):
    """An answer of events, which nobody on the way is to keep or hold back."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], status_code: int = 200) -> None:
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(events, status_code, headers)
