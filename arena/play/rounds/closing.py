"""Closing rounds: their finished matches are counted and rated, and a cancelled tournament ends with that."""

from datetime import datetime

from sqlalchemy import delete, update
from sqlmodel import col, select

from arena.actors import Actor
from arena.errors import StateError
from arena.people.audit import record
from arena.results.ratings.apply import rate_round
from arena.results.standings.counted import keep_counted
from arena.results.standings.outcomes import played_in, tables_of
from arena.results.standings.stored import add_round
from arena.store.models import Match, MatchState, OpenDeal, Round, RoundState, Tournament, TournamentState
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.events import note
from arena.tournaments.overview import ENDED, TournamentStatus, find_tournament, organised, status_of
from arena.webhooks.outbox import emit

UNFINISHED = (MatchState.WAITING, MatchState.RUNNING, MatchState.FAILED)


def close(tx: Transaction, tournament: Tournament, round: Round, now: datetime) -> None:
    """Add the finished matches of an open round to the standings, and rate them; no other will be played.

    The tournament is locked. The round is closed if all of its matches are finished, and else cancelled.
    """
    tables, played = tables_of(tx, round), played_in(tx, tournament, round)
    done = [table for table in tables if table.match.state == MatchState.DONE]
    round.state = RoundState.CLOSED if len(done) == len(tables) else RoundState.CANCELLED
    round.finished_at = now
    add_round(tx, tournament, round, done, played)
    keep_counted(tournament, round, done, played)
    if tournament.rated and done:
        rate_round(tx, tournament, round, done, played, now)
    if round.state == RoundState.CLOSED:
        emit(tx, tournament.id, "round.finished", now, round=round.number, rounds=tournament.rounds)


def cancel(storage: Storage, actor: Actor, name: str, now: datetime) -> TournamentStatus:
    """End a tournament at once; its seed is revealed. Raise UnknownError, StateError.

    Finished matches count and are rated. Of the others, finished sessions stay on record, and count for
    nothing: a part of the seatings would favour whoever sat better in them.
    """
    with storage.write() as tx:
        tournament = organised(tx, actor, find_tournament, name, "cancel")
        open_ = (col(Tournament.id) == tournament.id, col(Tournament.state).not_in(ENDED))
        values = {"state": TournamentState.CANCELLED, "finished_at": now}
        if not changed(tx, update(Tournament).where(*open_).values(values)):
            raise StateError(f"tournament {name} is {tournament.state.value} already")
        tx.refresh(tournament)
        _cancel_matches(tx, tournament, now)
        _end_rounds(tx, tournament, now)
        note(tx, tournament, "cancelled", now)
        record(tx, actor, "tournament.cancel", name, now)
        return status_of(tx, tournament)


def _cancel_matches(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    matches = (col(Match.tournament_id) == tournament.id, col(Match.state).in_(UNFINISHED))
    # A worker stops without its lease; see arena.play.matches.leases.
    values = {"state": MatchState.CANCELLED, "finished_at": now, "lease_owner": None, "lease_until": None}
    changed(tx, update(Match).where(*matches).values(values))
    its = select(Match.id).where(Match.tournament_id == tournament.id)
    changed(tx, delete(OpenDeal).where(col(OpenDeal.match_id).in_(its)))


def _end_rounds(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Close or cancel the rounds that have not ended, in order; those that have not begun count nothing."""
    opened = (Round.tournament_id == tournament.id, Round.state == RoundState.OPEN)
    for round in tx.exec(select(Round).where(*opened).order_by(col(Round.number))).all():
        close(tx, tournament, round, now)
    planned = (col(Round.tournament_id) == tournament.id, col(Round.state) == RoundState.PLANNED)
    values = {"state": RoundState.CANCELLED, "finished_at": now, "summed": True}
    changed(tx, update(Round).where(*planned).values(values))
