"""How bots come in: their hello, room for them, and a second stream of a bot that is already here."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from referee.errors import ConnectionRefused
from referee.matches.auth import BotIdentity
from referee.matches.connection import CloseCode, Connection, Pace, Wants
from referee.matches.events import Notice
from referee.matches.journal import Entry, EntryKind
from referee.matches.kinds import NoticeCode
from referee.matches.lobby import Lobby
from referee.memo import Memo
from referee.protocol.capabilities import bounds, lacks
from referee.protocol.reasons import Reason, Refused, readable
from referee.protocol.version import PROTOCOL_VERSION
from referee.ruleset.model import Ruleset
from referee.service.peers import elsewhere
from referee.service.serving import ServerOptions
from referee.service.stream import Alarm, BotStream, PlayContext, clock, read_message
from referee.v1 import bots_pb2

HELLO_SECONDS = 10.0
"""How long a new stream may take to say hello."""
HANDSHAKES = 256
"""How many bots at once may have presented a token without saying hello: the oldest are ended to make room.
As many again may have said hello and wait for an earlier stream of theirs: more are turned away."""
SILENT_SECONDS = 1.0
"""How long a new stream that has not said hello keeps another one of its bot out."""
TAKEOVER_SECONDS, TAKEOVER_LOOKS = 2.0, 100
"""How long a bot's live stream has to show that it is alive when the bot connects again, and how often this
is checked."""


ANOTHER_ATTEMPT = "another attempt of the bot to connect is under way"


class _Silence(NamedTuple):
    """A stream that has not said hello."""

    patience: asyncio.Timeout
    since: float


class Reception:
    """Lets bots in."""

    def __init__(self, lobby: Lobby, alarm: Alarm, options: ServerOptions) -> None:
        self._lobby = lobby
        self._alarm = alarm
        self._options = options
        self._connecting: set[int] = set()
        """Bot versions that have said hello but have not been let in yet."""
        self._silent: dict[int, _Silence] = {}
        """The streams that have not said hello, by bot version, oldest first."""

    async def welcome(self, identity: BotIdentity, context: PlayContext) -> tuple[BotStream, bots_pb2.Hello]:
        """Return the stream of a bot that may play, and its hello. Raise Refused if it may not."""
        version = identity.version_id
        self._make_room(version)
        first = await self._read_hello(identity, context)
        hello = first.hello
        if version in self._connecting:
            raise Refused(Reason.BUSY, ANOTHER_ATTEMPT)
        if len(self._connecting) >= HANDSHAKES:
            raise Refused(Reason.BUSY, "too many bots are connecting")
        self._connecting.add(version)
        try:
            share = self._options.share_of(hello.max_sessions)
            lacking = _lacking(hello.capabilities)
            pace = None if hello.max_sessions else Pace()
            host = elsewhere(context)
            stream = BotStream(self._lobby, self._alarm, identity, share, _wants(hello), pace, lacking, host)
            stream.connection.bounds = bounds(hello.capabilities)
            await self._connect(stream.connection)
        finally:
            self._connecting.discard(version)
        if first.moves or first.HasField("goodbye") or first.HasField("pong") or first.HasField("capacity"):
            text = "the first message holds the hello and nothing else; the rest was ignored"
            self._lobby.notice(stream.connection, Notice(NoticeCode.UNEXPECTED, text))
        return stream, hello

    def _make_room(self, version: int) -> None:
        """End the silent stream that must make room for another one of this bot version, if any.

        Raise Refused if the bot's own silent stream is too new.
        """
        before = self._silent.get(version)
        if before is not None and clock() - before.since < SILENT_SECONDS:
            raise Refused(Reason.BUSY, ANOTHER_ATTEMPT)
        if before is None and len(self._silent) >= HANDSHAKES:
            version, before = next(iter(self._silent.items()))
        if before is not None:
            del self._silent[version]
            before.patience.reschedule(asyncio.get_running_loop().time())

    async def _read_hello(self, identity: BotIdentity, context: PlayContext) -> bots_pb2.PlayRequest:
        """Return the message that opens a stream. Raise Refused if it has no hello, or none comes."""
        version = identity.version_id
        silence: _Silence | None = None
        try:
            async with asyncio.timeout(HELLO_SECONDS) as patience:
                self._silent[version] = silence = _Silence(patience, clock())
                message = await read_message(context)
        except TimeoutError:
            raise Refused(Reason.HELLO_LATE) from None
        finally:
            if self._silent.get(version) is silence:
                del self._silent[version]
        return _checked_hello(message, identity)

    async def _connect(self, connection: Connection) -> None:
        """Let the bot in; its new stream replaces an earlier one that gives no sign of life."""
        identity, lobby = connection.identity, self._lobby
        penalty = lobby.penalty(identity.version_id, clock())
        if penalty > 0:
            text = f"flood: come back in {penalty:.1f} s"
            raise self._refused(connection, Refused(Reason.FLOOD, text, penalty))
        earlier = lobby.connection(identity.version_id)
        if earlier is not None:
            await self._wait_for_life(earlier)
        try:
            lobby.connect(connection, clock())
        except ConnectionRefused as error:
            referee = self._options.referee_id
            refusal = Refused(Reason.ALREADY_CONNECTED, str(error), referee_id=referee)
            raise self._refused(connection, refusal) from None

    async def _wait_for_life(self, earlier: Connection) -> None:
        """Wait for a sign of life from an earlier stream, and close it if none comes."""
        asked_at = clock()
        earlier.probe()
        for _ in range(TAKEOVER_LOOKS):  # not by the clock: if the referee itself is stopped, none is used up
            if (
                earlier.heard_at > asked_at
                or self._lobby.connection(earlier.identity.version_id) is not earlier
            ):
                return
            await asyncio.sleep(TAKEOVER_SECONDS / TAKEOVER_LOOKS)
        text = "the bot connected again, and this stream gave no sign of life"
        self._lobby.close(earlier, CloseCode.REPLACED, text, clock())

    def _refused(self, connection: Connection, refusal: Refused) -> Refused:
        """Note a refusal for the bot's author."""
        entry = Entry(connection.identity.version_id, EntryKind.REFUSED, refusal.reason.lower(), str(refusal))
        self._options.journal.add(entry)
        return refusal


