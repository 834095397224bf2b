"""What a referee is asked to play: a match's sessions, bots, seeds and limits."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import and_, bindparam
from sqlmodel import col, select

from arena.core.elo import START
from arena.core.seating import seatings
from arena.play.matches.attempts import FinishedDeals
from arena.store.models import BotVersion, Match, Rating, Round, Seat, StoredRuleset, Tournament
from arena.store.storage import Transaction
from referee.deals.shuffle import luck, session_seed
from referee.matches.match import MatchBot, MatchSpec, Rated, SessionSpec


def match_spec(tx: Transaction, match: Match, tournament: Tournament, missing: Collection[int]) -> MatchSpec:
    """Return the order to a referee to play the ``missing`` sessions of a match."""
    number = tx.get_one(Round, match.round_id).number
    seed = luck(bytes.fromhex(tournament.seed), tournament.beacon_value)
    table = None if tournament.duplicate else match.table_number  # None: all tables play the same deals
    seats = seatings(tournament.table_size, tournament.sessions, duplicate=tournament.duplicate)
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    return MatchSpec(
        match_id=f"{tournament.name}/{number}/{match.table_number}",
        tournament=tournament.name,
        round=number,
        table=match.table_number,
        ruleset=ruleset.content,
        bots=tuple(_bots(tx, match, tournament)),
        sessions=tuple(
            SessionSpec(
                session,
                seating,
                session_seed(seed, number, table, session),
                match.attempts[session - 1],
            )
            for session, seating in enumerate(seats, start=1)
            if session in missing
        ),
        deals=tournament.deals or 0,
        commitment=tournament.commitment or "",  # there is one as soon as there are matches
        limits=tournament.limits,
        shared_deals=tournament.duplicate and _has_other_tables(tx, match),
        pool=f"{ruleset.label}, tables of {tournament.table_size}" if tournament.rated else "",
    )


def _has_other_tables(tx: Transaction, match: Match) -> bool:
    """Return whether others play at the same time, in the same round."""
    others = select(Match.id).where(Match.round_id == match.round_id, Match.id != match.id).limit(1)
    return tx.exec(others).first() is not None


def _bots(tx: Transaction, match: Match, tournament: Tournament) -> Iterator[MatchBot]:
    """Yield the bots of a match by position, with their ratings if it is rated."""
    which = {"match": match.id, "ruleset": tournament.ruleset_id, "size": tournament.table_size}
    rating: Rating | None
    for version_id, name, rating in tx.exec(_select_bots(), params=which):
        rated = Rated(round(START), 0) if rating is None else Rated(round(rating.value), rating.matches)
        yield MatchBot(version_id, name, rated if tournament.rated else None)


@cache
def _select_bots() -> Any:
    in_pool = (
        col(Rating.version_id) == BotVersion.id,
        col(Rating.ruleset_id) == bindparam("ruleset"),
        col(Rating.table_size) == bindparam("size"),
    )
    return (
        select(BotVersion.id, BotVersion.name, Rating)
        .join(Seat, col(Seat.version_id) == BotVersion.id)
        .outerjoin(Rating, and_(*in_pool))
        .where(Seat.match_id == bindparam("match"))
        .order_by(col(Seat.position))
    )


def resumed(spec: MatchSpec, finished: Mapping[int, FinishedDeals]) -> MatchSpec:
    """Return a match whose sessions continue after their stored deals, as far as these can be read."""
    banked = spec.limits.bank_ms > 0
    sessions = [
        replace(session, after=finished[session.number].finished(spec.ruleset, banked=banked))
        if session.number in finished
        else session
        for session in spec.sessions
    ]
    return replace(spec, sessions=tuple(sessions))
