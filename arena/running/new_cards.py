"""New cards for sessions that are played again after an operator restored a backup."""

from datetime import datetime

from arena.actors import Actor, Role
from arena.people.audit import record
from arena.play.matches import new_cards
from arena.store.storage import Storage


def deal_anew(storage: Storage, actor: Actor, now: datetime) -> list[str]:
    """Make sure that everything still to be played gets new cards; return the names of those tournaments."""
    actor.require(Role.OPERATOR, "restore an arena")
    with storage.write() as tx:
        found = new_cards.deal_anew(tx, now)
        for tournament in found:
            record(tx, actor, "tournament.restore", tournament.name, now)
        return [tournament.name for tournament in found if not tournament.test]
