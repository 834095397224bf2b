"""What happens next in a tournament: one idempotent step after another, until there is nothing to do.

A step is a transaction of its own. It begins with an update of the tournament's row that only succeeds while
the tournament runs, so that steps of one tournament follow each other no matter who takes them, and it checks
its preconditions again. After a crash anywhere, or when several processes advance at once, the next call
continues from the rows.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any, NamedTuple

from sqlalchemy import ScalarSelect, bindparam, literal_column, or_, union_all, update
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.core.formats import FORMATS
from arena.play.matches.leases import DUE, LAPSED, due_at
from arena.play.rounds.batches import Connected, everyone, pair_batch
from arena.play.rounds.planning import (
    Entered,
    close,
    is_locked_running,
    lock_running,
    plan_round,
    setup_of,
    situation_of,
)
from arena.store.database import name_error
from arena.store.models import Match, MatchState, Round, RoundState, Tournament, TournamentState
from arena.store.storage import Ids, Storage, Transaction, among, changed
from arena.tournaments.events import note
from arena.tournaments.roster import list_entrants, present_in

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
    that were away are not asked about again, so that a match costs the same however many have entered; and
    messages are sent only once fewer than three quarters of ``at_once`` are on their way.
    Without one, all rounds are looked at, and all bots. Return whether a round was closed.
    """
    closed = False
    while True:
        with storage.read() as tx:
            now_there = _look(tx, tournament_id, round_id, now, at_once, again_after)
        if now_there.step is None:
            break
        if now_there.step(storage, tournament_id, now):
            closed = closed or now_there.closes
        elif not now_there.closes:
            return closed  # somebody else took it, and goes on
    seated = now_there.in_batches and pair_batch(
        storage, tournament_id, now, connected, away=round_id is None
    )
    if seated or now_there.is_due:
        for match_id in _take_due(storage, tournament_id, now, at_once, again_after):
            hand_out(match_id)
    return closed


def running_tournaments(storage: Storage) -> list[int]:
    """Return all tournaments that may have something to do, oldest first."""
    running = select(Tournament.id).where(Tournament.state == TournamentState.RUNNING)
    with storage.read() as tx:
        return list(tx.exec(running.order_by(col(Tournament.id))))


def note_problem(storage: Storage, tournament_id: int, error: Exception) -> None:
    """Note in a running tournament's row why it cannot be advanced; the next step that is taken clears it."""
    problem = name_error(error)
    stuck = (
        col(Tournament.id) == tournament_id,
        col(Tournament.state) == TournamentState.RUNNING,
        col(Tournament.problem).is_distinct_from(problem),
    )
    with storage.write() as tx:
        changed(tx, update(Tournament).where(*stuck).values(problem=problem))


class _There(NamedTuple):
    """What there is to do in a tournament."""

    step: Step | None = None
    """The next step; None if there is none until matches are played, or at all."""
    closes: bool = False
    """Whether the step closes a round."""
    in_batches: bool = False
    """Whether its format seats those who are free, in batches."""
    is_due: bool = False
    """Whether matches are to be handed out; not looked for before a step."""


def _look(
    tx: Transaction,
    tournament_id: int,
    round_id: int | None,
    now: datetime,
    at_once: int,
    again_after: timedelta,
) -> _There:
    """Return what there is to do; after most matches that is nothing, which takes two queries at most."""
    which = {"tournament": tournament_id, "this": round_id}
    row = tx.connection().execute(_select_next(round_id is None), which).first()
    if row is None or row.state != TournamentState.RUNNING:
        return _There()
    if row.finished is not None:
        return _There(partial(close_round, round_id=row.finished), closes=True)
    in_batches = FORMATS[row.format].in_batches
    if row.first is not None:
        # After a match, messages are sent several at a time: those on their way keep the workers busy.
        enough = at_once if round_id is None else at_once - at_once // 4
        due = _select_due(tx, tournament_id, (row.first, row.last), now, enough, again_after)
        return _There(in_batches=in_batches, is_due=bool(due))
    if row.planned is not None:
        return _There(open_next_round)
    if row.paired == row.rounds:
        return _There(finish)
    return _There(in_batches=True) if in_batches else _There(pair_rounds)


@cache
def _select_next(any_round: bool) -> Any:
    return select_columns(
        col(Tournament.state),
        col(Tournament.format),
        col(Tournament.paired),
        col(Tournament.rounds),
        _finished_id(any_round).label("finished"),
        _first_or_last(RoundState.OPEN).label("first"),
        _first_or_last(RoundState.OPEN, last=True).label("last"),
        _first_or_last(RoundState.PLANNED).label("planned"),
    ).where(col(Tournament.id) == bindparam("tournament"))


def _first_or_last(state: RoundState, *, last: bool = False) -> ScalarSelect[Any]:
    """Return the id of a tournament's first round in a state, or of its last one."""
    order = col(Round.number).desc() if last else col(Round.number)
    in_state = (Round.tournament_id == bindparam("tournament"), Round.state == state)
    return select(Round.id).where(*in_state).order_by(order).limit(literal_column("1")).scalar_subquery()


