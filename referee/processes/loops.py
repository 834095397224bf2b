"""Event loops."""

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop: uvloop's, with a tenth less work per message, or else asyncio's own."""
    try:
        import uvloop
    except ImportError:  # a light installation, or Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
