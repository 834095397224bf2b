"""The log of a bot, which referees write and its author reads.

A referee's event loop only puts entries into a queue. A thread writes them, many in a transaction, and keeps
trying while the database is unavailable; entries that do not fit into the queue are counted and noted.
"""

import json
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any, NamedTuple, Self

from sqlalchemy import delete, insert, or_
from sqlmodel import col, select

from arena.bots.deals import read_deals
from arena.bots.versions import find_all_versions, find_versions
from arena.errors import ArenaError, SpecError, UnknownError
from arena.people.tokens import DatabaseAuthenticator, hash_token
from arena.store.models import (
    BotLogEntry,
    BotVersion,
    Match,
    MatchState,
    OpenDeal,
    Round,
    Session,
    Token,
    Tournament,
    utc_now,
)
from arena.store.storage import Storage, Transaction, changed
from referee.errors import LogClosed, LogQueryError
from referee.matches.auth import Scope
from referee.matches.journal import (
    ASKED,
    KEPT,
    DealPage,
    DealQuery,
    Entry,
    EntryKind,
    LogEntry,
    LogQuery,
    kinds_asked,
)
from referee.reading.names import is_number


def void_faults(tx: Transaction, entries: Sequence[BotLogEntry]) -> Iterator[int]:
    """Yield the ids of the entries that are faults in deals that do not count."""
    by_session: dict[str, list[BotLogEntry]] = {}
    for entry in entries:
        if entry.kind is EntryKind.FAULT:
            by_session.setdefault(entry.session_id, []).append(entry)
    for name, faults in by_session.items():
        if (place := _match_and_number(tx, name)) is not None:
            dealt, latest = _dealt(tx, *place)
            for fault in faults:
                details: dict[str, Any] = fault.details
                deal, attempt = details.get("deal", 0), details.get("attempt", 1)
                if dealt.get(deal, latest) != attempt:
                    yield fault.id


def _match_and_number(tx: Transaction, session: str) -> tuple[Match, int] | None:
    """Return the match and the number of a session; None if not found."""
    name, *numbers = session.split("/")
    if len(numbers) != 3 or not all(map(is_number, numbers)):
        return None
    round, table, number = map(int, numbers)
    match = tx.exec(
        select(Match)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(Tournament.name == name, Round.number == round, Match.table_number == table)
    ).first()
    return None if match is None else (match, number)


def _dealt(tx: Transaction, match: Match, number: int) -> tuple[dict[int, int], int]:
    """Return the attempt that dealt each finished deal of a session, and the latest attempt for the others.

    The latter is 0 if there will be no others.
    """
    stored = tx.exec(select(Session).where(Session.match_id == match.id, Session.number == number)).first()
    if stored is not None:
        attempts = stored.deal_attempts or [1] * len(stored.deal_points)
        return dict(enumerate(attempts, start=1)), 0
    if match.state is MatchState.CANCELLED:
        return {}, 0
    deals = select(OpenDeal).where(OpenDeal.match_id == match.id, OpenDeal.session == number)
    finished = {deal.deal: json.loads(deal.record).get("attempt", 1) for deal in tx.exec(deals)}
    return finished, match.attempts[number - 1] if number <= len(match.attempts) else 1


PRUNE_EVERY = 500
"""Entries of a bot version after which the old ones are deleted."""

QUEUE = 20_000
"""The most entries that wait to be written."""

BATCH = 1_000
"""The most entries in a transaction."""

WRITE_SECONDS = 0.5
"""How long an entry waits for others, to be written together."""

