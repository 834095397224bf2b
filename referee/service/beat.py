"""What a referee does all the time: it tells the lobby the time, and closes streams without a valid token."""

import asyncio
import logging

from referee.matches.connection import CloseCode
from referee.matches.lobby import BEAT_SECONDS, Lobby
from referee.service.access import Access
from referee.service.stream import Alarm, clock

REVOKED_SECONDS = 2.0
"""How often the tokens of connected bots are checked."""


log = logging.getLogger("referee")


async def keep_beating(lobby: Lobby, alarm: Alarm, access: Access) -> None:
    """Beat until cancelled."""
    asked_at = clock()
    asking: asyncio.Task[None] | None = None
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        try:
            lobby.beat(clock())
            alarm.set()
        except Exception:  # without a beat, pauses and lost streams would go unnoticed
            log.exception("the lobby's beat failed")
        if clock() - asked_at >= REVOKED_SECONDS and (asking is None or asking.done()):
            asked_at = clock()
            asking = asyncio.create_task(_close_revoked(lobby, access))


async def _close_revoked(lobby: Lobby, access: Access) -> None:
    connections = {one.identity.version_id: one for one in lobby.connections}
    if not connections:
        return
    asked = [connection.identity for connection in connections.values()]
    for version, why in (await access.revoked(asked)).items():
        if lobby.connection(version) is connections[version]:  # it may have come back with a valid token
            lobby.close(connections[version], CloseCode.REVOKED, why, clock())
