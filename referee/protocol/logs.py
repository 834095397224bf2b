"""Conversion between values and the messages for authors: the logs and deals of bots, page by page."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from referee.errors import LogQueryError
from referee.matches.journal import BotDeal, DealPage, DealQuery, EntryKind, LogEntry, LogQuery, Place
from referee.v1 import logs_pb2

PAGE, LARGEST_PAGE = 50, 1000
"""How many entries a page has if the request names no number, and at most."""

LARGEST_PAGE_OF_DEALS = 200
"""The most deals on a page."""

_PLACE = re.compile(r"[0-9]{1,18}\.[0-9]{1,9}\.[0-9]{1,9}")

_KINDS: Mapping[str, "logs_pb2.LogEntryKind.ValueType"] = {
    EntryKind.CONNECTED: logs_pb2.LOG_ENTRY_KIND_CONNECTED,
    EntryKind.LEFT: logs_pb2.LOG_ENTRY_KIND_LEFT,
    EntryKind.LOST: logs_pb2.LOG_ENTRY_KIND_LOST,
    EntryKind.REFUSED: logs_pb2.LOG_ENTRY_KIND_REFUSED,
    EntryKind.FAULT: logs_pb2.LOG_ENTRY_KIND_FAULT,
    EntryKind.NOTICE: logs_pb2.LOG_ENTRY_KIND_NOTICE,
}
_NAMES = {number: EntryKind(kind) for kind, number in _KINDS.items()}


def read_query(request: logs_pb2.ListLogEntriesRequest) -> LogQuery:
    """Return the query of a request, for one entry more than its page, to know whether there are more.

    Raise LogQueryError for a wrong field.
    """
    if request.page_size < 0:
        raise LogQueryError(f"page_size: {request.page_size} is below 0")
    kinds = tuple(_NAMES.get(kind) for kind in request.kinds)
    if None in kinds:
        raise LogQueryError(f"kinds: {list(request.kinds)} has a kind that is not known here")
    return LogQuery(
        request.bot,
        kinds=tuple(kind for kind in kinds if kind is not None),
        session=request.session_id or None,
        limit=min(request.page_size or PAGE, LARGEST_PAGE) + 1,
        after=request.after,
        before=_read_token(request.page_token),
    )


def _read_token(token: str) -> int | None:
    """Return the id that all entries of the page are below; None for the first page."""
    if not token:
        return None
    if not (token.isascii() and token.isdecimal() and len(token) < 20):
        raise LogQueryError("page_token: was not given by a referee")
    return int(token)


def query_request(query: LogQuery, page_token: str = "") -> logs_pb2.ListLogEntriesRequest:
    """Return the request for a page of entries."""
    return logs_pb2.ListLogEntriesRequest(
        bot=query.bot,
        kinds=[_KINDS[kind] for kind in query.kinds],
        session_id=query.session or "",
        after=query.after or None,
        page_size=min(query.limit, LARGEST_PAGE),
        page_token=page_token,
    )


def page_message(entries: Sequence[LogEntry], query: LogQuery) -> logs_pb2.ListLogEntriesResponse:
    """Return the page with the entries found for a query."""
    page = entries[: query.limit - 1]
    return logs_pb2.ListLogEntriesResponse(
        entries=map(log_message, page),
        next_page_token=str(page[-1].id) if len(entries) > len(page) else "",
    )


def read_deal_query(request: logs_pb2.ListDealsRequest) -> DealQuery:
    """Return which deals a request asks for. Raise LogQueryError for a wrong field."""
    if request.page_size < 0:
        raise LogQueryError(f"page_size: {request.page_size} is below 0")
    return DealQuery(
        request.bot,
        session=request.session_id or None,
        lost=request.lost,
        limit=min(request.page_size or PAGE, LARGEST_PAGE_OF_DEALS),
        before=_read_place(request.page_token),
    )


def _read_place(token: str) -> Place | None:
    """Return the deal that all deals of the page come before; None for the first page."""
    if not token:
        return None
    if not _PLACE.fullmatch(token):
        raise LogQueryError("page_token: was not given by a referee")
    session, place, deal = map(int, token.split("."))
    return session, place, deal


def deals_request(query: DealQuery, page_token: str = "") -> logs_pb2.ListDealsRequest:
    """Return the request for a page of deals."""
    return logs_pb2.ListDealsRequest(
        bot=query.bot,
        session_id=query.session or "",
        lost=query.lost,
        page_size=min(query.limit, LARGEST_PAGE_OF_DEALS),
        page_token=page_token,
    )


def deals_message(page: DealPage) -> logs_pb2.ListDealsResponse:
    """Return the message of a page of deals."""
    return logs_pb2.ListDealsResponse(
        deals=map(_deal_message, page.deals),
        next_page_token=".".join(map(str, page.before or ())),
    )


def _deal_message(deal: BotDeal) -> logs_pb2.BotDeal:
    record = json.dumps(dict(deal.record), separators=(",", ":"))
    message = logs_pb2.BotDeal(bot=deal.bot, session_id=deal.session_id, seat=deal.seat, record=record)
    message.store_time.FromDatetime(deal.at)
    return message


def read_deal(message: logs_pb2.BotDeal) -> BotDeal:
    """Return the deal of a message."""
    at = message.store_time.ToDatetime(UTC)
    return BotDeal(message.bot, message.session_id, message.seat, at, json.loads(message.record))


def log_message(entry: LogEntry) -> logs_pb2.LogEntry:
    """Return the message of an entry."""
    message = logs_pb2.LogEntry(
        id=entry.id,
        bot=entry.bot,
        referee_id=entry.referee,
        kind=_KINDS.get(entry.kind, logs_pb2.LOG_ENTRY_KIND_UNSPECIFIED),
        code=entry.code,
        text=entry.text,
        session_id=entry.session_id,
    )
    message.create_time.FromDatetime(entry.at)
    message.details.update(json.loads(json.dumps(dict(entry.details), default=str)))
    return message


def read_entry(message: logs_pb2.LogEntry) -> LogEntry:
    """Return the entry of a message."""
    return LogEntry(
        id=message.id,
        at=message.create_time.ToDatetime(UTC),
        bot=message.bot,
        referee=message.referee_id,
        kind=_NAMES.get(message.kind, "unspecified"),
        code=message.code,
        text=message.text,
        session_id=message.session_id,
        details=_read_details(message.details),
    )


def _read_details(details: Struct) -> dict[str, object]:
    """Return details with whole numbers as integers: on the wire, all numbers are floating-point."""

    def whole(value: object) -> object:
        if isinstance(value, dict):
            return {key: whole(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [whole(inner) for inner in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return {key: whole(value) for key, value in MessageToDict(details).items()}
