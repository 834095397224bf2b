"""The log of a bot: written in the background, bounded, and read by its author."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from queue import Queue
from typing import Any

import pytest
from sqlmodel import func, select

from arena.bots import journal, versions
from arena.bots.journal import (
    LOST,
    PRUNE_EVERY,
    DatabaseJournal,
    kinds_of,
    read_log,
    readable_versions,
)
from arena.cli.local import arena_command
from arena.errors import SpecError, UnknownError
from arena.host.settings import Settings
from arena.people import tokens
from arena.people.tokens import DatabaseAuthenticator
from arena.store.models import BotLogEntry
from arena.store.storage import Storage
from referee.cli.botlog import lines_of
from referee.errors import LogClosed, LogQueryError, RefereeUnavailable
from referee.matches.auth import Scope
from referee.matches.journal import KEPT, Entry, EntryKind, LogEntry, LogQuery
from referee.net import client
from referee.service.server import ServerOptions, serve
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.fakes import ROOT, Clock
from tests.tied import tied
from tests.waiting import wait_for

NOW = Clock()()
DEADLINE = 120.0
ALL = {1: "ann/a@1", 2: "ann/a@2", 3: "bob/b@1"}
EVERY = LogQuery("")
MOST = LogQuery("", limit=KEPT)

FAULT = Entry(
    1,
    EntryKind.FAULT,
    "illegal",
    "3D does not beat 5D 5C: a pair is to be beaten by a pair",
    "cup/1/2/3",
    {
        "deal": 2,
        "action": 14,
        "sequence": 7,
        "turn": "play",
        "seat": 1,
        "hand": "3D 4S 4H 6D 7C 8D 9S TD JC QH KH AS 2D",
        "to_beat": "5D 5C",
        "answered": "3D",
        "default": "-",
        "faults": 3,
        "fault_limit": 10,
        "elapsed_ms": 132,
        "credit_ms": 40,
    },
)


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Arena:
    monkeypatch.delenv("ARENA_TOKEN", raising=False)
    return make_arena(migrated.data, capsys)


@pytest.fixture
def known(storage: Storage) -> dict[str, str]:
    """Register the bot versions of ``ALL``, and return their tokens by name."""
    names = [name.partition("@")[0] for name in ALL.values()]
    return {
        one.bot: one.token for one in (versions.register_version(storage, ROOT, name, NOW) for name in names)
    }


@contextmanager
def running_referee(storage: Storage, settings: Settings) -> Iterator[str]:
    """Run a referee of this arena in a thread, and yield its address."""
    ports: Queue[int] = Queue()
    stops: Queue[Callable[[], object]] = Queue()

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        stops.put(lambda: loop.call_soon_threadsafe(stop.set))
        with DatabaseJournal(storage, "here") as kept:
            authenticator = DatabaseAuthenticator(storage, settings.worker_secret())
            options = ServerOptions(journal=kept)
            await serve("127.0.0.1:0", authenticator, stop, options=options, on_ready=ports.put)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    try:
        yield f"127.0.0.1:{ports.get(timeout=DEADLINE)}"
    finally:
        stops.get(timeout=DEADLINE)()
        thread.join(DEADLINE)


def notice(version: int, text: str, session: str = "") -> Entry:
    return Entry(version, EntryKind.NOTICE, "stale", text, session)


def rows(storage: Storage) -> int:
    with storage.read() as tx:
        return tx.exec(select(func.count()).select_from(BotLogEntry)).one()


def keep(storage: Storage, *entries: Entry) -> None:
    with DatabaseJournal(storage, "127.0.0.1:8710", clock=lambda: NOW) as kept:
        for entry in entries:
            kept.add(entry)


@pytest.mark.usefixtures("known")
def test_entry_when_added_then_it_is_soon_read_as_it_was(storage: Storage) -> None:
    with DatabaseJournal(storage, "127.0.0.1:8710", clock=lambda: NOW) as kept:
        kept.add(FAULT)
        wait_for(lambda: rows(storage) == 1)
    assert read_log(storage, ALL, EVERY) == [
        LogEntry(
            1,
            NOW,
            "ann/a@1",
            "127.0.0.1:8710",
            FAULT.kind,
            FAULT.code,
            FAULT.text,
            "cup/1/2/3",
            FAULT.details,
        )
    ]


@pytest.mark.usefixtures("known")
def test_entries_when_the_journal_is_closed_then_all_are_there_in_their_order(storage: Storage) -> None:
    texts = [str(number) for number in range(3000)]
    keep(storage, *(notice(1 + number % 3, text) for number, text in enumerate(texts)))
    assert [entry.text for entry in read_log(storage, ALL, MOST)] == texts


@pytest.mark.usefixtures("known")
def test_entries_when_there_are_too_many_then_the_oldest_go_and_those_of_others_stay(
    storage: Storage,
) -> None:
    keep(storage, notice(3, "mine"))
    keep(storage, *(notice(1, str(number)) for number in range(KEPT + 3 * PRUNE_EVERY)))
    kept = [entry.text for entry in read_log(storage, ALL, MOST) if entry.bot == "ann/a@1"]
    assert kept == [str(number) for number in range(3 * PRUNE_EVERY, KEPT + 3 * PRUNE_EVERY)]
    assert rows(storage) <= KEPT + 3 * PRUNE_EVERY
    keep(storage, notice(1, "a last one"))
    assert rows(storage) <= KEPT + 2
    assert read_log(storage, {3: "bob/b@1"}, EVERY)[0].text == "mine"


@pytest.mark.usefixtures("known")
def test_entries_when_the_queue_is_full_then_they_are_counted_and_the_count_is_noted(
    storage: Storage,
) -> None:
    with DatabaseJournal(storage, "here", queue=10) as kept:
        for number in range(25):
            kept.add(notice(1 + number % 2, str(number)))
    found = read_log(storage, ALL, EVERY)
    assert [entry.text for entry in found[:10]] == [str(number) for number in range(10)]
    assert [(entry.bot, entry.code, entry.text) for entry in found[10:]] == [
        ("ann/a@1", LOST, "8 entries were dropped: too many came at once"),
        ("ann/a@2", LOST, "7 entries were dropped: too many came at once"),
    ]


@pytest.mark.usefixtures("known")
def test_database_when_it_is_away_then_entries_wait_and_nobody_waits_for_them(
    storage: Storage, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(settings.data / "arena.db")) as database:
        database.execute("ALTER TABLE bot_log RENAME TO elsewhere")
        with DatabaseJournal(storage, "here", retry=[0.05]) as kept:
            kept.add(notice(1, "one"))
            wait_for(lambda: "the log of bots cannot be stored yet" in caplog.text)
            kept.add(notice(1, "two"))
            database.execute("ALTER TABLE elsewhere RENAME TO bot_log")
            wait_for(lambda: rows(storage) == 2)
    assert [entry.text for entry in read_log(storage, ALL, EVERY)] == ["one", "two"]
    assert caplog.text.count("the log of bots cannot be stored yet") == 1


@pytest.mark.usefixtures("known")
def test_close_when_the_database_is_away_then_it_ends_and_says_what_is_lost(
    storage: Storage, settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "CLOSE_SECONDS", 0.3)
    with closing(sqlite3.connect(settings.data / "arena.db")) as database:
        database.execute("ALTER TABLE bot_log RENAME TO elsewhere")
        kept = DatabaseJournal(storage, "here", retry=[0.01])
        kept.add(notice(1, "one"))
        wait_for(lambda: "the log of bots cannot be stored yet" in caplog.text)
        kept.close()
        assert "the database is away" in caplog.text
        database.execute("ALTER TABLE elsewhere RENAME TO bot_log")
    wait_for(lambda: rows(storage) == 1)


def test_entry_when_it_is_strange_then_it_does_no_harm(storage: Storage, known: dict[str, str]) -> None:
    strange = Entry(1, EntryKind.FAULT, "illegal", "a\0b" + "x" * 5000, "", {"hand": object(), "deal": 1})
    keep(storage, notice(99, "of a bot that nobody knows"), strange, notice(1, "fine"))
    found = read_log(storage, ALL, EVERY)
    assert [entry.text[:4] for entry in found] == ["a\\0b", "fine"]
    assert len(found[0].text) == journal.LONGEST_TEXT
    assert str(found[0].details["hand"]).startswith("<object")


def test_log_when_a_token_of_any_version_is_shown_then_it_opens(
    storage: Storage, known: dict[str, str]
) -> None:
    first, second = {1: "ann/a@1"}, {2: "ann/a@2"}
    for token in (known["ann/a@1"], known["ann/a@2"]):
        assert readable_versions(storage, "ann/a", token) == first | second
        assert readable_versions(storage, "ann/a@1", token) == first
        assert readable_versions(storage, "ann/a@2", token) == second
    versions.revoke_version(storage, ROOT, "ann/a@1", NOW)
    assert readable_versions(storage, "ann/a@1", known["ann/a@2"]) == first


def test_log_when_the_token_is_not_the_authors_then_it_stays_shut(
    storage: Storage, known: dict[str, str]
) -> None:
    spectator = tokens.create_token(storage, ROOT, "board", "spectator", NOW).token
    versions.revoke_version(storage, ROOT, "ann/a@1", NOW)
    for token in ("", "hush", known["bob/b@1"], spectator, known["ann/a@1"]):
        with pytest.raises(SpecError, match=r"^token: unknown, revoked, expired, or not one of ann/a$"):
            readable_versions(storage, "ann/a@1", token)
    with pytest.raises(UnknownError, match="no bot 'zoe/z'"):
        readable_versions(storage, "zoe/z", known["ann/a@2"])
    with pytest.raises(UnknownError, match="no bot 'ann/a@7'"):
        readable_versions(storage, "ann/a@7", known["ann/a@2"])


def test_log_when_an_organiser_asks_then_every_one_opens(storage: Storage, known: dict[str, str]) -> None:
    organiser = tokens.create_token(storage, ROOT, "ann", "organiser", NOW).token
    worker = tokens.create_token(storage, ROOT, "w", "worker", NOW).token
    assert readable_versions(storage, "bob/b", organiser, organiser=True) == {3: "bob/b@1"}
    with pytest.raises(SpecError, match="not one of bob/b"):
        readable_versions(storage, "bob/b", organiser)
    for token in (worker, known["bob/b@1"]):
        with pytest.raises(SpecError, match=r"^token: unknown, revoked, expired, or not an organiser's$"):
            readable_versions(storage, "bob/b", token, organiser=True)
    tokens.revoke_token(storage, ROOT, "ann", NOW)
    with pytest.raises(SpecError, match="not an organiser's"):
        readable_versions(storage, "bob/b", organiser, organiser=True)


@pytest.mark.usefixtures("known")
def test_read_when_something_is_asked_for_then_only_that_is_given(storage: Storage) -> None:
    keep(
        storage,
        Entry(1, EntryKind.CONNECTED, "", "python 1"),
        FAULT,
        notice(1, "a", "cup/1/2/3"),
        notice(1, "b", "cup/1/20/3"),
        notice(1, "c", "c_p/1/2/3"),
        Entry(1, EntryKind.LOST, "broken", "gone"),
    )

    def texts(**asked: Any) -> list[str]:
        query = LogQuery("ann/a", **asked)
        return [entry.text for entry in read_log(storage, ALL, query)]

    assert texts(kinds=kinds_of("connection")) == ["python 1", "gone"]
    assert texts(kinds=kinds_of("fault")) == [FAULT.text]
    assert texts(kinds=kinds_of("notice")) == ["a", "b", "c"]
    assert texts(session="cup/1/2") == texts(session="cup/1/2/3") == [FAULT.text, "a"]
    assert texts(session="cup") == [FAULT.text, "a", "b"]
    assert texts(session="c_p/") == ["c"]
    assert texts(limit=2) == ["c", "gone"]
    assert texts(after=4) == ["c", "gone"]
    assert texts(before=4) == ["python 1", FAULT.text, "a"]
    assert texts(after=1, before=4, limit=1) == ["a"]
    for limit in (0, KEPT + 1):
        with pytest.raises(SpecError, match=r"^limit: "):
            texts(limit=limit)


@pytest.mark.parametrize(
    ("word", "means"),
    [
        ("fault", "fault"),
        ("faults", "fault"),
        ("disconnect", "left lost"),
        ("Disconnected", "left lost"),
        ("notices", "notice"),
        ("lost", "lost"),
        ("connections", "connected left lost refused"),
    ],
)
def test_kind_when_a_word_can_mean_one_thing_only_then_it_is_taken(word: str, means: str) -> None:
    assert " ".join(kinds_of(word)) == means


@pytest.mark.parametrize("word", ["joy", "", "connect"])
def test_kind_when_a_word_means_nothing_or_several_then_all_words_are_named(word: str) -> None:
    with pytest.raises(
        SpecError, match=rf"^kind: '{word}' is not one of fault, notice, connection, connected, "
    ):
        kinds_of(word)


def entry(**fields: object) -> LogEntry:
    values = {"id": 1, "at": NOW, "bot": "ann/a@1", "referee": "127.0.0.1:8710"} | FAULT._asdict() | fields
    del values["version_id"]
    return LogEntry(**values)  # type: ignore[arg-type]


def test_fault_when_shown_on_80_columns_then_everything_is_there() -> None:
    lines = list(lines_of(entry(), 80))
    when = NOW.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
    assert lines == [
        f"{when}  ann/a@1  fault illegal  cup/1/2/3",
        "  3D does not beat 5D 5C: a pair is to be beaten by a pair",
        "  deal 2, action 14, turn play, seat 1; fault 3 of 10; after 132 ms, 40 ms of",
        "    them credited",
        "  hand      3D 4S 4H 6D 7C 8D 9S TD JC QH KH AS 2D",
        "  to beat   5D 5C",
        "  answered  3D",
        "  played    a pass",
    ]


def test_fault_when_nothing_was_answered_or_the_hand_is_long_then_it_is_readable() -> None:
    long = entry(
        text="no answer within 1000 ms " * 9,
        details={**FAULT.details, "hand": "3D " * 39 + "3D", "to_beat": "", "answered": "", "more": 1},
    )
    lines = list(lines_of(long, 80))
    assert max(map(len, lines)) <= 80
    assert "  to beat   nothing" in lines
    assert "  answered  nothing" in lines
    assert "  more: 1" in lines
    assert sum(line.count("3D") for line in lines) == 40


def test_connection_when_shown_then_the_referee_and_the_reason_are_there() -> None:
    lost = entry(kind=EntryKind.LOST, code="flood", text="too many messages", session_id="", details={})
    first, second = lines_of(lost, 80)
    assert first.endswith("  ann/a@1  lost flood  127.0.0.1:8710")
    assert second == "  too many messages"


def test_command_without_a_token_shows_the_log_to_whoever_has_the_database(
    arena: Arena, storage: Storage, known: dict[str, str]
) -> None:
    keep(storage, FAULT, notice(1, "later"), notice(3, "of another"))
    assert "fault illegal  cup/1/2/3\n" in arena("bot", "log", "ann/a").out
    assert "of another" in arena("bot", "log", "bob/b@1").out
    assert_one_line(arena("bot", "log", "bob/c"), 1, "no bot 'bob/c'; did you mean 'bob/b'?")


def test_command_shows_the_log_to_the_author_alone(
    arena: Arena, storage: Storage, known: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = known["ann/a@2"]
    assert arena("bot", "log", "ann/a", "--token", token).out == "no matching entries\n"
    keep(storage, FAULT, notice(1, "later"), notice(3, "of another"))
    shown = arena("bot", "log", "ann/a", "--token", token)
    assert "fault illegal  cup/1/2/3\n" in shown.out
    assert "  hand      3D 4S" in shown.out
    assert "later" in shown.out
    assert "of another" not in shown.out
    monkeypatch.setenv("ARENA_TOKEN", token)
    found = arena("bot", "log", "ann/a@1", "--json", "--kind", "fault").json
    assert found == {
        "output": "bigtwo-cli/1",
        "at": NOW.isoformat(),
        "bot": "ann/a@1",
        "referee": "127.0.0.1:8710",
        "kind": "fault",
        "code": "illegal",
        "text": FAULT.text,
        "session_id": "cup/1/2/3",
        "details": FAULT.details,
    }
    assert arena("bot", "log", "ann/a", "--session", "cup/9", "--json").out == ""
    assert_one_line(arena("bot", "log", "bob/b"), 1, "token", "not one of bob/b")
    monkeypatch.delenv("ARENA_TOKEN")
    assert_one_line(arena("bot", "log", "ann/a", "--organiser"), 2, "--token", "ARENA_TOKEN")
    assert_one_line(arena("bot", "log", "ann/a", "--referee", "127.0.0.1:1"), 2, "--token", "ARENA_TOKEN")
    assert_one_line(arena("bot", "log", "ann/a", "--token", token, "--kind", "joy"), 1, "kind", "joy")
    organiser = arena("token", "create", "o", "--scope", "organiser", "--json").json["token"]
    assert "of another" in arena("bot", "log", "bob/b", "--organiser", "--token", organiser).out


def test_command_when_it_follows_then_it_shows_what_comes_until_ctrl_c(
    storage: Storage, settings: Settings, known: dict[str, str]
) -> None:
    command = arena_command("--data", str(settings.data), "bot", "log", "ann/a", "--follow", "--json")
    with subprocess.Popen(
        tied(*command, "--token", known["ann/a@1"]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for text in ("first", "second", "third"):
            keep(storage, notice(1, text))
            assert json.loads(process.stdout.readline())["text"] == text
        process.send_signal(signal.SIGINT)
        assert (*process.communicate(timeout=DEADLINE), process.returncode) == ("", "", 130)


def test_log_when_an_author_asks_a_referee_then_it_is_the_log_of_that_bot_alone(
    arena: Arena, storage: Storage, settings: Settings, known: dict[str, str]
) -> None:
    keep(storage, FAULT, notice(1, "first"), notice(3, "of another"))
    mine, organiser = (
        known["ann/a@1"],
        tokens.create_token(storage, ROOT, "o", Scope.ORGANISER, NOW).token,
    )
    with running_referee(storage, settings) as address:
        found = client.read_log(address, mine, LogQuery("ann/a"))
        assert found == read_log(storage, {1: "ann/a@1"}, EVERY)
        last = client.read_log(address, mine, LogQuery("ann/a@1", (EntryKind.NOTICE,), limit=1))
        assert [entry.text for entry in last] == ["first"]
        assert client.read_log(address, mine, LogQuery("ann/a", after=last[0].id)) == []
        assert [entry.text for entry in client.read_log(address, organiser, LogQuery("bob/b"))] == [
            "of another"
        ]
        for token, why in (
            (mine, "not one of bob/b"),
            (settings.worker_secret(), "not one of bob/b"),
            ("nonsense", "unknown"),
            ("", "authorization"),
        ):
            with pytest.raises(LogClosed, match=why):
                client.read_log(address, token, LogQuery("bob/b"))
        with pytest.raises(LogQueryError, match="page_size: -1"):
            client.read_log(address, mine, LogQuery("ann/a", limit=-1))
        printed = arena("bot", "log", "ann/a", "--token", mine, "--referee", address, "--json")
        assert len(printed.out.splitlines()) == len(found)
        refused = arena("bot", "log", "bob/b", "--token", mine, "--referee", address)
        assert_one_line(refused, 1, "token", "not one of bob/b")
    with pytest.raises(RefereeUnavailable):
        client.read_log(address, mine, LogQuery("ann/a"), timeout=2)


def test_times_when_read_then_they_are_those_of_the_adding(storage: Storage, known: dict[str, str]) -> None:
    clock = Clock()
    with DatabaseJournal(storage, "here", clock=clock) as kept:
        kept.add(notice(1, "one"))
        clock.move(60)
        kept.add(notice(1, "two"))
    first, second = read_log(storage, ALL, EVERY)
    assert second.at - first.at == timedelta(seconds=60)
