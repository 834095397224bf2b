"""Attempts at the sessions of a match, and the deals that they finish.

A session that an attempt does not play to its end is continued by the next one: after its finished deals,
with new cards. Whatever is written here is part of a transaction that holds the match's lease.

The database may have gone back to a state before an attempt: a standby that takes over may lack the last
commits, and a restored backup lacks more. PostgreSQL then begins another timeline, or has its tables anew. Of
a SQLite file nothing can be told: there, only referees remember what the database has forgotten.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, String, bindparam, cast, delete, insert, text, update
from sqlalchemy.exc import NotSupportedError, ProgrammingError
from sqlmodel import col, func, select

from arena.store.models import DatabaseLineage, Match, OpenDeal, Round, Tournament
from arena.store.storage import Transaction, changed
from arena.tournaments.events import note
from referee.errors import RecordError
from referee.matches.match import DealsFinished, Finished
from referee.matches.tables import finished_deals

UNREADABLE = (RecordError, ValueError, LookupError, TypeError, AttributeError)
"""What is raised if a kept deal is not what was stored."""


@dataclass(slots=True)
class FinishedDeals:
    """The finished deals of an open session."""

    records: list[str] = field(default_factory=list)
    """Lean records, from the first deal on."""
    banks: list[str] = field(default_factory=list)
    """After each deal, as JSON, what was left in the seats' banks; empty without banks, or if a later deal
    was stored with it."""

    stored: int = 0
    """How many deals are in the database; more than there are ``records`` if one of them is lost."""

    def finished(self, ruleset: Mapping[str, object], *, banked: bool) -> Finished | None:
        """Return the state of the session after the last deal up to which all are readable, or None.

        ``banked`` says that seats have banks, so that it can only continue after a deal for which they are
        known. The deals after that one are dropped from this object.
        """
        deals = self._finished(ruleset, banked)
        if deals is None:
            self._cut(len(list(takewhile(_can_be_read, self.records))))
        while deals is None and self.records:
            deals = self._finished(ruleset, banked)
            if deals is None:
                self._cut(len(self.records) - 1)
        return deals

    def _finished(self, ruleset: Mapping[str, object], banked: bool) -> Finished | None:
        with suppress(*UNREADABLE):
            banks = tuple(map(int, json.loads(self.banks[-1])))
            deals = finished_deals(self.records, banks, ruleset)
            return deals if len(banks) == (len(deals.scores) if banked else 0) else None
        return None

    def _cut(self, count: int) -> None:
        """Keep no more than ``count`` deals."""
        del self.records[count:], self.banks[count:]


def _can_be_read(record: str) -> bool:
    """Return whether a lean record has everything that is summed over a session."""
    with suppress(*UNREADABLE):
        deal = json.loads(record)
        sum(deal["points"])
        return all("seat" in fault for fault in deal.get("faults", ()))
    return False


def next_attempts(begun: Sequence[int], terms: Any, missing: Collection[int]) -> list[int]:
    """Return the attempts at a match's sessions once the next one at each ``missing`` one has begun.

    ``begun`` are the attempts so far, and ``terms`` its tournament's (``arena.play.matches.spec``).
    """
    return [
        max(count, terms.attempts_above) + 1 if number in missing else count
        for number, count in enumerate(begun or [0] * terms.sessions, start=1)
    ]


def undo_attempts(match: Match, unbegun: Collection[int]) -> None:
    """Take back the attempts at sessions of which nobody was shown a card."""
    match.attempts = [count - (number in unbegun) for number, count in enumerate(match.attempts, start=1)]


def note_void(tx: Transaction, match: Any, void: Mapping[int, int], now: datetime) -> None:
    """Note the attempts at a match, or its row, that are void, if any; ``void`` has the attempt by session.

    The next attempt at each of them has the next number. This locks the tournament's row, which has to be
    locked before the match's.
    """
    if not void:
        return
    round = tx.get_one(Round, match.round_id)
    attempts = {str(number): attempt for number, attempt in sorted(void.items())}
    tournament = tx.get_one(Tournament, match.tournament_id)
    note(tx, tournament, "void", now, round=round.number, table=match.table_number, attempts=attempts)


def kept_deals(tx: Transaction, match_id: int) -> dict[int, FinishedDeals]:
    """Return the finished deals of a match's open sessions by the session's number.

    Deals after a missing one are left out.
    """
    on_sqlite = tx.connection().dialect.name == "sqlite"
    by_session: dict[int, FinishedDeals] = {}
    for session, deal, record, bank_ms in tx.exec(_select_deals(on_sqlite), params={"match": match_id}):
        deals = by_session.setdefault(session, FinishedDeals())
        deals.stored += 1
        if deal == len(deals.records) + 1:
            deals.records.append(_unpack(record))
            deals.banks.append(_unpack(bank_ms))
    return by_session


@cache
def _select_deals(on_sqlite: bool) -> Any:
    raw = _as_stored if on_sqlite else _as_text
    rows = select(OpenDeal.session, OpenDeal.deal, raw(OpenDeal.record), raw(OpenDeal.bank_ms))
    of_it = rows.where(OpenDeal.match_id == bindparam("match"))
    return of_it.order_by(col(OpenDeal.session), col(OpenDeal.deal))


def _as_text(column: object) -> ColumnElement[Any]:
    """Return a column as text, which may not be JSON."""
    return cast(col(column), String)


def _as_stored(column: object) -> ColumnElement[Any]:
    """Return a column as bytes: SQLite may hold text that is not UTF-8, which could not even be selected."""
    return cast(col(column), LargeBinary)


def _unpack(stored: str | bytes) -> str:
    """Return a stored text; if it cannot be read, an empty one, which is not a record either."""
    try:
        return stored.decode() if isinstance(stored, bytes) else stored
    except UnicodeDecodeError:
        return ""


def drop_deals(tx: Transaction, match: Match, lost: Mapping[int, int], now: datetime) -> None:
    """Drop finished deals that cannot be read, and note it; ``lost`` has the last readable deal by session.

    Like ``note_void``, this locks the tournament's row.
    """
    for session, readable in lost.items():
        of_it = (col(OpenDeal.match_id) == match.id, col(OpenDeal.session) == session)
        changed(tx, delete(OpenDeal).where(*of_it, col(OpenDeal.deal) > readable))
    round = tx.get_one(Round, match.round_id)
    tournament = tx.get_one(Tournament, match.tournament_id)
    after = {str(session): readable for session, readable in sorted(lost.items())}
    note(tx, tournament, "lost", now, round=round.number, table=match.table_number, after=after)


def keep_deals(tx: Transaction, match_id: int, finished: Sequence[DealsFinished]) -> None:
    """Store finished deals of open sessions; those that are stored already are left as they are."""
    last = select(OpenDeal.session, func.max(OpenDeal.deal)).where(OpenDeal.match_id == match_id)
    latest = dict(tx.exec(last.group_by(col(OpenDeal.session))).all())
    rows = [
        row
        for deals in finished
        for row in _rows(match_id, deals)
        if row["deal"] > latest.get(deals.number, 0)
    ]
    if rows:
        tx.connection().execute(insert(OpenDeal), rows)


def forget_deals(tx: Transaction, match_id: int, session: int) -> None:
    """Forget the finished deals of a session that is stored whole."""
    changed(tx, delete(OpenDeal).where(col(OpenDeal.match_id) == match_id, col(OpenDeal.session) == session))


def deal_attempts(deals: Iterable[Mapping[str, object]]) -> list[object] | None:
    """Return for each lean record the attempt that dealt it; None if the first dealt all."""
    attempts = [deal.get("attempt", 1) for deal in deals]
    return None if all(attempt == 1 for attempt in attempts) else attempts


def _rows(match_id: int, finished: DealsFinished) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "match_id": match_id,
            "session": finished.number,
            "deal": json.loads(record)["deal"],
            "record": record,
            "bank_ms": [],
        }
        for record in finished.records
    ]
    rows[-1]["bank_ms"] = list(finished.bank_ms)
    return rows


_ON_POSTGRES = text(
    "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
    " || '/' || (SELECT system_identifier FROM pg_control_system())"
    " || '/' || CAST('database_lineage' AS regclass)::oid"
    ", (SELECT lineage FROM database_lineage)"
)
"""The timeline, the identifier of the cluster, and the number of a table, which is another one after a
restoration from a dump; and what was noted of them."""

ASKED = "arena_lineage_asked"
"""The key, in what is known of a connection, that says that its server lets us ask for the lineage."""


def lineage_changed(tx: Transaction) -> bool:
    """Return whether the database has another history than when attempts were last begun.

    If none have been begun yet, or it could not be told, its present history is noted.
    """
    if tx.connection().dialect.name != "postgresql":
        return False
    now, before = _lineage(tx)
    if not before:
        return note_lineage(tx)
    return now not in ("", before)


def note_lineage(tx: Transaction) -> bool:
    """Note the database's present history; return whether it had another one before.

    Its row is locked until the transaction ends, so that nobody else notes it at the same time.
    """
    changed(tx, update(DatabaseLineage).values(id=DatabaseLineage.id))
    now, before = _lineage(tx)
    now = now or before
    changed(tx, update(DatabaseLineage).where(col(DatabaseLineage.lineage) != now).values(lineage=now))
    return before not in ("", now)


def _lineage(tx: Transaction) -> tuple[str, str]:
    """Return what tells the database's history from another, and what was noted of it.

    The first is empty if the database does not say it.
    """
    connection = tx.connection()
    if connection.dialect.name == "postgresql":
        if connection.info.get(ASKED):
            return _ask_lineage(tx)
        try:
            with tx.begin_nested():
                answer = _ask_lineage(tx)
        except (ProgrammingError, NotSupportedError):
            pass  # its administrator, or its provider, does not let us ask
        else:
            connection.info[ASKED] = True
            return answer
    return "", tx.exec(select(DatabaseLineage.lineage)).one()


def _ask_lineage(tx: Transaction) -> tuple[str, str]:
    try:
        now, before = tx.connection().execute(_ON_POSTGRES).one()
    except ProgrammingError:
        tx.connection().info.pop(ASKED, None)  # it was forbidden meanwhile
        raise
    return now, before
