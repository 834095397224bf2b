"""Tests for matches as messages, and for entries of a bot's log, also from referees of any version."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from referee.deals.action import Forfeit
from referee.deals.session import Legacy
from referee.errors import LogQueryError, MatchRefused
from referee.matches.journal import EntryKind, LogEntry, LogQuery
from referee.matches.match import DealsFinished, Finished, Limits, Progress, Rated
from referee.protocol.logs import (
    LARGEST_PAGE,
    PAGE,
    log_message,
    page_message,
    query_request,
    read_entry,
    read_query,
)
from referee.protocol.requests import (
    SESSIONS_AT_ONCE,
    deals_responses,
    match_request,
    progress_response,
    read_match,
    read_updates,
)
from referee.v1 import logs_pb2
from referee.worker.v1alpha1 import worker_pb2
from tests.referee.support import match_spec

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ENTRY = LogEntry(7, NOW, "ann/greedy@1", "a:1", EntryKind.FAULT, "illegal", "no", "m/1", {})


@pytest.mark.parametrize("shared_deals", [False, True])
def test_match_when_sent_and_read_then_it_is_as_it_was(shared_deals: bool) -> None:
    limits = Limits(
        decision_ms=900,
        join_seconds=5,
        faults=3,
        on_forfeit="stand_in",
        bank_ms=60_000,
        increment_ms=50,
        credit_ms=7,
        ask_forced=True,
        match_seconds=90,
        min_sessions=4,
    )
    spec = replace(match_spec(sessions=2, limits=limits), shared_deals=shared_deals)
    assert read_match(match_request(spec)) == spec


def test_match_when_it_is_rated_then_ratings_are_sent_and_read() -> None:
    spec = match_spec()
    bots = tuple(replace(bot, rated=Rated(bot.version_id - 3, bot.version_id)) for bot in spec.bots)
    spec = replace(spec, bots=bots, pool="chinese@1, tables of 4")
    assert read_match(match_request(spec)) == spec


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"limits": {"decision": "7200s"}},
            "decision_ms: must be a whole number from 1 to 3600000, not 7200000",
        ),
        ({"limits": {"bank": "-0.001s"}}, "bank_ms: must be a whole number from 0 to 86400000, not -1"),
        ({"join": "1.500s"}, "join_seconds: must be a whole number from 1 to 3600, not 1.5"),
        ({"time": "-1s"}, "match_seconds: must be a whole number from 0 to 604800, not -1.0"),
    ],
)
def test_match_when_its_limits_are_impossible_then_it_is_refused_with_the_reason(
    changed: dict[str, object], reason: str
) -> None:
    request = match_request(match_spec())
    request.MergeFrom(ParseDict(changed, worker_pb2.RunMatchRequest()))
    with pytest.raises(MatchRefused) as refused:
        read_match(request)
    assert str(refused.value) == f"limits: {reason}"


@pytest.mark.parametrize("last", [Legacy(3, 2, None, 1), Legacy(1, 0, 3, None)])
def test_session_when_it_goes_on_then_what_is_finished_is_sent_and_read(last: Legacy) -> None:
    spec = match_spec()
    after = Finished(
        last,
        (0, -3, -4, -5),
        (0, 0, 2, 1),
        (1, 2000, 3, 0),
        "",
        (Forfeit(2, 1, 17, "faults"), Forfeit(0, 3, 0, "absent")),
    )
    spec = replace(spec, sessions=(replace(spec.sessions[0], attempt=7, after=after),))
    assert read_match(match_request(spec)) == spec


@pytest.mark.parametrize(
    ("updates", "messages"),
    [
        (
            [DealsFinished(3, ('{"deal":1}', '{"deal":2}'), (100, 0, 7, 1)), DealsFinished(5, ("",))],
            deals_responses,
        ),
        ([Progress(5, 2, ("a/b@1",), 3, (8, 9))], lambda updates: [progress_response(*updates)]),
    ],
)
def test_updates_when_sent_and_read_then_they_are_as_they_were(
    updates: list[Any], messages: Callable[[Any], Iterable[worker_pb2.RunMatchResponse]]
) -> None:
    (message,) = messages(updates)
    assert read_updates(message) == updates


def test_deals_when_many_sessions_are_open_then_no_message_has_those_of_all() -> None:
    deals = [DealsFinished(number, ("{}",)) for number in range(2 * SESSIONS_AT_ONCE + 1)]
    messages = [read_updates(message) for message in deals_responses(deals)]
    assert [len(message) for message in messages] == [SESSIONS_AT_ONCE, SESSIONS_AT_ONCE, 1]
    assert [deal for message in messages for deal in message] == deals


def test_entry_when_sent_and_read_then_it_is_as_it_was() -> None:
    details = {"seat": 2, "elapsed_ms": 0.5, "turn": "play", "hand": ["3D"], "late": {"by": 3}}
    entry = LogEntry(7, NOW, "ann/greedy@1", "a:1", EntryKind.FAULT, "illegal", "no", "m/1", details)
    assert read_entry(log_message(entry)) == entry


def test_entry_when_its_kind_is_of_a_newer_referee_then_it_is_unspecified() -> None:
    sent = logs_pb2.LogEntry(id=7, bot="ann/greedy@1", kind=99)  # type: ignore[arg-type]
    read = read_entry(sent)
    assert (read.kind, read.bot) == ("unspecified", "ann/greedy@1")
    assert log_message(read).kind == logs_pb2.LOG_ENTRY_KIND_UNSPECIFIED


def test_query_when_sent_and_read_then_it_asks_for_one_entry_more_than_its_page() -> None:
    query = LogQuery("ann/a", (EntryKind.FAULT, EntryKind.LOST), "cup/1", 20, after=3)
    assert read_query(query_request(query)) == replace(query, limit=21)
    assert read_query(query_request(query, "17")) == replace(query, limit=21, before=17)


@pytest.mark.parametrize(
    ("asked", "limit"),
    [(0, PAGE + 1), (3, 4), (LARGEST_PAGE + 1, LARGEST_PAGE + 1)],
    ids=["none", "some", "many"],
)
def test_query_when_read_then_its_page_has_a_bound(asked: int, limit: int) -> None:
    assert read_query(logs_pb2.ListLogEntriesRequest(bot="a/b", page_size=asked)).limit == limit


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("page_size", -1),
        ("page_token", "x"),
        ("page_token", "²"),
        ("page_token", "-1"),
        ("kinds", [0]),
        ("kinds", [9]),
    ],
)
def test_query_when_a_field_is_wrong_then_the_error_names_it(field: str, value: object) -> None:
    request = logs_pb2.ListLogEntriesRequest(**{field: value})  # type: ignore[arg-type]
    with pytest.raises(LogQueryError, match=f"^{field}: "):
        read_query(request)


def test_page_when_there_are_more_entries_then_its_token_asks_for_them() -> None:
    entries = [replace(ENTRY, id=number) for number in (9, 8, 7)]
    page = page_message(entries, LogQuery("ann/a", limit=3))
    assert ([entry.id for entry in page.entries], page.next_page_token) == ([9, 8], "8")
    assert page_message(entries[:2], LogQuery("ann/a", limit=3)).next_page_token == ""
