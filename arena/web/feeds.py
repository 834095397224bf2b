"""Event streams of tournaments, read from the database and encoded once for all followers."""

import asyncio
import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from starlette.responses import StreamingResponse

from arena.errors import ArenaError, UnknownError
from arena.store.storage import Storage
from arena.tournaments.events import TournamentUpdate, list_events, updates
from arena.tournaments.overview import TournamentStatus

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


log = logging.getLogger(__name__)

POLL_SECONDS = 1.0

KEPT = 1000
"""Number of latest events kept for a tournament's followers; who is further behind reads from
the database."""

Event = Mapping[str, Any]
"""An event as exports have it."""


class Feed:
    """The status and latest events of a tournament that somebody follows."""

    def __init__(self, seen: TournamentUpdate) -> None:
        self.status = _steady(seen.status)
        self.last = seen.last
        """Number of the latest event that was read."""
        self.total = seen.last
        """Number of the latest event."""
        self.changed = asyncio.Event()
        """Set and replaced when there is something new."""
        self.followers = 0
        self.deleted = False
        """Whether the tournament is there no longer."""
        self._events: deque[Event] = deque(maxlen=KEPT)

    def take(self, seen: TournamentUpdate) -> None:
        """Update the feed, and wake the followers if anything is new."""
        status = _steady(seen.status)
        if not seen.events and status == self.status:
            return
        self._events.extend(seen.events)
        self.last = seen.events[-1]["number"] if seen.events else self.last
        self.status, self.total = status, seen.last
        self.wake()

    def wake(self) -> None:
        """Wake the followers."""
        before, self.changed = self.changed, asyncio.Event()
        before.set()

    def since(self, number: int) -> Sequence[Event] | None:
        """Return the events after a number; None if they are not all kept."""
        if number < self.last - len(self._events):
            return None
        return [event for event in self._events if event["number"] > number]


def _steady(status: TournamentStatus) -> TournamentStatus:
    """Return a status without the values that change all the time."""
    return replace(status, leased_until=None)


class Feeds:
    """The tournaments that are followed; all are polled together, as long as there are any."""

    def __init__(self, storage: Storage, poll_seconds: float = POLL_SECONDS) -> None:
        self._storage = storage
        self._poll_seconds = poll_seconds
        self._feeds: dict[str, Feed] = {}
        self._polling: asyncio.Task[None] | None = None
        self._trouble = ""
        self.closed = False

    @property
    def followed(self) -> int:
        """Return how many tournaments are followed."""
        return len(self._feeds)

    @asynccontextmanager
    async def joined(self, name: str) -> AsyncIterator[Feed]:
        """Follow a tournament while the block lasts. Raise UnknownError."""
        feed = self._feeds.get(name)
        if feed is None:
            [seen] = await asyncio.to_thread(updates, self._storage, {name: None})
            feed = self._feeds.setdefault(name, Feed(seen))
        feed.followers += 1
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        try:
            yield feed
        finally:
            feed.followers -= 1
            if not feed.followers:
                del self._feeds[name]

    async def changes(self, feed: Feed, after: int) -> AsyncIterator[TournamentStatus | Event | None]:
        """Yield a tournament's status and its events after number ``after``, as they come, until it ends.

        That a tournament was deleted ends it, too.

        Yield None when nothing has come for a while.
        """
        last_status: TournamentStatus | None = None
        after = after if after <= feed.last else 0  # such a number was never given out
        while not self.closed and not feed.deleted:
            changed = feed.changed
            if feed.status != last_status:
                last_status = feed.status
                yield last_status
            for event in await self._events(feed, after) if after < feed.last else ():
                after = event["number"]
                yield event
            if after < feed.last:
                continue  # there were more than are read at once
            if feed.status.ended and feed.status is last_status and after >= feed.total:
                return
            try:
                async with asyncio.timeout(PING_SECONDS):
                    await changed.wait()
            except TimeoutError:
                yield None

    async def _events(self, feed: Feed, after: int) -> Sequence[Event]:
        recent = feed.since(after)
        if recent is not None:
            return recent
        return await asyncio.to_thread(list_events, self._storage, feed.status.tournament, after)

    def close(self) -> None:
        """End all streams, because the process stops; followers will reconnect to another one."""
        self.closed = True
        for feed in self._feeds.values():
            feed.wake()

    async def _poll(self) -> None:
        while self._feeds and not self.closed:
            await asyncio.sleep(self._poll_seconds)
            last_events = {name: feed.last for name, feed in self._feeds.items()}
            try:
                changes = await asyncio.to_thread(updates, self._storage, last_events) if last_events else ()
                self._trouble = ""
            except UnknownError:
                changes = ()
            except ArenaError as error:
                if str(error) != self._trouble:
                    log.warning("tournaments cannot be followed now: %s", error)
                self._trouble = str(error)
                continue
            for seen in changes:
                if (feed := self._feeds.get(seen.status.tournament)) is not None:
                    feed.take(seen)
            for name in last_events.keys() - {seen.status.tournament for seen in changes}:
                if (feed := self._feeds.get(name)) is not None:
                    feed.deleted = True
                    feed.wake()
