"""A tournament's head: all that is settled before its first round, and the digest that commits to it."""

from datetime import datetime

from sqlmodel import col, select

from arena.core.formats import PAIRING_VERSION
from arena.core.pairing import owner_of
from arena.core.parts import HeadPart, make_part
from arena.core.specs import Entry, Plan
from arena.store.models import Entrant, StoredRuleset, Tournament, TournamentHead
from arena.store.storage import Transaction
from arena.tournaments.entrants import list_entrants
from arena.tournaments.events import decision_key, known_keys, note


def lock_head(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Settle the head of a tournament that has none yet; its digest is the commitment from now on.

    If the database went back to a state before that, the first event says so: it may have been locked before.
    """
    if tournament.commitment is not None:
        return
    head = head_of(tx, tournament, max(now, tournament.created_at))
    tx.add(TournamentHead(tournament_id=tournament.id, head=head))
    tournament.commitment = str(head["digest"])
    tx.flush()
    if tournament.attempts_above:
        note(tx, tournament, "restored", now, attempts_above=tournament.attempts_above)


def head_of(tx: Transaction, tournament: Tournament, now: datetime | None) -> dict[str, object]:
    """Return the head as it was locked, or as it would be if locked ``now``; None gives it no time."""
    locked = tx.get(TournamentHead, tournament.id)
    if locked is not None:
        return locked.head
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    gone = select(Entrant.number).where(
        Entrant.tournament_id == tournament.id, col(Entrant.withdrawn_after).is_not(None)
    )
    withdrawn = set(tx.exec(gone))
    return make_part(
        HeadPart,
        tournament=tournament.name,
        ruleset=ruleset.content,
        ruleset_hash=ruleset.hash,
        pairing=tournament.format,
        pairing_version=PAIRING_VERSION,
        table_size=tournament.table_size,
        **{name: getattr(tournament, name) for name in (*Plan.model_fields, *Entry.model_fields)},
        limits=tournament.limits.model_dump(),
        entrants=[
            {
                "number": entrant.number,
                "bot": entrant.name,
                "owner": owner_of(entrant.name),
                "withdrawn": entrant.number in withdrawn,
            }
            for entrant in list_entrants(tx, tournament)
        ],
        referees=known_keys(tx),
        decision_key=decision_key(tx),
        seed_hash=tournament.seed_hash,
        locked_at=None if now is None else now.isoformat(),
    )
