"""Matches as messages; entries of a bot's log too, from referees of any version."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from referee.matches.journal import EntryKind, LogEntry
from referee.matches.match import Limits
from referee.protocol.requests import log_message, match_request, read_entry, read_match
from referee.v1 import log_pb2
from tests.referee.support import match_spec

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("shared_deals", [False, True])
def test_match_when_sent_and_read_then_it_is_as_it_was(shared_deals: bool) -> None:
    limits = Limits(900, 5000, 3, 60_000, 50, 7, ask_forced=True)
    spec = replace(match_spec(sessions=2, limits=limits), shared_deals=shared_deals)
    assert read_match(match_request(spec)) == spec


def test_entry_when_sent_and_read_then_it_is_as_it_was() -> None:
    entry = LogEntry(7, NOW, "ann/greedy@1", "a:1", EntryKind.FAULT, "illegal", "no", "m/1", {"seat": 2})
    assert read_entry(log_message(entry)) == entry


def test_entry_when_its_kind_is_of_a_newer_referee_then_it_is_read_as_it_stands() -> None:
    sent = log_pb2.LogEntry(id=7, time=NOW.isoformat(), bot="ann/greedy@1", kind="paused", details="{}")
    read = read_entry(sent)
    assert (read.kind, read.bot) == ("paused", "ann/greedy@1")
    assert log_message(read).kind == "paused"
