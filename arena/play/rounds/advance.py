"""What happens next in a tournament: one idempotent step after another, until there is nothing to do.

A step is a transaction of its own. It begins with an update of the tournament's row that only succeeds while
the tournament runs, so that steps of one tournament follow each other no matter who takes them, and it checks
its preconditions again. After a crash anywhere, or when several processes advance at once, the next call
continues from the rows.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Update, bindparam, or_, update
from sqlmodel import col, func, select

from arena.core.formats import FORMATS
from arena.play.matches.leases import DUE, LAPSED, due_at
from arena.play.rounds.batches import Connected, everyone, pair_batch
from arena.play.rounds.closing import close
from arena.play.rounds.planning import Entered, lock_running, plan_round, setup_of, situation_of
from arena.store.models import Match, MatchState, Round, RoundState, Tournament, TournamentState
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.entrants import list_entrants, present_in
from arena.tournaments.events import note

log = logging.getLogger("arena.advance")

Step = Callable[[Storage, int, datetime], bool]
"""Takes the step if it is still there to be taken; returns whether it did."""


def advance(
    storage: Storage,
    tournament_id: int,
    now: datetime,
    hand_out: Callable[[int], None],
    *,
    at_once: int,
    again_after: timedelta,
    connected: Connected = everyone,
    round_id: int | None = None,
) -> bool:
    """Close what is done, pair what is next, finish the tournament, and hand out matches that are due.

    ``hand_out`` sends a message for a match; ``connected`` tells which free bots of a continuous tournament
    are connected. At most ``at_once`` messages are on their way; a match that no worker has taken within
    ``again_after`` of its message gets another, since the first may be lost.
    After a match, ``round_id`` is its round: in a continuous tournament only that round is closed, and bots
    that were away are not asked about again, so that a match costs the same however many have entered.
    Without one, all rounds are looked at, and all bots. Return whether a round was closed.
    """
    closed = False
    while True:
        while close_round(storage, tournament_id, now, round_id):
            closed = True
        step = next_step(storage, tournament_id)
        if step is None:
            break
        if not step(storage, tournament_id, now):
            return closed  # somebody else took it, and goes on
    pair_batch(storage, tournament_id, now, connected, away=round_id is None)
    for match_id in _take_due(storage, tournament_id, now, at_once, again_after):
        hand_out(match_id)
    return closed


def running_tournaments(storage: Storage) -> list[int]:
    """Return all tournaments that may have something to do, oldest first."""
    running = select(Tournament.id).where(Tournament.state == TournamentState.RUNNING)
    with storage.read() as tx:
        return list(tx.exec(running.order_by(col(Tournament.id))))


def round_of(storage: Storage, match_id: int) -> tuple[int, int]:
    """Return the tournament and the round that a match belongs to."""
    with storage.read() as tx:
        match = tx.get_one(Match, match_id)
        return match.tournament_id, match.round_id


def next_step(storage: Storage, tournament_id: int) -> Step | None:
    """Return the next step other than closing a round; None if there is none until then, or at all."""
    with storage.read() as tx:
        tournament = tx.get(Tournament, tournament_id)
        if tournament is None or tournament.state != TournamentState.RUNNING:
            return None
        if _round(tx, tournament_id, RoundState.OPEN) is not None:
            return None
        if _round(tx, tournament_id, RoundState.PLANNED) is not None:
            return open_next_round
        if tournament.paired == tournament.rounds:
            return finish
        return None if FORMATS[tournament.format].in_batches else pair_rounds


def close_round(storage: Storage, tournament_id: int, now: datetime, round_id: int | None = None) -> bool:
    """Close an open round, all of whose matches are done, and apply its ratings if it is rated.

    It is the round with this id, or the first such round; return whether there was one.
    """
    with storage.read() as tx:
        if _finished_round(tx, tournament_id, round_id) is None:
            return False
    with storage.write() as tx:
        tournament = lock_running(tx, tournament_id, now)
        round = _finished_round(tx, tournament_id, round_id)
        if tournament is None or round is None:
            return False
        close(tx, tournament, round, now)
        log.info("%s: round %d closed", tournament.name, round.number, extra={"tournament": tournament.name})
        return True


def open_next_round(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """Open the first of the planned rounds."""
    with storage.write() as tx:
        tournament = lock_running(tx, tournament_id, now)
        round = _round(tx, tournament_id, RoundState.PLANNED)
        if tournament is None or round is None or _round(tx, tournament_id, RoundState.OPEN):
            return False
        round.state, round.started_at = RoundState.OPEN, now
        log.info("%s: round %d opened", tournament.name, round.number, extra={"tournament": tournament.name})
        return True


def pair_rounds(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """Plan the next round, or several rounds of a round-robin, or find that there are no more."""
    with storage.read() as tx:  # pairing many takes a while, during which nobody should have to wait
        tournament = tx.get_one(Tournament, tournament_id)
        if _opened_or_planned(tx, tournament_id):
            return False  # somebody else paired this one, and the next one follows from its results
        entrants = list_entrants(tx, tournament)
        situation = situation_of(tx, tournament, entrants)
        pairings = FORMATS[tournament.format].next(setup_of(tournament), situation)
    with storage.write() as tx:
        locked = lock_running(tx, tournament_id, now, col(Tournament.paired) == situation.paired)
        if locked is None:
            return False
        if locked.paired == locked.rounds:
            return False  # it was stopped meanwhile
        if present_in(tx, locked, situation.paired + 1) != situation.present:
            return False  # somebody came or left meanwhile, and was told from which round on that counts
        entered = {entrant.number: Entered(entrant.entrant_id, entrant.version_id) for entrant in entrants}
        locked.rounds = _rounds_in_all(locked, len(entrants), len(pairings))
        for number, pairing in enumerate(pairings, start=situation.paired + 1):
            plan_round(tx, locked, number, pairing, entered, now)
        locked.paired += len(pairings)
        counted = (locked.name, locked.paired, locked.rounds)
        log.info("%s: %d of %s rounds paired", *counted, extra={"tournament": locked.name})
        return True


def _rounds_in_all(tournament: Tournament, entrants: int, more: int) -> int | None:
    """Return the rounds of the tournament when ``more`` are paired now; None if it goes on until stopped.

    If none are left to pair, those paired are all. A knockout may turn out shorter than planned.
    """
    if not more:
        return tournament.paired
    total = FORMATS[tournament.format].total(setup_of(tournament), entrants)
    return total if total is None else max(total, tournament.paired + more)


def finish(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """End the tournament, all of whose rounds are closed; from here on its seed is public."""
    with storage.write() as tx:
        tournament = lock_running(tx, tournament_id, now, col(Tournament.paired) == Tournament.rounds)
        if tournament is None or _opened_or_planned(tx, tournament_id):
            return False
        tournament.state, tournament.finished_at = TournamentState.FINISHED, now
        note(tx, tournament, "finished", now, rounds=tournament.paired)
        log.info("%s: finished", tournament.name, extra={"tournament": tournament.name})
        return True


def _take_due(
    storage: Storage, tournament_id: int, now: datetime, at_once: int, again_after: timedelta
) -> list[int]:
    """Return matches for which to send messages, already noted as handed out."""
    with storage.read() as tx:
        if not _to_hand_out(tx, tournament_id, now, at_once, again_after):
            return []
    with storage.write() as tx:
        if lock_running(tx, tournament_id, now) is None:
            return []
        matches = _to_hand_out(tx, tournament_id, now, at_once, again_after)
        return [match.id for match in matches if _stamp(tx, match, now, again_after)]


def _stamp(tx: Transaction, match: Match, now: datetime, lease: timedelta) -> bool:
    """Note that a message for a match is sent; return whether it still waits for one."""
    return changed(tx, _stamp_due(), {"match": match.id, **due_at(now, lease)}) == 1


@cache
def _stamp_due() -> Update:
    still_due = update(Match).where(col(Match.id) == bindparam("match"), *DUE)
    return still_due.values(handed_out_at=bindparam("now"))


def _to_hand_out(
    tx: Transaction, tournament_id: int, now: datetime, at_once: int, again_after: timedelta
) -> list[Match]:
    """Return matches of open rounds that wait for a message, in order, as many as may be on their way."""
    first, last = (_round(tx, tournament_id, RoundState.OPEN, last=last) for last in (False, True))
    if first is None or last is None:
        return []
    # Rounds between these are open, or have no waiting match.
    which = {
        "tournament": tournament_id,
        "first": first.id,
        "last": last.id,
        # A wrong clock may have written a time far ahead: such a message is not waited for.
        "sent_after": now - again_after + timedelta(microseconds=1),
        "sent_before": now + again_after,
        **due_at(now, again_after),
    }
    count, not_sent = _select_sent()
    free = max(0, at_once - tx.exec(count, params=which).one())
    due = [match for kind in not_sent for match in tx.exec(kind, params=which | {"most": free})]
    return sorted(due, key=lambda match: (match.round_id, match.table_number))[:free]


@cache
def _select_sent() -> tuple[Any, list[Any]]:
    """Count due matches whose message is on its way, and select others; made once, since each match asks."""
    opened = col(Match.round_id).between(bindparam("first"), bindparam("last"))
    waiting = (col(Match.tournament_id) == bindparam("tournament"), opened, *DUE)
    on_the_way = col(Match.handed_out_at).between(bindparam("sent_after"), bindparam("sent_before"))
    count = select(func.count()).select_from(Match).where(*waiting, on_the_way)
    not_sent = select(Match).where(*waiting, or_(col(Match.handed_out_at).is_(None), ~on_the_way))
    first = not_sent.order_by(col(Match.round_id), col(Match.table_number)).limit(bindparam("most"))
    # One kind at a time, so that each uses an index: running matches that are not due are not looked at.
    return count, [first.where(kind) for kind in (col(Match.state) == MatchState.WAITING, *LAPSED)]


def _opened_or_planned(tx: Transaction, tournament_id: int) -> bool:
    """Return whether there is a round that has not ended."""
    return any(_round(tx, tournament_id, state) for state in (RoundState.OPEN, RoundState.PLANNED))


def _round(tx: Transaction, tournament_id: int, state: RoundState, *, last: bool = False) -> Round | None:
    """Return the first round in this state, or the last one."""
    open_round = tx.exec(_select_round(last), params={"tournament": tournament_id, "in_state": state})
    round: Round | None = open_round.first()
    return round


@cache
def _select_round(last: bool) -> Any:
    in_state = (Round.tournament_id == bindparam("tournament"), Round.state == bindparam("in_state"))
    order = col(Round.number).desc() if last else col(Round.number)
    return select(Round).where(*in_state).order_by(order).limit(1)


def _finished_round(tx: Transaction, tournament_id: int, round_id: int | None) -> Round | None:
    """Return the first open round, or the one with this id, if it has no unfinished match."""
    which = {"tournament": tournament_id, "this": round_id}
    round: Round | None = tx.exec(_select_finished(round_id is None), params=which).first()
    return round


@cache
def _select_finished(any_round: bool) -> Any:
    # Not "other than done": with the states listed, an index skips everything that is done.
    states = [state for state in MatchState if state != MatchState.DONE]
    unfinished = select(Match.id).where(Match.round_id == Round.id, col(Match.state).in_(states))
    opened = select(Round).where(
        Round.tournament_id == bindparam("tournament"), Round.state == RoundState.OPEN
    )
    if not any_round:
        opened = opened.where(Round.id == bindparam("this"))
    return opened.where(~unfinished.exists()).order_by(col(Round.number)).limit(1)