def _wants(hello: bots_pb2.Hello) -> Wants | None:
    wants = Wants(hello.wants.legal_plays, hello.wants.hands)
    return wants if any(wants) else None


def _lacking(capabilities: bots_pb2.Capabilities) -> Callable[[Ruleset], Sequence[str]]:
    """Return a cached function that says in words what a ruleset requires beyond these capabilities."""
    return Memo[Ruleset, Sequence[str]](partial(lacks, capabilities), limit=64).__getitem__


def _checked_hello(message: Any, identity: BotIdentity) -> bots_pb2.PlayRequest:
    if message is None:
        raise Refused(Reason.HELLO_MISSING, "hello: the stream ended without one")
    first: bots_pb2.PlayRequest = readable(message)
    if not first.HasField("hello"):
        raise Refused(Reason.HELLO_MISSING, "hello: the first message must be a hello")
    hello = first.hello
    if hello.protocol_version != PROTOCOL_VERSION:
        text = f"protocol_version: {hello.protocol_version} is not spoken here, {PROTOCOL_VERSION} is"
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        supported = str(PROTOCOL_VERSION)
        raise Refused(Reason.PROTOCOL_VERSION, text, supported=supported, bot=identity.name, now=now)
    if hello.HasField("max_sessions") and hello.max_sessions < 1:
        raise Refused(
            Reason.FIELD_INVALID, "hello.max_sessions: must be at least 1", field="hello.max_sessions"
        )
    return first
