"""Changing and deleting tournaments that nobody can rely on yet: they are neither locked nor started."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete as delete_rows
from sqlmodel import col, select

from arena.actors import Actor
from arena.core.specs import TournamentChanges, TournamentFields, TournamentSpec
from arena.errors import SpecError, StateError
from arena.jsonvalues import to_json
from arena.people.audit import record
from arena.store.models import (
    BotVersion,
    Entrant,
    EntryInvitation,
    EntryRequest,
    StoredRuleset,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.admission import forget_requests, not_agreed
from arena.tournaments.creation import check_terms, require_future, terms_of
from arena.tournaments.lifecycle import lock_open
from arena.tournaments.overview import TournamentStatus, find_tournament, organised, status_of
from referee.ruleset import Ruleset

SETTLED: Mapping[str, str] = {
    "name": "cannot be changed: create another tournament, and delete this one",
    "entrants": "are not changed here: enter and withdraw bots, as their authors do",
}
"""Fields that stay as they are, and why."""


@dataclass(frozen=True, slots=True)
class Change:
    """A field that changes."""

    field: str
    before: object
    """The old value; of a ruleset its name and version."""
    after: object
    """The new value."""


def is_changeable(tournament: Tournament) -> bool:
    """Return whether its organiser can still change or delete a tournament."""
    return tournament.state == TournamentState.CREATED and tournament.commitment is None


def spec_of(storage: Storage, name: str) -> TournamentSpec:
    """Return the spec that a tournament has now, without its entrants. Raise UnknownError."""
    with storage.read() as tx:
        return _spec(tx, find_tournament(tx, name))


def _spec(tx: Transaction, tournament: Tournament) -> TournamentSpec:
    """Return the spec of a stored tournament, which was valid when it was stored."""
    fields = {field: getattr(tournament, field) for field in TournamentFields.model_fields}
    return TournamentSpec.model_construct(
        name=tournament.name,
        format=tournament.format,
        ruleset=tx.get_one(StoredRuleset, tournament.ruleset_id).content,
        **{**fields, "options": dict(tournament.options)},
    )


def change(
    storage: Storage, actor: Actor, name: str, changes: TournamentChanges, now: datetime
) -> TournamentStatus:
    """Change fields of a tournament; the others, and all who have entered, stay as they are.

    If it becomes rated, authors whose requests are not approved have to ask again. Raise NotAllowed,
    UnknownError, SpecError for fields that contradict others or do not suit those who have entered,
    StateError once it is locked or started.
    """
    with storage.write() as tx:
        tournament = _lock_waiting(tx, actor, name, now, "change")
        spec, ruleset, _ = as_changed(tx, actor, tournament, changes, now)
        made = compare(tx, tournament, spec, ruleset)
        if spec.rated and not tournament.rated:
            forget_requests(tx, tournament)
        for column, value in terms_of(tx, spec, ruleset, now).items():
            setattr(tournament, column, value)
        tournament.problem = None  # what kept it from starting by itself may be mended
        tx.add(tournament)
        tx.flush()
        if made:
            audited = {change.field: [to_json(change.before), to_json(change.after)] for change in made}
            record(tx, actor, "tournament.change", name, now, changes=audited)
        return status_of(tx, tournament)


def as_changed(
    tx: Transaction, actor: Actor, tournament: Tournament, changes: TournamentChanges, now: datetime
) -> tuple[TournamentSpec, Ruleset, list[BotVersion]]:
    """Return what a tournament would be with these changes, its ruleset and its entrants.

    Raise SpecError for fields that contradict others or do not suit those who have entered.
    """
    entered = _staying(tx, tournament)
    entrants = tuple(version.name for version in entered)
    before = _spec(tx, tournament).model_copy(update={"entrants": entrants})
    for field, why in SETTLED.items():
        if field in changes.model_fields_set and getattr(changes, field) != getattr(before, field):
            raise SpecError(field, why)
    spec = before.changed(changes)
    if spec.start_at != before.start_at:
        require_future(spec.start_at, now)
    if spec.rated and not tournament.rated and (foreign := not_agreed(tx, actor, spec.entrants)):
        raise SpecError("rated", f"must stay false: {', '.join(foreign)} entered for unrated play")
    return check_terms(spec, lambda: entered)


def compare(tx: Transaction, tournament: Tournament, spec: TournamentSpec, ruleset: Ruleset) -> list[Change]:
    """Return what making a tournament what ``as_changed`` returned would change."""
    before = _spec(tx, tournament)
    after = spec.model_copy(update={"ruleset": ruleset.to_object(), "entrants": before.entrants})
    labels = {"ruleset": (tx.get_one(StoredRuleset, tournament.ruleset_id).label, ruleset.label)}
    return [
        Change(field, *labels.get(field, (value, getattr(after, field))))
        for field, value in before
        if value != getattr(after, field)
    ]


def delete(storage: Storage, actor: Actor, name: str, now: datetime) -> None:
    """Delete a tournament with its entries, invitations and requests, which the audit log then has.

    Raise NotAllowed, UnknownError, StateError once it is locked or started.
    """
    with storage.write() as tx:
        tournament = _lock_waiting(tx, actor, name, now, "delete")
        invited = select(EntryInvitation.invited).where(EntryInvitation.tournament_id == tournament.id)
        requested = select(EntryRequest.bot).where(EntryRequest.tournament_id == tournament.id)
        gone = {
            "format": tournament.format,
            "entrants": [version.name for version in _staying(tx, tournament)],
            "invited": [*tx.exec(invited)],
            "requests": [*tx.exec(requested)],
        }
        record(tx, actor, "tournament.delete", name, now, **gone)
        for column in (EntryInvitation.tournament_id, EntryRequest.tournament_id, Entrant.tournament_id):
            its: Any = col(column)
            changed(tx, delete_rows(its.class_).where(its == tournament.id))
        tx.delete(tournament)


def _lock_waiting(tx: Transaction, actor: Actor, name: str, now: datetime, what: str) -> Tournament:
    """Return a tournament that its organiser can change, and that stays so until the transaction ends."""
    tournament = organised(tx, actor, find_tournament, name, what)
    lock_open(tx, tournament, now)
    if not is_changeable(tournament):
        state = "locked" if tournament.state == TournamentState.CREATED else tournament.state.value
        raise StateError(
            f"tournament {name} is {state}: only one that is not locked and not started can be {what}d"
        )
    return tournament


def _staying(tx: Transaction, tournament: Tournament) -> list[BotVersion]:
    """Return the entrants that have not withdrawn, in the order of seeding."""
    entered = select(BotVersion).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    stay = (Entrant.tournament_id == tournament.id, col(Entrant.withdrawn_after).is_(None))
    return [*tx.exec(entered.where(*stay).order_by(col(Entrant.number)))]
