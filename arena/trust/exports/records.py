"""The deal records of a tournament alone, as JSON lines."""

import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy.exc import NoResultFound
from sqlmodel import col, select

from arena.core.digests import json_line
from arena.errors import StateError
from arena.store.models import Match, Round, Tournament
from arena.store.records import full_records, may_be_shown, names_and_points, sessions_of
from arena.store.storage import Storage, Transaction
from arena.tournaments.overview import find_tournament
from referee.plain import plain_line

LONGEST_REASON = 100
"""The most characters of what damaged rows led to."""


@contextmanager
def naming_damage(name: str) -> Iterator[None]:
    """Raise StateError for rows of a tournament that do not belong together, or hold what they never should.

    Only somebody who changed the database by hand, or a damaged disk, leaves such rows.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, NoResultFound, zlib.error) as error:
        reason = plain_line(f"{type(error).__name__}: {error}", LONGEST_REASON)
        raise StateError(
            f"tournament {name} cannot be exported: its rows in the database are damaged ({reason})"
        ) from error


def export_records(storage: Storage, name: str) -> Generator[str]:
    """Yield the deal records of a tournament as JSON lines, by round, table, session and deal.

    For a duplicate tournament that has not ended, only those of closed rounds: the deals of an open one are
    still to be played at other tables. Raise UnknownError if there is no such tournament.
    """
    with storage.read() as tx, naming_damage(name):
        tournament = find_tournament(tx, name)
        for round in shown_rounds(tx, tournament):
            for match in _matches(tx, round):
                names, _ = names_and_points(tx, match)
                for session in sessions_of(tx, match):
                    for record in full_records(tx, tournament, round.number, match, session, names):
                        yield json_line(record)
                    tx.expunge(session)


def _matches(tx: Transaction, round: Round) -> Sequence[Match]:
    return tx.exec(select(Match).where(Match.round_id == round.id).order_by(col(Match.table_number))).all()


def shown_rounds(tx: Transaction, tournament: Tournament) -> Sequence[Round]:
    """Return the rounds whose deals may be shown, in order."""
    opened = select(Round).join(Tournament, col(Tournament.id) == Round.tournament_id)
    opened = opened.where(Round.tournament_id == tournament.id, col(Round.started_at).is_not(None))
    return tx.exec(opened.where(may_be_shown()).order_by(col(Round.number))).all()
