"""What a bot's stream says and takes in, without the stream: batches of events, and requests."""

from typing import Any

from referee.matches.connection import Connection
from referee.matches.connections import MAX_SESSIONS
from referee.matches.events import Notice, Turn
from referee.matches.kinds import NoticeCode
from referee.matches.lobby import Lobby
from referee.protocol.encode import other_event, turn_event
from referee.protocol.reasons import MEANINGS, Reason
from referee.protocol.version import MAX_MESSAGE_BYTES
from referee.protocol.wire import read_encoded_move
from referee.v1 import bots_pb2

RETRY_SECONDS = MEANINGS[Reason.CLOSING].retry_seconds or 0.0
"""How long bots should stay away when the referee has ended their streams."""


def _closing(connection: Connection, now: float) -> bytes:
    """Return the message that tells the bot that the referee is shutting down."""
    response = bots_pb2.PlayResponse()
    shutdown = connection.take_shutdown()
    if shutdown is not None:
        response.closing.reason = shutdown.reason
        response.closing.end_delay.FromMilliseconds(round(1000 * max(0.0, shutdown.end_at - now)))
        response.closing.retry_delay.FromMilliseconds(round(1000 * RETRY_SECONDS))
    return response.SerializeToString()


def next_message(lobby: Lobby, connection: Connection, now: float) -> bytes:
    """Return the PlayResponse to send now; empty if there is nothing to say."""
    outbox = connection.outbox
    parts: list[bytes] = []
    if connection.ping_due:
        ping = bots_pb2.Ping(id=connection.take_ping(now))
        parts.append(bots_pb2.PlayResponse(ping=ping).SerializeToString())
    if connection.shutdown_due is not None:
        parts.append(_closing(connection, now))
    if parts and outbox.hold(now) > 0:
        return b"".join(parts)
    credit, wants = connection.round_trip, connection.wants
    seats, owed = connection.seats, outbox.owed
    size, taken, owed_before = 0, 0, len(owed)
    events = outbox.take(now)
    for taken, event in enumerate(events, 1):  # noqa: B007  # how many were taken is read after a break
        if type(event) is Turn:
            handle = event.info.handle
            seat = seats.get(handle)
            if seat is None:
                continue
            try:
                if not seat.table.hand_out(event, now, credit):
                    continue
                part = turn_event(event, wants)
            except Exception:
                lobby.fail(seat.table)
                continue
            owed.add(handle)
        else:
            part = other_event(event)
        parts.append(part)
        size += len(part)
        if size > MAX_MESSAGE_BYTES:
            break
    outbox.note_sent(len(owed) - owed_before)
    if taken < len(events):
        outbox.put_back(events[taken:])
    return b"".join(parts)


def take_request(lobby: Lobby, connection: Connection, request: Any, now: float) -> bool:
    """Handle a lazy PlayRequest: answers, a pong, a capacity; return whether it has a goodbye."""
    lobby.note_time(now)
    useful = says_goodbye = False
    if request.moves:
        useful = True
        connection.heard_at = now
        seats, owed = connection.seats, connection.outbox.owed
        if connection.pace is not None and connection.answers(request.moves[0].session, now):
            lobby.grew()
        for move in request.moves:
            handle, sequence = move.session, move.sequence
            seat = seats.get(handle)
            if seat is None:
                lobby.misplaced(connection, handle, sequence, now)
            else:
                table = seat.table
                cards = read_encoded_move(table.info.rules, move)
                try:
                    if table.answer(seat.index, sequence, cards, now):
                        owed.discard(handle)
                        continue
                except Exception:
                    lobby.fail(table)
                    continue
                lobby.useless(connection, now)
            if connection.closing is not None:
                return False
        connection.outbox.heard(len(request.moves))
        lobby.settle(now)
    if request.HasField("pong"):
        useful = connection.pong(request.pong.id, now) or useful
    if request.HasField("capacity"):  # never useful: each one makes the lobby look at all matches
        lobby.resize(connection, min(request.capacity.max_sessions, MAX_SESSIONS))
    if request.HasField("goodbye"):
        says_goodbye = useful = True
    if request.HasField("hello"):
        notice = Notice(NoticeCode.UNEXPECTED, "a hello belongs in the first message only")
        lobby.notice(connection, notice)
        useful = False
    if not useful:
        lobby.useless(connection, now)
    return says_goodbye
