"""Event loops."""

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop: uvloop's, a tenth less work for a message, or asyncio's own where that is not."""
    try:
        import uvloop
    except ImportError:  # a light installation, or Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
