"""Entries of a bot's log as messages, from referees of any version."""

from datetime import UTC, datetime

from referee.matches.journal import EntryKind, LogEntry
from referee.protocol.requests import log_message, read_entry
from referee.v1 import log_pb2

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_entry_when_sent_and_read_then_it_is_as_it_was() -> None:
    entry = LogEntry(7, NOW, "ann/greedy@1", "a:1", EntryKind.FAULT, "illegal", "no", "m/1", {"seat": 2})
    assert read_entry(log_message(entry)) == entry


def test_entry_when_its_kind_is_of_a_newer_referee_then_it_is_read_as_it_stands() -> None:
    sent = log_pb2.LogEntry(id=7, time=NOW.isoformat(), bot="ann/greedy@1", kind="paused", details="{}")
    read = read_entry(sent)
    assert (read.kind, read.bot) == ("paused", "ann/greedy@1")
    assert log_message(read).kind == "paused"
