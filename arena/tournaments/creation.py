"""Creating tournaments: they are checked as a whole and stored with their seed's hash, but not started.

Bots can enter until a tournament is locked, so creation refuses only what more of them cannot mend; whether
those who have entered can play it is checked when it is locked or started.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlmodel import select

from arena.actors import Actor, Role
from arena.bots.checks import require_checks
from arena.bots.versions import find_versions, token_problem
from arena.core.duplicate import session_deals
from arena.core.elo import match_weight
from arena.core.formats import FORMATS, Setup
from arena.core.specs import TournamentFields, TournamentSpec
from arena.errors import ArenaError, SpecError, StateError, TakenError, UnknownError
from arena.people.audit import record
from arena.store.models import BotVersion, Entrant, StoredRuleset, Tournament, TournamentState
from arena.store.storage import Storage, Transaction
from arena.tournaments.admission import check_owner_limit, invite_in, not_agreed
from arena.tournaments.overview import TournamentStatus, status_of
from referee.deals.shuffle import seed_hash
from referee.errors import Problem
from referee.reading.validation import first_of
from referee.ruleset import Ruleset, load_ruleset
from referee.ruleset.axes.scoring import most_points
from referee.ruleset.axes.session import most_deals

MOST_MATCH_POINTS = 2**31 - 1
"""The most points, up or down, of a seat in a match: the database has 32 bits for them."""


class Errors:
    """Collects errors: each ends its own ``with`` block, and the next block is tried."""

    def __init__(self) -> None:
        self._raised: list[ArenaError] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, SpecError | UnknownError | StateError):
            self._raised.append(error)
            return True
        return False

    @property
    def problems(self) -> list[Problem]:
        """All problems; bots that cannot play are a problem of the field ``entrants``."""
        problems = dict[Problem, None]()
        for error in self._raised:
            if isinstance(error, SpecError):
                problems |= dict.fromkeys(error.problems)
            else:
                reasons = error.reasons if isinstance(error, UnknownError) else [str(error)]
                problems |= {Problem("entrants", reason): None for reason in reasons}
        return [*problems]

    def raise_all(self) -> None:
        """Raise what was wrong: a single error as it was, or else one SpecError with all problems."""
        if len(self._raised) == 1:
            raise self._raised[0]
        if self._raised:
            raise SpecError.of(self.problems)


def create(
    storage: Storage, actor: Actor, spec: TournamentSpec, now: datetime, seed: bytes | None = None
) -> TournamentStatus:
    """Create a tournament, not yet started; ``seed`` is drawn if it is not given.

    If it is rated, other people's bots that are not open to the actor are invited instead of entered. Raise
    RulesetError, UnknownError for an unknown bot, SpecError for entrants that cannot play, TakenError,
    NotAllowed.
    """
    actor.require(Role.ORGANISER, "create tournaments")
    try:
        with storage.write() as tx:
            spec, invited = agreed_only(tx, actor, spec, now)
            tournament = create_in(tx, spec, now, seed, actor.account_id)
            record(tx, actor, "tournament.create", spec.name, now, format=spec.format)
            invite_in(tx, actor, tournament, invited, now)
            return status_of(tx, tournament)
    except IntegrityError:
        raise TakenError(f"{spec.name}: created by another request at the same moment; try again") from None


def agreed_only(
    tx: Transaction, actor: Actor, spec: TournamentSpec, now: datetime
) -> tuple[TournamentSpec, list[str]]:
    """Return a tournament without the entrants that the actor may not enter on its own, and those bots.

    Raise what ``create`` raises for them.
    """
    foreign = not_agreed(tx, actor, spec.entrants) if spec.rated else []
    if not foreign:
        return spec, []
    _find_entrants(tx, foreign, now)
    left = tuple(bot for bot in spec.entrants if bot not in {*foreign})
    bots = dict.fromkeys(bot.partition("@")[0] for bot in foreign)
    return spec.model_copy(update={"entrants": left}), [*bots]


def invited_text(bots: Sequence[str]) -> list[str]:
    """Return what to say about bots that are invited instead of entered: a line, or none."""
    if not bots:
        return []
    return [f"invited, not entered, as their authors decide about rated play: {', '.join(bots)}"]


def create_in(
    tx: Transaction,
    spec: TournamentSpec,
    now: datetime,
    seed: bytes | None = None,
    organiser_id: int | None = None,
) -> Tournament:
    """Create a tournament of an organiser as part of a transaction.

    Raise the same errors, and IntegrityError for a taken name.
    """
    spec, ruleset, versions = check_in(tx, spec, now)
    tournament = _add_tournament(tx, spec, ruleset, now, seed or secrets.token_bytes(32), organiser_id)
    tx.add_all(
        Entrant(tournament_id=tournament.id, version_id=version.id, number=number)
        for number, version in enumerate(versions, start=1)
    )
    tx.flush()
    return tournament


def check_in(
    tx: Transaction, spec: TournamentSpec, now: datetime
) -> tuple[TournamentSpec, Ruleset, list[BotVersion]]:
    """Return what would be created, its ruleset, and its entrants in the order of seeding, without writing.

    Raise the same errors.
    """
    if tx.exec(select(Tournament.id).where(Tournament.name == spec.name)).first():
        raise TakenError(f"tournament {spec.name} already exists")
    require_future(spec.start_at, now)
    return check_terms(spec, lambda: _find_entrants(tx, spec.entrants, now))


def require_future(start_at: datetime | None, now: datetime) -> None:
    """Raise SpecError for a start in the past."""
    if start_at is not None and start_at <= now:
        raise SpecError("start_at", f"is in the past: {start_at:%Y-%m-%d %H:%M} UTC")


def check_terms(
    spec: TournamentSpec, find: Callable[[], list[BotVersion]]
) -> tuple[TournamentSpec, Ruleset, list[BotVersion]]:
    """Return what would be stored, its ruleset and its entrants, which ``find`` returns.

    Raise RulesetError, SpecError, and what ``find`` raises.
    """
    ruleset = load_ruleset(spec.ruleset)
    errors = Errors()
    versions = list[BotVersion]()
    with errors:
        if spec.duplicate:
            spec = spec.model_copy(update={"deals": session_deals(ruleset, spec.deals)})
        _check_points(spec, ruleset)
    with errors:
        versions = find()
    format, setup = FORMATS[spec.format], Setup(ruleset.players, spec.rounds, spec.options)
    with errors:
        format.check(setup, len(spec.entrants), more=True)
    with errors:
        if not spec.allow_same_owner and not errors.problems:
            format.check_owners(setup, [version.name for version in versions], more=True)
    with errors:
        check_owner_limit([version.name for version in versions], spec.owner_limit)
    with errors:
        if spec.require_check:
            require_checks(versions)
    errors.raise_all()
    return spec, ruleset, versions


def require_ready(terms: Tournament | TournamentSpec, size: int, bots: Sequence[str]) -> None:
    """Raise SpecError for all that keeps a tournament of these bots, in the order of seeding, from a start.

    ``size`` is that of its tables.
    """
    format, setup = FORMATS[terms.format], Setup(size, terms.rounds, terms.options)
    check_count(size, len(bots))
    errors = Errors()
    with errors:
        format.check(setup, len(bots))
    with errors:
        if not terms.allow_same_owner:
            format.check_owners(setup, bots)
    with errors:
        check_owner_limit(bots, terms.owner_limit)
    errors.raise_all()


def check_count(size: int, entrants: int) -> None:
    """Raise SpecError if the entrants of a tournament are too few for a table of ``size``."""
    if entrants < size:
        more = size - entrants
        raise SpecError(
            "entrants", f"a table needs at least {size}, has {entrants}; add {more} before the start"
        )


def _check_points(spec: TournamentSpec, ruleset: Ruleset) -> None:
    deals = spec.sessions * most_deals(ruleset, spec.deals or 0)
    most = deals * most_points(ruleset)
    if most > MOST_MATCH_POINTS:
        text = (
            f"a match of {deals} deals could come to {most} points, and its totals hold {MOST_MATCH_POINTS}"
        )
        raise SpecError("sessions", text)


def problems_of_entrants(storage: Storage, names: Sequence[str], now: datetime) -> Sequence[Problem]:
    """Return what is wrong with these entrants, whatever the tournament may be."""
    errors = Errors()
    with storage.read() as tx, errors:
        _find_entrants(tx, list(dict.fromkeys(names)), now)
    return errors.problems


def _find_entrants(tx: Transaction, names: Sequence[str], now: datetime) -> list[BotVersion]:
    """Return the versions of these names.

    Raise SpecError for all that have no valid token or are listed twice, and UnknownError and StateError as
    ``find_versions`` does.
    """
    try:
        versions = find_versions(tx, names, now)
    except SpecError as error:
        raise SpecError("entrants", error.reason) from None
    reasons = [
        f"the token of {version.name} {problem}"
        for version in versions
        if (problem := token_problem(version, now))
    ]
    counts = Counter(version.name for version in versions)
    reasons += [f"{name} is listed {_times(count)}" for name, count in counts.items() if count > 1]
    if reasons:
        raise SpecError.of(first_of(reasons, lambda reason: [Problem("entrants", reason)]))
    return versions


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _add_tournament(
    tx: Transaction,
    spec: TournamentSpec,
    ruleset: Ruleset,
    now: datetime,
    seed: bytes,
    organiser_id: int | None,
) -> Tournament:
    tournament = Tournament(
        name=spec.name,
        state=TournamentState.CREATED,
        **terms_of(tx, spec, ruleset, now),
        seed=seed.hex(),
        seed_hash=seed_hash(seed),
        organiser_id=organiser_id,
        created_at=now,
    )
    tx.add(tournament)
    tx.flush()
    return tournament


def terms_of(tx: Transaction, spec: TournamentSpec, ruleset: Ruleset, now: datetime) -> dict[str, Any]:
    """Return the columns of a tournament that follow from its spec; its ruleset is stored if it is new."""
    return {
        "format": spec.format,
        "ruleset_id": _stored(tx, ruleset, now).id,
        "table_size": ruleset.players,
        "match_weight": match_weight(spec.sessions, most_deals(ruleset, spec.deals or 0)),
        **{name: getattr(spec, name) for name in TournamentFields.model_fields},
    }


def _stored(tx: Transaction, ruleset: Ruleset, now: datetime) -> StoredRuleset:
    stored = tx.exec(select(StoredRuleset).where(StoredRuleset.hash == ruleset.hash)).first()
    if stored is None:
        stored = StoredRuleset(
            name=ruleset.name,
            version=ruleset.version,
            hash=ruleset.hash,
            players=ruleset.players,
            content=ruleset.to_object(),
            created_at=now,
        )
        tx.add(stored)
        tx.flush()
    return stored
