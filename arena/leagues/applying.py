"""What applying a league file changes, and the change itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeGuard

from sqlalchemy.exc import IntegrityError
from sqlmodel import func, select

from arena.actors import Actor, Role
from arena.errors import SpecError, TakenError
from arena.leagues.membership import active_members
from arena.leagues.spec import LeagueSpec, make_league
from arena.people.audit import record
from arena.store.models import League, Season
from arena.store.storage import Storage, Transaction
from arena.tournaments.admission import forget_requests, not_agreed


@dataclass(frozen=True, slots=True)
class Change:
    """A field that would change."""

    field: str
    """Its path, as ``divisions.first.size``."""
    before: object
    """The old value; None if there was none."""
    after: object
    """The new value; None if there will be none."""


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> list[Change]:
    """Return the differences between two leagues as objects; tables in a list are matched by name."""
    old, new = dict(_flat("", before)), dict(_flat("", after))
    return [
        Change(field, old.get(field), new.get(field))
        for field in [*new, *(field for field in old if field not in new)]
        if old.get(field) != new.get(field)
    ]


def _flat(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)
    elif _is_tables(value):
        yield prefix, [table["name"] for table in value]
        for table in value:
            rest = {key: inner for key, inner in table.items() if key != "name"}
            yield from _flat(f"{prefix}.{table['name']}", rest)
    elif value is not None:
        yield prefix, value


def _is_tables(value: object) -> TypeGuard[Sequence[Mapping[str, object]]]:
    return isinstance(value, list) and all(isinstance(table, Mapping) and "name" in table for table in value)


SCHEDULE = ("start", "zone", "interval_hours", "seasons")
"""Fields that say when seasons start."""


def compare(storage: Storage, actor: Actor, spec: LeagueSpec) -> list[Change]:
    """Return what applying ``spec`` would change; empty if nothing would. Raise as ``apply``."""
    actor.require(Role.ORGANISER, "preview changes of leagues")
    with storage.read() as tx:
        league = tx.exec(select(League).where(League.name == spec.name)).first()
        if league is not None:
            actor.require_organiser(league.organiser_id, f"preview changes of league {spec.name}")
            if _becomes_rated(league, spec):
                _require_agreed(tx, actor, league)
        return changes(league.spec if league else {}, spec.to_object())


def apply(storage: Storage, actor: Actor, spec: LeagueSpec, now: datetime) -> list[Change]:
    """Make the league what ``spec`` says, from its next season on; return what that changed.

    If it becomes rated, authors whose requests are not approved have to ask again. Raise NotAllowed,
    TakenError, SpecError if members have not agreed to what is changed.
    """
    actor.require(Role.ORGANISER, "change leagues")
    try:
        with storage.write() as tx:
            # Locked, so that no season starts between what is read here and what is written.
            league = tx.exec(select(League).where(League.name == spec.name).with_for_update()).first()
            if league is None:
                league = League(
                    name=spec.name, spec={}, organiser_id=actor.account_id, created_at=now, applied_at=now
                )
                tx.add(league)
            else:
                actor.require_organiser(league.organiser_id, f"change league {spec.name}")
                if _becomes_rated(league, spec):
                    _require_agreed(tx, actor, league)
                    forget_requests(tx, league)
            made = changes(league.spec, spec.to_object())
            if made:
                league.spec, league.applied_at = spec.to_object(), now
            if any(change.field in SCHEDULE for change in made):
                league.next_at, league.problem = _due(tx, league, spec, now), None
            if made:
                fields = [change.field for change in made]
                record(tx, actor, "league.apply", spec.name, now, fields=fields)
            return made
    except IntegrityError:
        raise TakenError(f"{spec.name}: applied by another request at the same time; try again") from None


def _becomes_rated(league: League, spec: LeagueSpec) -> bool:
    return spec.rated and not make_league(league.spec).rated


def _require_agreed(tx: Transaction, actor: Actor, league: League) -> None:
    """Raise SpecError if other people's bots have joined a league, which was unrated then."""
    if foreign := not_agreed(tx, actor, [member.name for member in active_members(tx, league)]):
        raise SpecError("tournament.rated", f"must stay false: {', '.join(foreign)} joined for unrated play")


def _due(tx: Transaction, league: League, spec: LeagueSpec, now: datetime) -> datetime | None:
    """Return when the next season is due: ``now`` at the earliest, and after the one that started last."""
    if spec.seasons is not None and league.seasons >= spec.seasons:
        return None
    before = select(func.max(Season.due_at)).where(Season.league_id == league.id)
    started = tx.exec(before).one() if league.seasons else None
    earliest = now - timedelta(microseconds=1)
    # A clock that was ahead may have started a season: that does not put off the next one.
    return spec.next_start(min(max(earliest, started or earliest), now))
