"""Tournaments from their creation to their end, as organisers command them and see them."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, func, select

from arena.bots.checks import require_checks
from arena.bots.versions import WITHOUT_REPORT, find_versions
from arena.errors import SpecError, StateError, TakenError, UnknownError
from arena.matches.duplicate import session_deals
from arena.models import (
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Round,
    RoundState,
    StoredRuleset,
    Tournament,
    TournamentState,
)
from arena.pairing import check_options, check_owners
from arena.specs import TournamentSpec
from arena.storage import Storage, Transaction, changed
from referee.deals.shuffle import commitment
from referee.ruleset import Ruleset, load_ruleset
from referee.ruleset.limits import most_deals, most_points

PROBLEMS_SHOWN = 20
"""Matches whose troubles a status lists at most."""

ENDED = (TournamentState.FINISHED, TournamentState.CANCELLED)


@dataclass(frozen=True, slots=True)
class TournamentStatus:
    """A tournament as it is shown."""

    id: int
    name: str
    format: str
    state: TournamentState
    problem: str | None
    """Why it failed; None: it has not."""
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    entrants: int
    """Number of entrants."""
    rounds: int | None
    """Rounds in all; None: not known before the round-robin is paired."""
    sessions: int
    """Sessions in a match."""
    deals: int | None
    """Deals in a session; None: as the ruleset says."""
    commitment: str
    """SHA-256 of the seed."""
    seed: str | None
    """The seed in hexadecimal; None: secret until the tournament has ended."""
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    """When it finished or was cancelled; None: not yet."""
    round: int
    """The latest round that was opened; 0: none yet."""
    matches_done: int
    matches_running: int
    matches_total: int
    """Matches of all rounds paired so far."""
    sessions_done: int
    sessions_total: int
    """Sessions of all rounds paired so far."""
    waiting: tuple[str, ...]
    """A line for each match that something keeps from being played."""
    leased_until: datetime | None
    """Until when a worker has one of its matches, if it gives no further sign of life; None: none has."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED


MOST_MATCH_POINTS = 2**31 - 1
"""What a seat's points in a match may come to, up or down: the database has 32 bits for them."""


def create(
    storage: Storage, spec: TournamentSpec, now: datetime, seed: bytes | None = None
) -> TournamentStatus:
    """Create a tournament, not yet started; ``seed`` is drawn if it is not given.

    Raises RulesetError, UnknownError for an unknown bot, SpecError for entrants that cannot play, TakenError.
    """
    try:
        with storage.write() as tx:
            return status_of(tx, create_in(tx, spec, now, seed))
    except IntegrityError:
        raise TakenError(
            f"{spec.name}: somebody else created the same at the same moment; try again"
        ) from None


def create_in(tx: Transaction, spec: TournamentSpec, now: datetime, seed: bytes | None = None) -> Tournament:
    """Create a tournament as part of a transaction; the same errors, and IntegrityError for a taken name."""
    ruleset = load_ruleset(spec.ruleset)
    if spec.duplicate:
        spec = replace(spec, deals=session_deals(ruleset, spec.deals))
    _check_points(spec, ruleset)
    if tx.exec(select(Tournament.id).where(Tournament.name == spec.name)).first():
        raise TakenError(f"there already is a tournament {spec.name}")
    versions = find_versions(tx, spec.entrants)
    _check_entrants(versions, ruleset)
    check_options(spec.format, spec.options, len(versions), ruleset.players, spec.rounds)
    if not spec.allow_same_owner:
        bots = [version.name for version in versions]
        check_owners(spec.format, spec.options, bots, ruleset.players)
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
        told = (
            f"a match of {deals} deals could come to {most} points, and its totals hold {MOST_MATCH_POINTS}"
        )
        raise SpecError("sessions", told)


