"""Faults that do not count: the attempt at the session ended before the deal was finished."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlmodel import col, select

from arena.store.models import BotLogEntry, Match, MatchState, OpenDeal, Round, Session, Tournament
from arena.store.storage import Transaction
from referee.matches.journal import EntryKind


def void_faults(tx: Transaction, entries: Sequence[BotLogEntry]) -> Iterator[int]:
    """Yield the ids of the entries that are faults in deals that do not count."""
    by_session: dict[str, list[BotLogEntry]] = {}
    for entry in entries:
        if entry.kind is EntryKind.FAULT:
            by_session.setdefault(entry.session_id, []).append(entry)
    for name, faults in by_session.items():
        if (found := _match_and_number(tx, name)) is not None:
            dealt, latest = _dealt(tx, *found)
            for fault in faults:
                details: dict[str, Any] = fault.details
                deal, attempt = details.get("deal", 0), details.get("attempt", 1)
                if dealt.get(deal, latest) != attempt:
                    yield fault.id


def _match_and_number(tx: Transaction, session: str) -> tuple[Match, int] | None:
    """Return the match and the number of a session; None if there is none of this name."""
    name, *numbers = session.split("/")
    if len(numbers) != 3 or not all(number.isdecimal() and len(number) < 10 for number in numbers):
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
    kept = select(OpenDeal).where(OpenDeal.match_id == match.id, OpenDeal.session == number)
    finished = {deal.deal: json.loads(deal.record).get("attempt", 1) for deal in tx.exec(kept)}
    return finished, match.attempts[number - 1] if number <= len(match.attempts) else 1
