"""What a referee is asked to play: a match's sessions, bots, seeds and limits."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import String, and_, bindparam, cast
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.core.elo import START
from arena.core.seating import seatings
from arena.play.matches.attempts import FinishedDeals
from arena.store.models import BotVersion, Match, Rating, Round, Seat, StoredRuleset, Tournament
from arena.store.storage import Transaction
from referee.deals.shuffle import luck, session_seed
from referee.matches.match import Limits, MatchBot, MatchSpec, Rated, SessionSpec

MATCH = (
    col(Match.id),
    col(Match.tournament_id),
    col(Match.round_id),
    col(Match.table_number),
    col(Match.attempts),
    col(Match.failures),
    col(Match.sessions_done),
)
"""The columns of a match that those need who play it."""

LIMITS = tuple(Limits.model_fields)


def terms_of(tx: Transaction, round_id: int) -> Any:
    """Return what the matches of a round have in common, as a row with the columns of ``_select_terms``."""
    return tx.connection().execute(_select_terms(), {"round": round_id}).one()


@cache
def _select_terms() -> Any:
    return (
        select_columns(
            col(Tournament.name),
            col(Tournament.format),
            col(Tournament.sessions),
            col(Tournament.attempts_above),
            col(Tournament.ruleset_id),
            col(Tournament.table_size),
            col(Tournament.seed),
            col(Tournament.beacon_value),
            col(Tournament.commitment),
            col(Tournament.duplicate),
            col(Tournament.rated),
            col(Tournament.deals),
            *(col(getattr(Tournament, name)) for name in LIMITS),
            cast(col(StoredRuleset.content), String).label("ruleset"),
            col(StoredRuleset.name).label("ruleset_name"),
            col(StoredRuleset.version),
            col(Round.number).label("round"),
        )
        .join(Tournament, col(Tournament.id) == col(Round.tournament_id))
        .join(StoredRuleset, col(StoredRuleset.id) == col(Tournament.ruleset_id))
        .where(col(Round.id) == bindparam("round"))
    )


@lru_cache(maxsize=32)
def _read_ruleset(content: str) -> Mapping[str, object]:
    """Return a ruleset from its text; nobody changes it."""
    ruleset: Mapping[str, object] = json.loads(content)
    return ruleset


def match_spec(
    tx: Transaction, match: Any, terms: Any, attempts: Sequence[int], missing: Collection[int]
) -> MatchSpec:
    """Return the order to a referee to play the ``missing`` sessions of a match, given as a row of ``MATCH``.

    ``attempts`` has the attempt at each of its sessions.
    """
    number = terms.round
    seed = luck(bytes.fromhex(terms.seed), terms.beacon_value)
    table = None if terms.duplicate else match.table_number  # None: all tables play the same deals
    seats = seatings(terms.table_size, terms.sessions, duplicate=terms.duplicate)
    label = f"{terms.ruleset_name}@{terms.version}"
    return MatchSpec(
        match_id=f"{terms.name}/{number}/{match.table_number}",
        tournament=terms.name,
        round=number,
        table=match.table_number,
        ruleset=_read_ruleset(terms.ruleset),
        bots=tuple(_bots(tx, match.id, terms)),
        sessions=tuple(
            SessionSpec(
                session,
                seating,
                session_seed(seed, number, table, session),
                attempts[session - 1],
            )
            for session, seating in enumerate(seats, start=1)
            if session in missing
        ),
        deals=terms.deals or 0,
        commitment=terms.commitment or "",  # there is one as soon as there are matches
        limits=Limits(**{name: getattr(terms, name) for name in LIMITS}),
        shared_deals=terms.duplicate and _has_other_tables(tx, match),
        pool=f"{label}, tables of {terms.table_size}" if terms.rated else "",
    )


def _has_other_tables(tx: Transaction, match: Any) -> bool:
    """Return whether others play at the same time, in the same round."""
    others = select(Match.id).where(Match.round_id == match.round_id, Match.id != match.id).limit(1)
    return tx.exec(others).first() is not None


def _bots(tx: Transaction, match_id: int, terms: Any) -> Iterator[MatchBot]:
    """Yield the bots of a match by position, with their ratings if it is rated."""
    which = {"match": match_id, "ruleset": terms.ruleset_id, "size": terms.table_size}
    for version_id, name, value, matches in tx.connection().execute(_select_bots(), which):
        rated = Rated(round(START), 0) if value is None else Rated(round(value), matches)
        yield MatchBot(version_id, name, rated if terms.rated else None)


@cache
def _select_bots() -> Any:
    in_pool = (
        col(Rating.version_id) == BotVersion.id,
        col(Rating.ruleset_id) == bindparam("ruleset"),
        col(Rating.table_size) == bindparam("size"),
    )
    return (
        select(BotVersion.id, BotVersion.name, Rating.value, Rating.matches)
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