def _check_entrants(versions: Sequence[BotVersion], ruleset: Ruleset) -> None:
    seen: set[str] = set()
    for version in versions:
        if version.revoked_at is not None:
            raise SpecError("entrants", f"the token of {version.name} is revoked")
        if version.name in seen:
            raise SpecError("entrants", f"{version.name} stands there twice")
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
        rounds=spec.rounds,
        sessions=spec.sessions,
        deals=spec.deals,
        decision_ms=spec.decision_ms,
        join_ms=spec.join_seconds * 1000,
        faults=spec.faults,
        bank_ms=spec.bank_ms,
        increment_ms=spec.increment_ms,
        credit_ms=spec.credit_ms,
        ask_forced=spec.ask_forced,
        require_check=spec.require_check,
        duplicate=spec.duplicate,
        allow_same_owner=spec.allow_same_owner,
        options=dict(spec.options),
        seed=seed.hex(),
        commitment=commitment(seed),
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


def start(storage: Storage, name: str, now: datetime) -> TournamentStatus:
    """Start a tournament, or go on with one that failed.

    Raises UnknownError, StateError, and SpecError for an entrant that lost the check which is required.
    """
    with storage.write() as tx:
        tournament = find_tournament(tx, name)
        start_in(tx, tournament, now)
        return status_of(tx, tournament)


