"""After the end: organisers confirm results, or correct them by signed events."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.actors import Actor
from arena.core.canonical import decision_digest
from arena.core.corrections import (
    MOST_POINTS,
    Correction,
    Kind,
    disqualified_by,
    read_correction,
)
from arena.core.parts import EventKind
from arena.core.ranking import MatchOutcome
from arena.errors import SpecError, StateError, TakenError
from arena.people.audit import record
from arena.store.models import (
    Entrant,
    Match,
    MatchState,
    Round,
    Seat,
    Tournament,
    TournamentEvent,
    TournamentHead,
)
from arena.store.storage import Storage, Transaction
from arena.tournaments.admission import check_reason
from arena.tournaments.events import lock_row, next_event, note
from arena.tournaments.overview import ENDED, TournamentStatus, find_tournament, organised, status_of
from arena.tournaments.roster import find_entrants, forfeited_shares, only_entrant
from referee.signing import SigningKey


def confirm(storage: Storage, actor: Actor, name: str, now: datetime, key: SigningKey) -> TournamentStatus:
    """Confirm the results of a tournament that has ended, which makes them final. ``key`` is the arena's.

    Raise NotAllowed, UnknownError, StateError.
    """
    with storage.write() as tx:
        tournament = _lock_ended(tx, actor, name, "confirm")
        if not tournament.confirm:
            raise StateError(f"the results of tournament {name} are not provisional (confirm)")
        tournament.confirmed_at = now
        tx.flush()
        _decide(tx, tournament, "confirmed", now, key, {"by": actor.account})
        record(tx, actor, "tournament.confirm", name, now)
        return status_of(tx, tournament)


@dataclass(frozen=True, slots=True)
class NewCorrection:
    """A correction that an organiser wants to make."""

    bot: str
    """``owner/bot@version``, or ``owner/bot`` if one version of it is in the tournament."""
    correction: Kind
    """See ``Correction``."""
    reason: str
    """One line, which everybody can read."""
    round: int | None = None
    """If ``correction`` is ``points``, the round of the match."""
    table: int | None = None
    """If ``correction`` is ``points``, the table of the match."""
    points: int | None = None
    """If ``correction`` is ``points``, how many more points the match counts."""


def correct(
    storage: Storage, actor: Actor, name: str, correction: NewCorrection, now: datetime, key: SigningKey
) -> Correction:
    """Correct the standings of a tournament that has ended, by an event signed with the arena's key.

    Raise NotAllowed, SpecError, UnknownError, StateError, TakenError.
    """
    with storage.write() as tx:
        tournament = _lock_ended(tx, actor, name, "correct")
        details = _details(tx, actor, tournament, correction)
        event = _decide(tx, tournament, "corrected", now, key, details)
        record(tx, actor, "tournament.correct", name, now, event=event.number, **details)
        made = read_correction(event.number, event.at.isoformat(), event.details)
        if made.points is not None:
            _add_points(tx, tournament, made)
        return made


def _add_points(tx: Transaction, tournament: Tournament, made: Correction) -> None:
    """Change what a match counts."""
    its = (col(Round.number) == made.round, col(Match.table_number) == made.table)
    rows = tx.exec(
        select(Entrant.number, Seat)
        .join(Seat, col(Seat.entrant_id) == Entrant.id)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(Round.tournament_id == tournament.id, *its)
    )
    seats = dict(rows.all())
    points = {who: float(seat.points if seat.score is None else seat.score) for who, seat in seats.items()}
    points[made.entrant] += made.points or 0
    place = (made.round or 0, made.table or 0)
    shares = forfeited_shares(tx, tournament, *its).get(place, {})
    places = MatchOutcome(*place, points, shares).places
    for who, seat in seats.items():
        seat.score, seat.place = points[who], places[who]


def would_correct(
    storage: Storage, actor: Actor, name: str, correction: NewCorrection, now: datetime
) -> Correction:
    """Return the correction that ``correct`` would make, unsigned, and make none. Raise what it raises."""
    with storage.read() as tx:
        tournament = organised(tx, actor, find_tournament, name, "correct")
        _require_ended(tournament)
        details = _details(tx, actor, tournament, correction)
        return read_correction(0, now.isoformat(), {**details, "signed": {"key": ""}})


def _details(
    tx: Transaction, actor: Actor, tournament: Tournament, correction: NewCorrection
) -> dict[str, object]:
    """Return the details of a correction as its event has them, without the signature."""
    reason, match = check_reason(correction.reason), _match_of(correction)
    entrant, version = only_entrant(tournament, correction.bot, find_entrants(tx, tournament, correction.bot))
    details: dict[str, object] = {"correction": correction.correction, "entrant": entrant.number}
    if match is None:
        _require_changes(tx, tournament, entrant, version, correction.correction)
    else:
        _require_played(tx, tournament, entrant, version, *match)
        details |= {"round": match[0], "table": match[1], "points": correction.points}
    return details | {"bot": version, "reason": reason, "by": actor.account}


def _match_of(correction: NewCorrection) -> tuple[int, int] | None:
    """Return the round and the table that a correction is about, or None. Raise SpecError."""
    fields = {name: getattr(correction, name) for name in ("round", "table", "points")}
    of_points = correction.correction == "points"
    for name, value in fields.items():
        if (value is None) == of_points:
            raise SpecError(name, "is missing" if of_points else "belongs to the correction points alone")
    if correction.round is None or correction.table is None or correction.points is None:
        return None
    if not 0 < abs(correction.points) <= MOST_POINTS:
        raise SpecError(
            "points", f"must be 1 to {MOST_POINTS}, positive or negative, not {correction.points}"
        )
    return correction.round, correction.table


def _lock_ended(tx: Transaction, actor: Actor, name: str, what: str) -> Tournament:
    """Lock the row of a tournament that its organiser can decide about now, and return it."""
    tournament = organised(tx, actor, find_tournament, name, what)
    lock_row(tx, tournament.id)
    tx.refresh(tournament)
    _require_ended(tournament)
    return tournament


def _require_ended(tournament: Tournament) -> None:
    """Raise StateError unless the results of a tournament can still be decided about."""
    name = tournament.name
    if tournament.state not in ENDED:
        raise StateError(f"tournament {name} is {tournament.state.value}; it must end first")
    if tournament.commitment is None:
        raise StateError(f"tournament {name} was never locked: it has no results")
    if tournament.confirmed_at is not None:
        raise StateError(f"the results of tournament {name} are confirmed: they can no longer change")


def _require_played(
    tx: Transaction, tournament: Tournament, entrant: Entrant, version: str, round: int, table: int
) -> None:
    seats = (
        select_columns(col(Seat.id))
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(
            col(Round.tournament_id) == tournament.id,
            col(Round.number) == round,
            col(Match.table_number) == table,
            col(Match.state) == MatchState.DONE,
            col(Seat.entrant_id) == entrant.id,
        )
    )
    if tx.connection().execute(seats).first() is None:
        raise StateError(f"{version} has no finished match in round {round} at table {table}")


def _require_changes(
    tx: Transaction, tournament: Tournament, entrant: Entrant, version: str, kind: Kind
) -> None:
    of_it = (TournamentEvent.tournament_id == tournament.id, TournamentEvent.kind == "corrected")
    events = tx.exec(select(TournamentEvent).where(*of_it).order_by(col(TournamentEvent.number)))
    corrections = [read_correction(event.number, event.at.isoformat(), event.details) for event in events]
    out = entrant.number in disqualified_by(corrections)
    if out and kind == "disqualified":
        raise TakenError(f"{version} is disqualified already")
    if not out and kind == "reinstated":
        raise StateError(f"{version} is not disqualified")


def _decide(
    tx: Transaction,
    tournament: Tournament,
    kind: EventKind,
    now: datetime,
    key: SigningKey,
    details: dict[str, object],
) -> TournamentEvent:
    """Add a signed event to the chain of a tournament whose row is locked, and return it."""
    head = tx.get_one(TournamentHead, tournament.id).head
    if head["decision_key"] != key.public:
        raise StateError(
            f"tournament {tournament.name}: the arena's key for decisions is not the one in its head; "
            "arena-key/decisions.pem in the data folder must be as it was when the tournament was locked"
        )
    _, previous, at = next_event(tx, tournament, now)
    digest = decision_digest(kind, previous, at.isoformat(), details)
    note(tx, tournament, kind, now, **details, signed=key.sign(digest)._asdict())
    of_it = select(TournamentEvent).where(TournamentEvent.tournament_id == tournament.id)
    return tx.exec(of_it.order_by(col(TournamentEvent.number).desc()).limit(1)).one()
