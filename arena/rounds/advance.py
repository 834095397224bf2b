"""What happens next in a tournament: one idempotent step after another, until there is nothing to do.

A step is a transaction of its own. It begins with an update of the tournament's row that only succeeds while
the tournament runs, so that steps of one tournament follow each other whoever takes them, and it looks again
at what it depends on. After a crash anywhere, or when several advance at once, the next call goes on from the
rows.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeGuard

from sqlalchemy import ColumnElement, or_, update
from sqlmodel import col, func, select

from arena.events import note
from arena.formats import FORMATS
from arena.matches.leases import due
from arena.models import Match, MatchState, Round, RoundState, Seat, Tournament, TournamentState
from arena.pairing import Pairing
from arena.ratings.apply import rate_round
from arena.rounds.course import course_of, free_entrants, setup_of
from arena.storage import Storage, Transaction, changed
from arena.tournaments.entrants import EntrantInfo, list_entrants, present_in

log = logging.getLogger("arena.advance")

Step = Callable[[Storage, int, datetime], bool]
"""Takes the step if it is still there to be taken; returns whether it did."""

Connected = Callable[[Sequence[int]], Collection[int]]
"""Of these bot versions, those that a referee could seat now."""


def everyone(version_ids: Sequence[int]) -> Collection[int]:
    """Return all of them, where nobody can say who is connected."""
    return version_ids


def advance(
    storage: Storage,
    tournament_id: int,
    now: datetime,
    hand_out: Callable[[int], None],
    *,
    at_once: int,
    again_after: timedelta,
    connected: Connected = everyone,
) -> bool:
    """Close what is done, pair what is next, finish the tournament, and hand out matches that are due.

    ``hand_out`` sends a message for a match; ``connected`` is asked for the bots of a continuous tournament
    that are free. At most ``at_once`` messages are on their way; a match
    that none has taken ``again_after`` its message was sent gets another: the first may be lost.
    Return whether a round was closed.
    """
    closed = False
    while (step := next_step(storage, tournament_id)) is not None:
        if not step(storage, tournament_id, now):
            return closed  # somebody else took it, and goes on
        closed = closed or step is close_round
    pair_batch(storage, tournament_id, now, connected)
    for match_id in _take_due(storage, tournament_id, now, at_once, again_after):
        hand_out(match_id)
    return closed


def running_tournaments(storage: Storage) -> list[int]:
    """Return all tournaments that may have something to do, oldest first."""
    running = select(Tournament.id).where(Tournament.state == TournamentState.RUNNING)
    with storage.read() as tx:
        return list(tx.exec(running.order_by(col(Tournament.id))))


def tournament_of(storage: Storage, match_id: int) -> int:
    """Return the tournament that a match belongs to."""
    with storage.read() as tx:
        return tx.get_one(Match, match_id).tournament_id


def next_step(storage: Storage, tournament_id: int) -> Step | None:
    """Return what the rows ask for; None: nothing before a match finishes, or nothing ever."""
    with storage.read() as tx:
        tournament = tx.get(Tournament, tournament_id)
        if tournament is None or tournament.state != TournamentState.RUNNING:
            return None
        if _finished_round(tx, tournament_id) is not None:
            return close_round
        if _round(tx, tournament_id, RoundState.OPEN) is not None:
            return None
        if _round(tx, tournament_id, RoundState.PLANNED) is not None:
            return open_next_round
        if tournament.paired == tournament.rounds:
            return finish
        return None if FORMATS[tournament.format].in_batches else pair_rounds


def close_round(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """Close an open round, all of whose matches are done, and apply its ratings if it is rated."""
    with storage.write() as tx:
        tournament = _lock_running(tx, tournament_id, now)
        round = _finished_round(tx, tournament_id)
        if tournament is None or round is None:
            return False
        round.state, round.finished_at = RoundState.CLOSED, now
        if tournament.rated:
            rate_round(tx, tournament, round, now)
        log.info("%s: round %d closed", tournament.name, round.number, extra={"tournament": tournament.name})
        return True


def open_next_round(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """Open the first of the planned rounds."""
    with storage.write() as tx:
        tournament = _lock_running(tx, tournament_id, now)
        round = _round(tx, tournament_id, RoundState.PLANNED)
        if tournament is None or round is None or _round(tx, tournament_id, RoundState.OPEN):
            return False
        round.state, round.started_at = RoundState.OPEN, now
        log.info("%s: round %d opened", tournament.name, round.number, extra={"tournament": tournament.name})
        return True


def pair_rounds(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """Plan the next round, or several rounds of a round-robin, or see that there is none."""
    with storage.read() as tx:  # pairing many takes a while, during which nobody should have to wait
        tournament = tx.get_one(Tournament, tournament_id)
        if _opened_or_planned(tx, tournament_id):
            return False  # somebody else paired this one, and the next one follows from its results
        entrants = list_entrants(tx, tournament)
        course = course_of(tx, tournament, entrants)
        pairings = FORMATS[tournament.format].next(setup_of(tournament), course)
    with storage.write() as tx:
        locked = _lock_running(tx, tournament_id, now, col(Tournament.paired) == course.paired)
        if locked is None:
            return False
        if locked.paired == locked.rounds:
            return False  # it was stopped meanwhile
        if present_in(tx, locked, course.paired + 1) != course.present:
            return False  # somebody came or left meanwhile, and was told from which round on that counts
        locked.rounds = _rounds_in_all(locked, len(entrants), len(pairings))
        for number, pairing in enumerate(pairings, start=course.paired + 1):
            _plan_round(tx, locked, number, pairing, entrants, now)
        locked.paired += len(pairings)
        counted = (locked.name, locked.paired, locked.rounds)
        log.info("%s: %d of %s rounds paired", *counted, extra={"tournament": locked.name})
        return True


def _rounds_in_all(tournament: Tournament, entrants: int, more: int) -> int | None:
    """Return the rounds of the tournament when ``more`` are paired now; None: until it is stopped.

    With no more to be paired, those paired are all. A knockout may turn out shorter than planned.
    """
    if not more:
        return tournament.paired
    total = FORMATS[tournament.format].total(setup_of(tournament), entrants)
    return total if total is None else max(total, tournament.paired + more)


def pair_batch(storage: Storage, tournament_id: int, now: datetime, connected: Connected) -> bool:
    """Seat those who are free in a continuous tournament, if they are enough: a round that opens at once."""
    with storage.read() as tx:
        tournament = tx.get(Tournament, tournament_id)
        if not _goes_on(tournament):
            return False
        entrants = list_entrants(tx, tournament)
        free, busy = free_entrants(tx, tournament, entrants)
        there = present_in(tx, tournament, tournament.paired + 1)
    format, setup = FORMATS[tournament.format], setup_of(tournament)
    here = set(connected([one.version_id for one in free])) if len(free) >= setup.size else ()
    present = [one.number for one in free if one.version_id in here]
    if len(present) < format.least_free(setup, others_play=busy > 0):
        return False
    with storage.read() as tx:
        course = course_of(tx, tournament, entrants, present)
        rated = course.ratings()
        pairings = format.next(setup, replace(course, ratings=lambda: rated))
    if not pairings:
        return False  # too few owners; others will be free, or come
    with storage.write() as tx:
        locked = _lock_running(tx, tournament_id, now, col(Tournament.paired) == course.paired)
        if locked is None or not _goes_on(locked):
            return False
        if present_in(tx, locked, course.paired + 1) != there:
            return False  # somebody came or left meanwhile, and was told from which round on that counts
        free_then: list[dict[str, object]] = [
            {"entrant": one, "rating": rated[one].value, "weight": rated[one].weight} for one in present
        ]
        _open_batch(tx, locked, pairings[0], entrants, now, free_then)
        return True


def _open_batch(
    tx: Transaction,
    tournament: Tournament,
    pairing: Pairing,
    entrants: Sequence[EntrantInfo],
    now: datetime,
    free: list[dict[str, object]],
) -> None:
    tournament.paired += 1
    round = _plan_round(tx, tournament, tournament.paired, pairing, entrants, now)
    round.free = free
    round.state, round.started_at = RoundState.OPEN, now
    opened = (tournament.name, round.number, len(pairing.tables))
    log.info("%s: batch %d opened, %d tables", *opened, extra={"tournament": tournament.name})


def _goes_on(tournament: Tournament | None) -> TypeGuard[Tournament]:
    """Return whether this is a continuous tournament that runs and has batches left."""
    return (
        tournament is not None
        and FORMATS[tournament.format].in_batches
        and tournament.state == TournamentState.RUNNING
        and tournament.paired != tournament.rounds
    )


def _plan_round(
    tx: Transaction,
    tournament: Tournament,
    number: int,
    pairing: Pairing,
    entrants: Sequence[EntrantInfo],
    now: datetime,
) -> Round:
    by_number = {entrant.number: entrant for entrant in entrants}
    round = Round(
        tournament_id=tournament.id,
        number=number,
        state=RoundState.PLANNED,
        byes=list(pairing.byes),
        created_at=now,
    )
    tx.add(round)
    tx.flush()
    matches = [
        Match(
            tournament_id=tournament.id,
            round_id=round.id,
            table_number=table,
            state=MatchState.WAITING,
            created_at=now,
        )
        for table in range(1, len(pairing.tables) + 1)
    ]
    tx.add_all(matches)
    tx.flush()
    tx.add_all(
        Seat(
            match_id=match.id,
            position=position,
            entrant_id=by_number[number].entrant_id,
            version_id=by_number[number].version_id,
        )
        for match, table in zip(matches, pairing.tables, strict=True)
        for position, number in enumerate(table)
    )
    return round


def finish(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """End the tournament, all of whose rounds are closed; from here on its seed is public."""
    with storage.write() as tx:
        tournament = _lock_running(tx, tournament_id, now, col(Tournament.paired) == Tournament.rounds)
        if tournament is None or _opened_or_planned(tx, tournament_id):
            return False
        tournament.state, tournament.finished_at = TournamentState.FINISHED, now
        note(tx, tournament, "finished", now, rounds=tournament.paired)
        log.info("%s: finished", tournament.name, extra={"tournament": tournament.name})
        return True


def _take_due(
    storage: Storage, tournament_id: int, now: datetime, at_once: int, again_after: timedelta
) -> list[int]:
    """Return matches to send messages for, already noted as handed out."""
    with storage.read() as tx:
        if not _to_hand_out(tx, tournament_id, now, at_once, again_after):
            return []
    with storage.write() as tx:
        if _lock_running(tx, tournament_id, now) is None:
            return []
        matches = _to_hand_out(tx, tournament_id, now, at_once, again_after)
        return [match.id for match in matches if _stamp(tx, match, now, again_after)]


def _stamp(tx: Transaction, match: Match, now: datetime, lease: timedelta) -> bool:
    """Note that a message for a match is sent; return whether it still waits for one."""
    still_due = update(Match).where(col(Match.id) == match.id, *due(now, lease))
    return changed(tx, still_due.values(handed_out_at=now)) == 1


def _to_hand_out(
    tx: Transaction, tournament_id: int, now: datetime, at_once: int, again_after: timedelta
) -> Sequence[Match]:
    opened = select(Round.id).where(Round.tournament_id == tournament_id, Round.state == RoundState.OPEN)
    waiting = [col(Match.round_id).in_(opened), *due(now, again_after)]
    # Of a clock that was wrong, a time may lie far ahead: then the message is not waited for.
    on_the_way = col(Match.handed_out_at).between(
        now - again_after + timedelta(microseconds=1), now + again_after
    )
    sent = tx.exec(select(func.count()).select_from(Match).where(*waiting, on_the_way)).one()
    not_sent = or_(col(Match.handed_out_at).is_(None), ~on_the_way)
    first = select(Match).where(*waiting, not_sent).order_by(col(Match.round_id), col(Match.table_number))
    return tx.exec(first.limit(max(0, at_once - sent))).all()


def _lock_running(
    tx: Transaction, tournament_id: int, now: datetime, *conditions: ColumnElement[bool]
) -> Tournament | None:
    """Keep other steps of the tournament off until this transaction ends; None if it does not run."""
    running = (col(Tournament.id) == tournament_id, col(Tournament.state) == TournamentState.RUNNING)
    if not changed(tx, update(Tournament).where(*running, *conditions).values(advanced_at=now)):
        return None
    return tx.get_one(Tournament, tournament_id)


def _opened_or_planned(tx: Transaction, tournament_id: int) -> bool:
    """Return whether there is a round that has not ended."""
    return any(_round(tx, tournament_id, state) for state in (RoundState.OPEN, RoundState.PLANNED))


def _round(tx: Transaction, tournament_id: int, state: RoundState) -> Round | None:
    """Return the first round in this state."""
    in_state = (Round.tournament_id == tournament_id, Round.state == state)
    return tx.exec(select(Round).where(*in_state).order_by(col(Round.number)).limit(1)).first()


def _finished_round(tx: Transaction, tournament_id: int) -> Round | None:
    """Return the first of the open rounds that has no unfinished match."""
    # Not "other than done": an index leads to what is in one of these states, past all that is done.
    states = [state for state in MatchState if state != MatchState.DONE]
    unfinished = select(Match.id).where(Match.round_id == Round.id, col(Match.state).in_(states))
    opened = select(Round).where(Round.tournament_id == tournament_id, Round.state == RoundState.OPEN)
    return tx.exec(opened.where(~unfinished.exists()).order_by(col(Round.number)).limit(1)).first()
