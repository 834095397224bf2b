"""Attempts at the sessions of a match, and the deals that they finish.

A session that an attempt does not play to its end is played on by the next one: after the deals that are
finished, with new cards. Whatever is written here belongs to a transaction that has the match's lease.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert
from sqlmodel import col, func, select

from arena.events import note
from arena.models import Match, OpenDeal, Round, Tournament
from arena.storage import Transaction, changed
from referee.matches.match import DealsFinished, Finished
from referee.matches.resuming import finished_deals


@dataclass(slots=True)
class Kept:
    """The finished deals of an open session."""

    records: list[str] = field(default_factory=list)
    """Lean records, from the first deal on."""
    bank_ms: list[int] = field(default_factory=list)
    """What was left in the seats' banks after the last; empty without banks."""

    def finished(self, ruleset: Mapping[str, object]) -> Finished:
        """Return how the session stands after them."""
        return finished_deals(self.records, tuple(self.bank_ms), ruleset)


def begin_attempts(match: Match, sessions: int, missing: Collection[int]) -> None:
    """Take the next attempt at each of the ``missing`` of a match's sessions."""
    begun = match.attempts or [0] * sessions
    match.attempts = [count + (number in missing) for number, count in enumerate(begun, start=1)]


def undo_attempts(match: Match, unbegun: Collection[int]) -> None:
    """Give back the attempts at sessions of which nobody was shown a card."""
    match.attempts = [count - (number in unbegun) for number, count in enumerate(match.attempts, start=1)]


def note_void(tx: Transaction, match: Match, void: Mapping[int, int], now: datetime) -> None:
    """Note that attempts came to nothing, if any did: for each session that is ``void`` its attempt.

    The next attempt at each of them is one more. This locks the tournament's row, which has to be
    locked before the match's.
    """
    if not void:
        return
    round = tx.get_one(Round, match.round_id)
    attempts = {str(number): attempt for number, attempt in sorted(void.items())}
    tournament = tx.get_one(Tournament, match.tournament_id)
    note(tx, tournament, "void", now, round=round.number, table=match.table_number, attempts=attempts)


def kept_deals(tx: Transaction, match_id: int) -> dict[int, Kept]:
    """Return the finished deals of a match's open sessions by the session's number."""
    rows = select(OpenDeal).where(OpenDeal.match_id == match_id)
    kept: dict[int, Kept] = {}
    for row in tx.exec(rows.order_by(col(OpenDeal.session), col(OpenDeal.deal))):
        session = kept.setdefault(row.session, Kept())
        session.records.append(row.record)
        session.bank_ms = row.bank_ms
    return kept


def keep_deals(tx: Transaction, match_id: int, finished: Sequence[DealsFinished]) -> None:
    """Keep finished deals of open sessions; those that are kept already are left as they are."""
    last = select(OpenDeal.session, func.max(OpenDeal.deal)).where(OpenDeal.match_id == match_id)
    known = dict(tx.exec(last.group_by(col(OpenDeal.session))).all())
    rows = [
        row
        for deals in finished
        for row in _rows(match_id, deals)
        if row["deal"] > known.get(deals.number, 0)
    ]
    if rows:
        tx.connection().execute(insert(OpenDeal), rows)


def forget_deals(tx: Transaction, match_id: int, session: int) -> None:
    """Forget the finished deals of a session, which is stored whole."""
    changed(tx, delete(OpenDeal).where(col(OpenDeal.match_id) == match_id, col(OpenDeal.session) == session))


def deal_attempts(deals: Iterable[Mapping[str, object]]) -> list[object] | None:
    """Return for each lean record the attempt that dealt it; None: the first dealt all."""
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