def close_round(storage: Storage, tournament_id: int, now: datetime, round_id: int | None = None) -> bool:
    """Close an open round, all of whose matches are done, and apply its ratings if it is rated.

    It is the round with this id, or the first such round; return whether there was one.
    """
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
    with storage.write() as tx:
        if not is_locked_running(tx, tournament_id, now):
            return []
        opened = _opened(tx, tournament_id)
        due = opened and _select_due(tx, tournament_id, opened, now, at_once, again_after)
        if not due:
            return []
        stamped = tx.connection().execute(_stamp_due(), {"ids": due, **due_at(now, again_after)})
        still_due = set(stamped.scalars())
        return [match_id for match_id in due if match_id in still_due]


@cache
def _stamp_due() -> Any:
    """Note that messages for matches are sent; return those that still wait for one."""
    still_due = update(Match).where(among(Match.id, bindparam("ids", type_=Ids())), *DUE)
    return still_due.values(handed_out_at=bindparam("now")).returning(col(Match.id))


def _select_due(
    tx: Transaction,
    tournament_id: int,
    opened: tuple[int, int],
    now: datetime,
    at_once: int,
    again_after: timedelta,
) -> Sequence[int]:
    """Return matches that wait for a message, in order, as many as may be on their way.

    They are in the rounds from the first to the last of ``opened``; those between are open, too, or have no
    match that waits.
    """
    first, last = opened
    which = {
        "tournament": tournament_id,
        "first": first,
        "last": last,
        # A wrong clock may have written a time far ahead: such a message is not waited for.
        "sent_after": now - again_after + timedelta(microseconds=1),
        "sent_before": now + again_after,
        "most": at_once,
        **due_at(now, again_after),
    }
    count, not_sent = _select_sent()
    due = tx.connection().execute(not_sent, which).scalars().all()
    return due[: max(0, at_once - tx.connection().execute(count, which).scalar_one())] if due else ()


@cache
def _select_sent() -> tuple[Any, Any]:
    """Count due matches whose message is on its way, and select others; made once, since each match asks."""
    opened = col(Match.round_id).between(bindparam("first"), bindparam("last"))
    waiting = (col(Match.tournament_id) == bindparam("tournament"), opened, *DUE)
    on_the_way = col(Match.handed_out_at).between(bindparam("sent_after"), bindparam("sent_before"))
    count = select(func.count()).select_from(Match).where(*waiting, on_the_way)
    not_sent = select(Match.id, Match.round_id, Match.table_number).where(
        *waiting, or_(col(Match.handed_out_at).is_(None), ~on_the_way)
    )
    in_order = not_sent.order_by(col(Match.round_id), col(Match.table_number)).limit(bindparam("most"))
    # One kind at a time, so that each uses an index: running matches that are not due are not looked at.
    kinds = union_all(
        *(
            select(in_order.where(kind).subquery())
            for kind in (col(Match.state) == MatchState.WAITING, *LAPSED)
        )
    )
    return count, kinds.order_by("round_id", "table_number").limit(bindparam("most"))


def _opened(tx: Transaction, tournament_id: int) -> tuple[int, int] | None:
    """Return the first and the last of a tournament's open rounds; None if there is none."""
    row = tx.connection().execute(_select_next(False), {"tournament": tournament_id, "this": None}).one()
    return None if row.first is None else (row.first, row.last)


def _opened_or_planned(tx: Transaction, tournament_id: int) -> bool:
    """Return whether there is a round that has not ended."""
    return any(_round(tx, tournament_id, state) for state in (RoundState.OPEN, RoundState.PLANNED))


def _round(tx: Transaction, tournament_id: int, state: RoundState) -> Round | None:
    """Return the first round in this state."""
    in_state = tx.exec(_select_round(), params={"tournament": tournament_id, "in_state": state})
    round: Round | None = in_state.first()
    return round


@cache
def _select_round() -> Any:
    in_state = (Round.tournament_id == bindparam("tournament"), Round.state == bindparam("in_state"))
    return select(Round).where(*in_state).order_by(col(Round.number)).limit(1)


def _finished_round(tx: Transaction, tournament_id: int, round_id: int | None) -> Round | None:
    """Return the first open round, or the one with this id, if it has no unfinished match."""
    which = {"tournament": tournament_id, "this": round_id}
    id: int | None = tx.connection().execute(select(_finished_id(round_id is None)), which).scalar()
    return None if id is None else tx.get(Round, id)


@cache
def _finished_id(any_round: bool) -> ScalarSelect[Any]:
    """Select the first open round without an unfinished match, or the one of this id."""
    # Not "other than done": with the states listed, an index skips everything that is done.
    states = [state for state in MatchState if state != MatchState.DONE]
    unfinished = select(Match.id).where(Match.round_id == Round.id, col(Match.state).in_(states))
    opened = select(Round.id).where(
        Round.tournament_id == bindparam("tournament"), Round.state == RoundState.OPEN
    )
    if not any_round:
        opened = opened.where(Round.id == bindparam("this"))
    done = opened.where(~unfinished.exists())
    return done.order_by(col(Round.number)).limit(literal_column("1")).scalar_subquery()
