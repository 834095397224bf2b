"""New cards for sessions that are played again after a backup was restored.

With the backup, the seeds of deals come back whose cards have been seen since it was made. Therefore the
numbers of attempts at sessions, which are part of the deals' seeds, continue above any earlier number.
"""

import secrets
from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import update
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.audit import record
from arena.events import note
from arena.exports.parts import RESTORED_ABOVE
from arena.matches.attempts import note_void
from arena.models import Match, MatchState, Session, Tournament
from arena.storage import Storage, Transaction, changed
from arena.tournaments.overview import ENDED
from referee.deals.shuffle import seed_hash


def deal_anew(storage: Storage, actor: Actor, now: datetime) -> list[str]:
    """Make sure that everything still to be played gets new cards; return the names of those tournaments.

    Tournaments that are not locked yet get a new seed. In the others, attempts that were running are void,
    and the next ones are numbered from the Unix time in seconds; an event in the tournament's chain says so.
    """
    actor.require(Role.OPERATOR, "restore an arena")
    open_ones = select(Tournament).where(col(Tournament.state).not_in(ENDED)).order_by(col(Tournament.id))
    with storage.write() as tx:
        found = tx.exec(open_ones).all()
        for tournament in found:
            if tournament.commitment is None:
                seed = secrets.token_bytes(32)
                tournament.seed, tournament.seed_hash = seed.hex(), seed_hash(seed)
            else:
                _give_back(tx, tournament, now)
                above = max(int(now.timestamp()), RESTORED_ABOVE, tournament.attempts_above + 1)
                tournament.attempts_above = above
                note(tx, tournament, "restored", now, attempts_above=above)
            record(tx, actor, "tournament.restore", tournament.name, now)
        return [tournament.name for tournament in found if not tournament.test]


def _give_back(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Take back the matches that workers had when the backup was made."""
    running = (col(Match.tournament_id) == tournament.id, col(Match.state) == MatchState.RUNNING)
    for match in tx.exec(select(Match).where(*running).order_by(col(Match.id))):
        note_void(tx, match, dict(_unfinished(tx, match)), now)
    free = {"state": MatchState.WAITING, "lease_owner": None, "lease_until": None, "handed_out_at": None}
    changed(tx, update(Match).where(*running).values(free))


def _unfinished(tx: Transaction, match: Match) -> Iterator[tuple[int, int]]:
    """Yield the sessions of a running match that are not stored, and the attempts at them."""
    stored = set(tx.exec(select(Session.number).where(Session.match_id == match.id)))
    for number, attempt in enumerate(match.attempts, start=1):
        if number not in stored:
            yield number, attempt