def start_in(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Start a tournament as part of a transaction; the same errors."""
    if tournament.require_check and tournament.state == TournamentState.CREATED:
        require_checks(_versions(tx, tournament))
    if not _run(tx, tournament, (TournamentState.CREATED, TournamentState.FAILED), now):
        hint = "; resume it" if tournament.state == TournamentState.PAUSED else ""
        raise StateError(
            f"tournament {tournament.name} is {tournament.state.value}; it cannot be started{hint}"
        )


def pause(storage: Storage, name: str, now: datetime) -> TournamentStatus:
    """Halt a running tournament: no session starts any more, and those that are played are played to the end.

    UnknownError, StateError.
    """
    with storage.write() as tx:
        tournament = find_tournament(tx, name)
        running = (col(Tournament.id) == tournament.id, col(Tournament.state) == TournamentState.RUNNING)
        values = {"state": TournamentState.PAUSED, "advanced_at": now}
        # Workers see it at the next sign of life: see arena.matches.pausing.
        if not changed(tx, update(Tournament).where(*running).values(values)):
            raise StateError(
                f"tournament {name} is {tournament.state.value}; only a running one can be paused"
            )
        tx.refresh(tournament)
        return status_of(tx, tournament)


def resume(storage: Storage, name: str, now: datetime) -> TournamentStatus:
    """Go on with a paused tournament. UnknownError, StateError."""
    with storage.write() as tx:
        tournament = find_tournament(tx, name)
        if not _run(tx, tournament, (TournamentState.PAUSED,), now):
            raise StateError(
                f"tournament {name} is {tournament.state.value}; only a paused one can be resumed"
            )
        return status_of(tx, tournament)


def _run(tx: Transaction, tournament: Tournament, states: Sequence[TournamentState], now: datetime) -> bool:
    """Let a tournament run that is in one of these states; gives whether it was."""
    waits = (col(Tournament.id) == tournament.id, col(Tournament.state).in_(states))
    started_at = func.coalesce(Tournament.started_at, now)
    values = {"state": TournamentState.RUNNING, "problem": None, "started_at": started_at}
    if not changed(tx, update(Tournament).where(*waits).values(values)):
        return False
    refused = (col(Match.tournament_id) == tournament.id, col(Match.state) == MatchState.FAILED)
    changed(tx, update(Match).where(*refused).values(state=MatchState.WAITING, problem=None))
    tx.refresh(tournament)
    return True


def _versions(tx: Transaction, tournament: Tournament) -> Sequence[BotVersion]:
    entered = select(BotVersion).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    of_it = entered.where(Entrant.tournament_id == tournament.id)
    return tx.exec(of_it.options(WITHOUT_REPORT).order_by(col(Entrant.number))).all()


def cancel(storage: Storage, name: str, now: datetime) -> TournamentStatus:
    """End a tournament early: what is stored stays, the seed is revealed. UnknownError, StateError."""
    with storage.write() as tx:
        tournament = find_tournament(tx, name)
        open_ = (col(Tournament.id) == tournament.id, col(Tournament.state).not_in(ENDED))
        values = {"state": TournamentState.CANCELLED, "finished_at": now}
        if not changed(tx, update(Tournament).where(*open_).values(values)):
            raise StateError(f"tournament {name} is {tournament.state.value} already")
        unfinished = [MatchState.WAITING, MatchState.RUNNING, MatchState.FAILED]
        matches = (col(Match.tournament_id) == tournament.id, col(Match.state).in_(unfinished))
        # Without its lease a worker stops: see arena.matches.playing.
        values = {"state": MatchState.CANCELLED, "finished_at": now, "lease_owner": None, "lease_until": None}
        changed(tx, update(Match).where(*matches).values(values))
        rounds = (col(Round.tournament_id) == tournament.id, col(Round.state) != RoundState.CLOSED)
        changed(tx, update(Round).where(*rounds).values(state=RoundState.CANCELLED, finished_at=now))
        tx.refresh(tournament)
        return status_of(tx, tournament)


def status(storage: Storage, name: str) -> TournamentStatus:
    """How a tournament stands. UnknownError."""
    with storage.read() as tx:
        return status_of(tx, find_tournament(tx, name))


def list_tournaments(storage: Storage, limit: int = 100) -> list[TournamentStatus]:
    """How the latest tournaments stand, newest first."""
    latest = select(Tournament).order_by(col(Tournament.id).desc()).limit(limit)
    with storage.read() as tx:
        return [status_of(tx, tournament) for tournament in tx.exec(latest).all()]


def find_tournament(tx: Transaction, name: str) -> Tournament:
    """The tournament of this name, or UnknownError."""
    found = tx.exec(select(Tournament).where(Tournament.name == name)).first()
    if found is None:
        raise UnknownError(f"no tournament {name!r}")
    return found


def status_of(tx: Transaction, tournament: Tournament) -> TournamentStatus:
    """How this tournament stands in this transaction."""
    of_it = col(Match.tournament_id) == tournament.id
    counts = (
        select(Match.state, func.count(), func.sum(Match.sessions_done)).where(of_it).group_by(Match.state)
    )
    rows = tx.exec(counts).all()
    matches = {state: count for state, count, _ in rows}
    opened = select(func.max(Round.number)).where(
        Round.tournament_id == tournament.id, col(Round.started_at).is_not(None)
    )
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    entrants = select(func.count()).select_from(Entrant).where(Entrant.tournament_id == tournament.id)
    total = sum(matches.values())
    return TournamentStatus(
        id=tournament.id,
        name=tournament.name,
        format=tournament.format,
        state=tournament.state,
        problem=tournament.problem,
        ruleset=ruleset.label,
        table_size=tournament.table_size,
        entrants=tx.exec(entrants).one(),
        rounds=tournament.rounds,
        sessions=tournament.sessions,
        deals=tournament.deals,
        commitment=tournament.commitment,
        seed=tournament.seed if tournament.state in ENDED else None,
        created_at=tournament.created_at,
        started_at=tournament.started_at,
        finished_at=tournament.finished_at,
        round=tx.exec(opened).one() or 0,
        matches_done=matches.get(MatchState.DONE, 0),
        matches_running=matches.get(MatchState.RUNNING, 0),
        matches_total=total,
        sessions_done=sum(done for _, _, done in rows),
        sessions_total=total * tournament.sessions,
        waiting=_held_up(tx, tournament),
        leased_until=tx.exec(select(func.max(Match.lease_until)).where(of_it)).one(),
    )


def _held_up(tx: Transaction, tournament: Tournament) -> tuple[str, ...]:
    held = (
        select(Round.number, Match.table_number, Match.problem)
        .join(Round, col(Round.id) == Match.round_id)
        .where(
            Match.tournament_id == tournament.id,
            col(Match.problem).is_not(None),
            col(Match.state).in_([MatchState.WAITING, MatchState.RUNNING, MatchState.FAILED]),
        )
        .order_by(col(Round.number), col(Match.table_number))
        .limit(PROBLEMS_SHOWN)
    )
    return tuple(f"round {round} table {table}: {problem}" for round, table, problem in tx.exec(held))
