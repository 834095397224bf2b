"""New cards for what is played again after the database went back to an earlier state.

It may have been restored from a backup, or a standby took over that lacked the last commits. With the earlier
state, the seeds of deals come back whose cards have been seen since. Therefore the numbers of attempts at
sessions, which are part of the deals' seeds, continue above any earlier number.
"""

import logging
import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlalchemy import update
from sqlmodel import col, select

from arena.core.parts import RESTORED_ABOVE
from arena.play.matches.attempts import note_lineage, note_void
from arena.play.matches.leases import Claim
from arena.store.models import Match, MatchState, Session, Tournament
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.events import note
from arena.tournaments.overview import ENDED
from referee.deals.shuffle import seed_hash
from referee.errors import AttemptsBegun

log = logging.getLogger("arena.play.matches")


def deal_anew(tx: Transaction, now: datetime, latest: int = 0) -> Sequence[Tournament]:
    """Make sure that all that is still to be played gets new cards; return the tournaments that go on.

    Those that are not locked yet get a new seed. In the others, attempts that were running are void. The next
    attempts in all of them are numbered from the Unix time in seconds, or above ``latest`` if that is higher;
    an event in each tournament's chain says so.
    """
    note_lineage(tx)
    open_ones = select(Tournament).where(col(Tournament.state).not_in(ENDED))
    tournaments = tx.exec(open_ones.order_by(col(Tournament.id)).with_for_update(key_share=True)).all()
    for tournament in tournaments:
        above = max(int(now.timestamp()), RESTORED_ABOVE, latest, tournament.attempts_above + 1)
        if tournament.commitment is None:
            seed = secrets.token_bytes(32)
            tournament.seed, tournament.seed_hash = seed.hex(), seed_hash(seed)
        else:
            _give_back(tx, tournament, now)
            note(tx, tournament, "restored", now, attempts_above=above)
        tournament.attempts_above = above
    return tournaments


def deal_anew_if_changed(storage: Storage, now: datetime) -> None:
    """Deal anew if the database has another history than it had, unless another worker was faster."""
    with storage.write() as tx:
        if note_lineage(tx):
            log.error("the database was restored or failed over: what is unfinished gets new cards")
            deal_anew(tx, now)


def deal_anew_after(storage: Storage, claimed: Claim, now: datetime, begun: AttemptsBegun) -> None:
    """Deal anew because a referee has begun attempts that the database does not know.

    Do nothing if the match is no longer this attempt's: another worker may have done so.
    """
    mine = col(Match.id) == claimed.match_id, col(Match.lease_owner) == claimed.owner
    with storage.write() as tx:
        note_lineage(tx)  # one at a time
        if tx.exec(select(Match.id).where(*mine)).first() is not None:
            log.error(
                "%s: %s, of which the database knows nothing; it went back to an earlier state, and what is "
                "unfinished gets new cards",
                claimed.spec.match_id,
                begun,
            )
            deal_anew(tx, now, begun.latest)


def _give_back(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Take back the matches that workers have, or had in the earlier state.

    Matches that wait are locked, too: if a worker claims one at the same time, it comes before or after.
    """
    due = (MatchState.WAITING, MatchState.RUNNING)
    of_it = (col(Match.tournament_id) == tournament.id, col(Match.state).in_(due))
    for match in tx.exec(select(Match).where(*of_it).order_by(col(Match.id)).with_for_update(key_share=True)):
        if match.state == MatchState.RUNNING:
            note_void(tx, match, dict(_unfinished(tx, match)), now)
    free = {"state": MatchState.WAITING, "lease_owner": None, "lease_until": None, "handed_out_at": None}
    changed(tx, update(Match).where(*of_it).values(free))


def _unfinished(tx: Transaction, match: Match) -> Iterator[tuple[int, int]]:
    """Yield the sessions of a running match that are not stored, and the attempts at them."""
    stored = set(tx.exec(select(Session.number).where(Session.match_id == match.id)))
    for number, attempt in enumerate(match.attempts, start=1):
        if number not in stored:
            yield number, attempt
