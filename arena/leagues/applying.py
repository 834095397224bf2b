"""What applying a league file changes, and the change itself."""

from datetime import datetime, timedelta

from sqlalchemy.exc import IntegrityError
from sqlmodel import func, select

from arena.actors import Actor, Role
from arena.errors import TakenError
from arena.leagues.changes import Change, changes
from arena.leagues.schedule import next_start
from arena.leagues.spec import LeagueSpec
from arena.people.audit import record
from arena.store.models import League, Season
from arena.store.storage import Storage, Transaction

SCHEDULE = ("start", "interval_hours", "seasons")
"""Fields that say when seasons start."""


def compare(storage: Storage, actor: Actor, spec: LeagueSpec) -> list[Change]:
    """Return what applying ``spec`` would change; empty if nothing would. Raise NotAllowed."""
    actor.require(Role.ORGANISER, "preview changes of leagues")
    with storage.read() as tx:
        found = tx.exec(select(League).where(League.name == spec.name)).first()
        return changes(found.spec if found else {}, spec.to_object())


def apply(storage: Storage, actor: Actor, spec: LeagueSpec, now: datetime) -> list[Change]:
    """Make the league what ``spec`` says, from its next season on; return what that changed."""
    actor.require(Role.ORGANISER, "change leagues")
    try:
        with storage.write() as tx:
            # Locked, so that no season starts between what is read here and what is written.
            found = tx.exec(select(League).where(League.name == spec.name).with_for_update()).first()
            if found is None:
                found = League(
                    name=spec.name, spec={}, organiser_id=actor.account_id, created_at=now, applied_at=now
                )
                tx.add(found)
            else:
                actor.require_organiser(found.organiser_id, f"change league {spec.name}")
            made = changes(found.spec, spec.to_object())
            if made:
                found.spec, found.applied_at = spec.to_object(), now
            if any(change.field in SCHEDULE for change in made):
                found.next_at, found.problem = _due(tx, found, spec, now), None
            if made:
                fields = [change.field for change in made]
                record(tx, actor, "league.apply", spec.name, now, fields=fields)
            return made
    except IntegrityError:
        raise TakenError(f"{spec.name}: somebody else applied it at the same time; try again") from None


def _due(tx: Transaction, league: League, spec: LeagueSpec, now: datetime) -> datetime | None:
    """Return when the next season is due: ``now`` at the earliest, and after the one that started last."""
    if spec.seasons is not None and league.seasons >= spec.seasons:
        return None
    before = select(func.max(Season.due_at)).where(Season.league_id == league.id)
    started = tx.exec(before).one() if league.seasons else None
    earliest = now - timedelta(microseconds=1)
    return next_start(spec.start, spec.interval, max(earliest, started or earliest))
