"""What happens next in a tournament: one idempotent step after another, until there is nothing to do.

A step is a transaction of its own. It begins with an update of the tournament's row that only succeeds while
the tournament runs, so that steps of one tournament follow each other whoever takes them, and it looks again
at what it depends on. After a crash anywhere, or when several advance at once, the next call goes on from the
rows.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, or_, update
from sqlmodel import col, func, select

from arena.models import Match, MatchState, Round, RoundState, Seat, Tournament, TournamentState
from arena.pairing import History, Pairing, round_robin, swiss
from arena.services.history import EntrantInfo, byes, current_standings, list_entrants, outcomes
from arena.services.matches import due
from arena.services.rating import rate_round
from arena.storage import Storage, Transaction, changed

log = logging.getLogger("arena.advance")

Step = Callable[[Storage, int, datetime], bool]
"""Takes the step if it is still there to be taken; gives whether it did."""


def advance(
    storage: Storage,
    tournament_id: int,
    now: datetime,
    hand_out: Callable[[int], None],
    *,
    at_once: int,
    again_after: timedelta,
) -> None:
    """Close what is done, pair what is next, finish the tournament, and hand out matches that are due.

    ``hand_out`` sends a message for a match. At most ``at_once`` messages are on their way; a match
    that none has taken ``again_after`` its message was sent gets another: the first may be lost.
    """
    while (step := next_step(storage, tournament_id)) is not None:
        if not step(storage, tournament_id, now):
            return  # somebody else took it, and goes on
    for match_id in _take_due(storage, tournament_id, now, at_once, again_after):
        hand_out(match_id)


def running_tournaments(storage: Storage) -> list[int]:
    """All tournaments that may have something to do, oldest first."""
    running = select(Tournament.id).where(Tournament.state == TournamentState.RUNNING)
    with storage.read() as tx:
        return list(tx.exec(running.order_by(col(Tournament.id))))


def tournament_of(storage: Storage, match_id: int) -> int:
    """The tournament that a match belongs to."""
    with storage.read() as tx:
        return tx.get_one(Match, match_id).tournament_id


def next_step(storage: Storage, tournament_id: int) -> Step | None:
    """What the rows ask for; None: nothing before a match finishes, or nothing ever."""
    with storage.read() as tx:
        tournament = tx.get(Tournament, tournament_id)
        if tournament is None or tournament.state != TournamentState.RUNNING:
            return None
        open_round = _round(tx, tournament_id, RoundState.OPEN)
        if open_round is not None:
            return None if _unfinished(tx, open_round) else close_round
        if _round(tx, tournament_id, RoundState.PLANNED) is not None:
            return open_next_round
        return finish if tournament.paired == tournament.rounds else pair_rounds


def close_round(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """Close the open round, all of whose matches are done, and apply its ratings."""
    with storage.write() as tx:
        tournament = _hold(tx, tournament_id, now)
        round = _round(tx, tournament_id, RoundState.OPEN)
        if tournament is None or round is None or _unfinished(tx, round):
            return False
        round.state, round.finished_at = RoundState.CLOSED, now
        rate_round(tx, tournament, round, now)
        log.info("%s: round %d closed", tournament.name, round.number)
        return True


def open_next_round(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """Open the first of the planned rounds."""
    with storage.write() as tx:
        tournament = _hold(tx, tournament_id, now)
        round = _round(tx, tournament_id, RoundState.PLANNED)
        if tournament is None or round is None or _round(tx, tournament_id, RoundState.OPEN):
            return False
        round.state, round.started_at = RoundState.OPEN, now
        log.info("%s: round %d opened", tournament.name, round.number)
        return True


def pair_rounds(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """Plan the next round of a Swiss tournament, or all rounds of a round-robin."""
    with storage.read() as tx:  # pairing many takes a while, during which nobody should have to wait
        tournament = tx.get_one(Tournament, tournament_id)
        paired = tournament.paired
        entrants = list_entrants(tx, tournament)
        pairings = _pairings(tx, tournament, entrants)
    with storage.write() as tx:
        held = _hold(tx, tournament_id, now, col(Tournament.paired) == paired)
        if held is None:
            return False
        for number, pairing in enumerate(pairings, start=paired + 1):
            _plan_round(tx, held, number, pairing, entrants, now)
        held.paired += len(pairings)
        held.rounds = held.paired if held.format == "round-robin" else held.rounds
        log.info("%s: %d of %s rounds paired", held.name, held.paired, held.rounds)
        return True


def _pairings(tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]) -> Sequence[Pairing]:
    numbers = [entrant.number for entrant in entrants]
    lots = bytes.fromhex(tournament.commitment)  # public, and not known before the entrants were
    if tournament.format == "round-robin":
        return round_robin(numbers, tournament.table_size, lots, tournament.rounds)
    standing = [line.entrant for line in current_standings(tx, tournament, entrants)]
    history = History(
        tables=[tuple(outcome.points) for outcome in outcomes(tx, tournament)],
        byes=byes(tx, tournament),
        owners={entrant.number: entrant.owner_id for entrant in entrants},
    )
    return [swiss(standing, tournament.table_size, history, tournament.paired + 1, lots)]


def _plan_round(
    tx: Transaction,
    tournament: Tournament,
    number: int,
    pairing: Pairing,
    entrants: Sequence[EntrantInfo],
    now: datetime,
) -> None:
    ids = {entrant.number: entrant.entrant_id for entrant in entrants}
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
        Seat(match_id=match.id, position=position, entrant_id=ids[number])
        for match, table in zip(matches, pairing.tables, strict=True)
        for position, number in enumerate(table)
    )


def finish(storage: Storage, tournament_id: int, now: datetime) -> bool:
    """End the tournament, all of whose rounds are closed; from here on its seed is public."""
    with storage.write() as tx:
        tournament = _hold(tx, tournament_id, now, col(Tournament.paired) == Tournament.rounds)
        if tournament is None or _round(tx, tournament_id, RoundState.OPEN, RoundState.PLANNED):
            return False
        tournament.state, tournament.finished_at = TournamentState.FINISHED, now
        log.info("%s: finished", tournament.name)
        return True


def _take_due(
    storage: Storage, tournament_id: int, now: datetime, at_once: int, again_after: timedelta
) -> list[int]:
    """Matches to send messages for, already noted as handed out."""
    with storage.read() as tx:
        if not _to_hand_out(tx, tournament_id, now, at_once, again_after):
            return []
    with storage.write() as tx:
        if _hold(tx, tournament_id, now) is None:
            return []
        matches = _to_hand_out(tx, tournament_id, now, at_once, again_after)
        for match in matches:
            match.handed_out_at = now
        return [match.id for match in matches]


def _to_hand_out(
    tx: Transaction, tournament_id: int, now: datetime, at_once: int, again_after: timedelta
) -> Sequence[Match]:
    round = _round(tx, tournament_id, RoundState.OPEN)
    if round is None:
        return []
    waiting = [col(Match.round_id) == round.id, *due(now)]
    on_the_way = col(Match.handed_out_at) > now - again_after
    sent = tx.exec(select(func.count()).select_from(Match).where(*waiting, on_the_way)).one()
    not_sent = or_(col(Match.handed_out_at).is_(None), ~on_the_way)
    first = select(Match).where(*waiting, not_sent).order_by(col(Match.table_number))
    return tx.exec(first.limit(max(0, at_once - sent))).all()


def _hold(
    tx: Transaction, tournament_id: int, now: datetime, *conditions: ColumnElement[bool]
) -> Tournament | None:
    """Keep other steps of the tournament off until this transaction ends; None if it does not run."""
    running = (col(Tournament.id) == tournament_id, col(Tournament.state) == TournamentState.RUNNING)
    if not changed(tx, update(Tournament).where(*running, *conditions).values(advanced_at=now)):
        return None
    return tx.get_one(Tournament, tournament_id)


def _round(tx: Transaction, tournament_id: int, *states: RoundState) -> Round | None:
    in_state = (Round.tournament_id == tournament_id, col(Round.state).in_(states))
    return tx.exec(select(Round).where(*in_state).order_by(col(Round.number)).limit(1)).first()


def _unfinished(tx: Transaction, round: Round) -> bool:
    unfinished = select(Match.id).where(Match.round_id == round.id, Match.state != MatchState.DONE)
    return tx.exec(unfinished.limit(1)).first() is not None
