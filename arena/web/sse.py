"""Server-sent events, encoded once for all followers and sent in few pieces."""

import json
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

PING = b": ping\n\n"
"""A comment that keeps proxies from taking a stream for dead."""

PING_SECONDS = 15.0
"""The silence after which it is sent."""


def event(kind: str, values: object, id: str | None = None) -> bytes:
    """Return an encoded event, with its values as JSON without line breaks."""
    data = json.dumps(values, separators=(",", ":"))
    number = "" if id is None else f"id: {id}\n"
    return f"event: {kind}\n{number}data: {data}\n\n".encode()


class EventStream(StreamingResponse):
    """An answer of events, which proxies must neither cache nor buffer."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], status_code: int = 200) -> None:
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(events, status_code, headers)
