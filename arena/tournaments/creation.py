"""Tournaments are created: checked as a whole, stored with their seed's hash, not yet started."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlmodel import select

from arena.actors import Actor, Role
from arena.audit import record
from arena.bots.checks import require_checks
from arena.bots.versions import find_versions, token_problem
from arena.errors import SpecError, TakenError
from arena.formats import FORMATS, Setup
from arena.matches.duplicate import session_deals
from arena.models import BotVersion, Entrant, StoredRuleset, Tournament, TournamentState
from arena.ratings.elo import match_weight
from arena.specs import TournamentSpec
from arena.storage import Storage, Transaction
from arena.terms import Terms
from arena.tournaments.overview import TournamentStatus, status_of
from referee.deals.shuffle import seed_hash
from referee.ruleset import Ruleset, load_ruleset
from referee.ruleset.limits import most_deals, most_points

MOST_MATCH_POINTS = 2**31 - 1
"""What a seat's points in a match may come to, up or down: the database has 32 bits for them."""


def create(
    storage: Storage, actor: Actor, spec: TournamentSpec, now: datetime, seed: bytes | None = None
) -> TournamentStatus:
    """Create a tournament, not yet started; ``seed`` is drawn if it is not given.

    Raise RulesetError, UnknownError for an unknown bot, SpecError for entrants that cannot play, TakenError,
    NotAllowed.
    """
    actor.require(Role.ORGANISER, "create tournaments")
    try:
        with storage.write() as tx:
            tournament = create_in(tx, spec, now, seed)
            record(tx, actor, "tournament.create", spec.name, now, format=spec.format)
            return status_of(tx, tournament)
    except IntegrityError:
        raise TakenError(
            f"{spec.name}: somebody else created the same at the same moment; try again"
        ) from None


def create_in(tx: Transaction, spec: TournamentSpec, now: datetime, seed: bytes | None = None) -> Tournament:
    """Create a tournament as part of a transaction; the same errors, and IntegrityError for a taken name."""
    ruleset = load_ruleset(spec.ruleset)
    if spec.duplicate:
        spec = spec.model_copy(update={"deals": session_deals(ruleset, spec.deals)})
    _check_points(spec, ruleset)
    if tx.exec(select(Tournament.id).where(Tournament.name == spec.name)).first():
        raise TakenError(f"there already is a tournament {spec.name}")
    versions = find_versions(tx, spec.entrants, now)
    _check_entrants(versions, ruleset, now)
    format, setup = FORMATS[spec.format], Setup(ruleset.players, spec.rounds, spec.options)
    format.check(setup, len(versions))
    if not spec.allow_same_owner:
        format.check_owners(setup, [version.name for version in versions])
    if spec.require_check:
        require_checks(versions)
    tournament = _add_tournament(tx, spec, ruleset, now, seed or secrets.token_bytes(32))
    tx.add_all(
        Entrant(tournament_id=tournament.id, version_id=version.id, number=number)
        for number, version in enumerate(versions, start=1)
    )
    tx.flush()
    return tournament


def _check_points(spec: TournamentSpec, ruleset: Ruleset) -> None:
    deals = spec.sessions * most_deals(ruleset, spec.deals or 0)
    most = deals * most_points(ruleset)
    if most > MOST_MATCH_POINTS:
        text = (
            f"a match of {deals} deals could come to {most} points, and its totals hold {MOST_MATCH_POINTS}"
        )
        raise SpecError("sessions", text)


def _check_entrants(versions: Sequence[BotVersion], ruleset: Ruleset, now: datetime) -> None:
    seen: set[str] = set()
    for version in versions:
        if wrong := token_problem(version, now):
            raise SpecError("entrants", f"the token of {version.name} {wrong}")
        if version.name in seen:
            raise SpecError("entrants", f"{version.name} is listed twice")
        seen.add(version.name)
    if len(versions) < ruleset.players:
        needed = f"{ruleset.label} needs {ruleset.players} at a table"
        raise SpecError("entrants", f"too few: {needed}, and there are {len(versions)}")


def _add_tournament(
    tx: Transaction, spec: TournamentSpec, ruleset: Ruleset, now: datetime, seed: bytes
) -> Tournament:
    tournament = Tournament(
        name=spec.name,
        format=spec.format,
        state=TournamentState.CREATED,
        ruleset_id=_stored(tx, ruleset, now).id,
        table_size=ruleset.players,
        match_weight=match_weight(spec.sessions, most_deals(ruleset, spec.deals or 0)),
        **{name: getattr(spec, name) for name in Terms.model_fields},
        seed=seed.hex(),
        seed_hash=seed_hash(seed),
        created_at=now,
    )
    tx.add(tournament)
    tx.flush()
    return tournament


def _stored(tx: Transaction, ruleset: Ruleset, now: datetime) -> StoredRuleset:
    found = tx.exec(select(StoredRuleset).where(StoredRuleset.hash == ruleset.hash)).first()
    if found is None:
        found = StoredRuleset(
            name=ruleset.name,
            version=ruleset.version,
            hash=ruleset.hash,
            players=ruleset.players,
            content=ruleset.to_object(),
            created_at=now,
        )
        tx.add(found)
        tx.flush()
    return found