RETRY_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Waits while the database is unavailable; the last one applies to all further ones."""

CLOSE_SECONDS = 5.0
"""How long closing waits for the remaining entries to be written."""

LONGEST_TEXT = 2_000

LOST = "log_incomplete"
"""Code of the notice about entries that were not kept."""

log = logging.getLogger("arena.journal")


class _Waiting(NamedTuple):
    """An entry on its way to the database."""

    at: datetime
    entry: Entry


class DatabaseJournal:
    """Stores the entries of one referee; as a context manager it writes the remaining ones at the end."""

    def __init__(
        self,
        storage: Storage,
        referee: str,
        *,
        clock: Callable[[], datetime] = utc_now,
        queue: int = QUEUE,
        retry: Sequence[float] = RETRY_SECONDS,
    ) -> None:
        self._storage = storage
        self._referee = referee
        self._clock = clock
        self._limit = queue
        self._retry = retry
        self._queue: deque[_Waiting] = deque()
        self._lost: Counter[int] = Counter()
        self._since_pruned: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def add(self, entry: Entry) -> None:
        """Take an entry without waiting. One that does not fit into the queue is only counted."""
        with self._lock:
            if len(self._queue) < self._limit:
                self._queue.append(_Waiting(self._clock(), entry))
            else:
                self._lost[entry.version_id] += 1
        self._wake.set()

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """Return entries of a bot for its author, or an organiser, the newest first.

        Raise LogClosed, LogQueryError.
        """
        versions = self._versions(token, query.bot)
        try:
            return read_log(self._storage, versions, query)[::-1]
        except SpecError as error:
            raise LogQueryError(str(error)) from None

    def deals(self, token: str, query: DealQuery) -> DealPage:
        """Return deals of a bot for its author, or an organiser, the newest first.

        Raise LogClosed, LogQueryError.
        """
        versions = self._versions(token, query.bot)
        try:
            return read_deals(self._storage, versions, query)
        except SpecError as error:
            raise LogQueryError(str(error)) from None

    def _versions(self, token: str, bot: str) -> dict[int, str]:
        """Return the versions that a token opens. Raise LogClosed."""
        organiser = DatabaseAuthenticator(self._storage, "").scope(token) is Scope.ORGANISER
        try:
            return readable_versions(self._storage, bot, token, organiser=organiser)
        except UnknownError:  # it may name other bots, which strangers should not see
            raise LogClosed(f"no bot {bot!r}; register it first") from None
        except SpecError as error:
            raise LogClosed(str(error)) from None

    def close(self) -> None:
        """Write the remaining entries and end; give up after ``CLOSE_SECONDS`` without a database."""
        self._closing.set()
        self._wake.set()
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            log.error("the database is away: %d entries of the bots' log are lost", len(self._queue))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _work(self) -> None:
        while True:
            self._wake.wait()
            self._closing.wait(WRITE_SECONDS)  # for others to come along
            self._wake.clear()
            closing = self._closing.is_set()
            while batch := self._take():
                self._write_at_last(batch)
            if closing:
                return

    def _take(self) -> list[_Waiting]:
        """Return the oldest entries, and with the last of them the counts of those that were lost."""
        with self._lock:
            batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
            if not self._queue:
                now = self._clock()
                for version_id, lost in self._lost.items():
                    text = f"{lost} entries were dropped: too many came at once"
                    batch.append(_Waiting(now, Entry(version_id, EntryKind.NOTICE, LOST, text)))
                self._lost.clear()
            return batch

    def _write_at_last(self, batch: Sequence[_Waiting]) -> None:
        """Write a batch, however long the database is unavailable."""
        for failures in count():
            try:
                self._write(batch)
                return
            except ArenaError as error:
                if failures == 0:
                    log.warning("the log of bots cannot be stored yet: %s", error)
            except Exception:
                log.exception("%d entries of the log of bots cannot be stored", len(batch))
                return
            if self._closing.wait(self._retry[min(failures, len(self._retry) - 1)]):
                time.sleep(self._retry[0])  # there is little time left

    def _write(self, batch: Sequence[_Waiting]) -> None:
        ids = {waiting.entry.version_id for waiting in batch}
        with self._storage.write() as tx:
            stored = set(tx.exec(select(BotVersion.id).where(col(BotVersion.id).in_(ids))))
            rows = [self._row(waiting) for waiting in batch if waiting.entry.version_id in stored]
            if not rows:
                return
            tx.connection().execute(insert(BotLogEntry), rows)
            written = Counter(waiting.entry.version_id for waiting in batch)
            for version_id in stored:
                if not self._since_pruned[version_id] or self._since_pruned[version_id] >= PRUNE_EVERY:
                    _prune(tx, version_id)
                    self._since_pruned[version_id] = 0
                self._since_pruned[version_id] += written[version_id]

    def _row(self, waiting: _Waiting) -> dict[str, object]:
        entry = waiting.entry
        return {
            "version_id": entry.version_id,
            "at": waiting.at,
            "referee": self._referee,
            "kind": entry.kind,
            "code": _clean(entry.code),
            "text": _clean(entry.text),
            "session_id": _clean(entry.session_id),
            "details": json.loads(json.dumps(dict(entry.details), default=str)),
        }


def _clean(text: str) -> str:
    """Return text that every database accepts: without NUL, and of limited length."""
    return text.replace("\0", "\\0")[:LONGEST_TEXT]


def _prune(tx: Transaction, version_id: int) -> None:
    """Delete all but the newest entries of a version."""
    of_it = col(BotLogEntry.version_id) == version_id
    newest = select(BotLogEntry.id).where(of_it).order_by(col(BotLogEntry.id).desc())
    oldest_kept = tx.exec(newest.offset(KEPT - 1).limit(1)).first()
    if oldest_kept is not None:
        changed(tx, delete(BotLogEntry).where(of_it, col(BotLogEntry.id) < oldest_kept))


def readable_versions(storage: Storage, bot: str, token: str, *, organiser: bool = False) -> dict[int, str]:
    """Return the versions whose log ``token`` opens, with their names: the one named, or all of a bot.

    ``token`` must be a valid one of any version of the bot or, with ``organiser``, one of an organiser.
    Raise SpecError, which names what is wrong, or UnknownError if there is no such bot.
    """
    with storage.read() as tx:
        whole = find_all_versions(tx, bot.partition("@")[0])
        named = find_versions(tx, [bot], None) if "@" in bot else whole
        hashed = hash_token(token)
        if organiser:
            good = select(Token).where(Token.token_hash == hashed, Token.scope == Scope.ORGANISER)
            if not any(_is_good(row) for row in tx.exec(good.where(col(Token.revoked_at).is_(None)))):
                raise SpecError("token", "unknown, revoked, expired, or not an organiser's")
        elif not any(version.token_hash == hashed and _is_good(version) for version in whole):
            raise SpecError("token", f"unknown, revoked, expired, or not one of {bot.partition('@')[0]}")
        return {version.id: version.name for version in named}


def _is_good(row: BotVersion | Token) -> bool:
    """Return whether the token of a row is neither revoked nor expired."""
    return row.revoked_at is None and (row.expires_at is None or row.expires_at > utc_now())


def kinds_of(name: str) -> tuple[EntryKind, ...]:
    """Return the kinds of entries for which a word stands. Raise SpecError."""
    kinds = kinds_asked(name)
    if kinds is None:
        raise SpecError("kind", f"{name!r} is not one of {', '.join(ASKED)}")
    return kinds


def read_log(
    storage: Storage,
    versions: Mapping[int, str],
    query: LogQuery,
) -> list[LogEntry]:
    """Return the newest entries of these versions that ``query`` asks for, oldest first. Raise SpecError.

    The details of a fault in a deal that does not count have ``void``.
    """
    entry_id = col(BotLogEntry.id)
    rows = select(BotLogEntry).where(col(BotLogEntry.version_id).in_(versions), entry_id > query.after)
    if query.before is not None:
        rows = rows.where(entry_id < query.before)
    if query.kinds:
        rows = rows.where(col(BotLogEntry.kind).in_(query.kinds))
    if query.session is not None:
        whole, within = query.session.rstrip("/"), f"{query.session.rstrip('/')}/"
        of_it = col(BotLogEntry.session_id)
        rows = rows.where(or_(of_it == whole, of_it.startswith(within, autoescape=True)))
    if not 1 <= query.limit <= KEPT:
        raise SpecError("limit", f"must be a whole number from 1 to {KEPT}, not {query.limit}")
    with storage.read() as tx:
        entries = tx.exec(rows.order_by(entry_id.desc()).limit(query.limit)).all()
        void = set(void_faults(tx, entries))
    return [
        LogEntry(
            id=row.id,
            at=row.at,
            bot=versions[row.version_id],
            referee=row.referee,
            kind=row.kind,
            code=row.code,
            text=row.text,
            session_id=row.session_id,
            details={**row.details, "void": True} if row.id in void else row.details,
        )
        for row in reversed(entries)
    ]
