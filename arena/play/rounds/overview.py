"""A tournament for display: everything about it, and its pairings with their reasons."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache, partial
from typing import Any

from sqlmodel import col

from arena.core.formats import FORMATS, Situation
from arena.core.pairing import Balance, Past, TableReason, balance
from arena.core.ranking import MatchOutcome, Results, results_of
from arena.core.specs import TournamentFields
from arena.errors import UnknownError
from arena.play.rounds.planning import PairedRound, paired_rounds, setup_of, tables_paired
from arena.play.rounds.waiting import obstacles
from arena.results.standings.outcomes import outcomes
from arena.store.models import Round, RoundState, Tournament
from arena.store.storage import Storage, Transaction
from arena.tournaments import overview
from arena.tournaments.overview import TournamentStatus, find_tournament
from arena.tournaments.referees import Ask
from arena.tournaments.roster import EntrantInfo, RosterLine, list_entrants, roster
from arena.tournaments.warnings import list_warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentShown(TournamentStatus):
    """A tournament with everything about it."""

    settings: TournamentFields
    """The settings as in its file."""
    roster: Sequence[RosterLine]
    """Who entered."""
    unable: Sequence[str]
    """Connected bots that cannot play it, and why."""
    waits: Sequence[str]
    """What keeps it, or one of its matches, from going on."""
    warnings: Sequence[str]
    """What keeps it from being started, and what makes no sense about it."""


def show(storage: Storage, name: str, now: datetime, ask: Ask) -> TournamentShown:
    """Return a tournament with everything about it, as far as the referees answer. Raise UnknownError."""
    status = overview.status(storage, name)
    lines = roster(storage, name, now, ask)
    return TournamentShown(
        **fields_of(status),
        settings=overview.terms(storage, name),
        roster=lines,
        unable=[f"{line.bot} {line.problem}" for line in lines if line.connected and line.problem],
        waits=obstacles(storage, status, ask, now).lines,
        warnings=[] if status.ended else list_warnings(storage, name),
    )


def fields_of(status: TournamentStatus) -> Mapping[str, Any]:
    """Return the fields of a status, for a value that has more of them."""
    return {field.name: getattr(status, field.name) for field in fields(TournamentStatus)}


@dataclass(frozen=True, slots=True)
class RoundNamed:
    """A round with its bots by name."""

    round: int
    state: RoundState
    tables: tuple[tuple[str, ...], ...]
    """The bots of each table, by position."""
    byes: tuple[str, ...]
    """Bots that sit out."""
    reasons: tuple[TableReason, ...]
    """Why each table of a Swiss round is as it is, if that was asked for; bots by their numbers."""
    only: bool
    """Whether no other pairing was possible, because just enough for one table were present."""


@dataclass(frozen=True, slots=True)
class PairingsNamed:
    """The pairings of a tournament."""

    tournament: str
    format: str
    bots: Mapping[int, str]
    """Bots by their number among the entrants, as text."""
    rounds: tuple[RoundNamed, ...]
    balance: Balance | None
    """Of all rounds paired so far; None if only one was asked for."""


def pairings(
    storage: Storage, name: str, round: int | None = None, *, explained: bool = False
) -> PairingsNamed:
    """Return the pairings of one round or of all, with their reasons if ``explained``; raise UnknownError."""
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        if round is not None and not 1 <= round <= tournament.paired:
            raise UnknownError(f"no round {round} in {name}: {tournament.paired} paired so far")
        entrants = list_entrants(tx, tournament)
        names = {entrant.number: entrant.name for entrant in entrants}
        which = () if round is None else (col(Round.number) == round,)
        rounds = [*paired_rounds(tx, tournament, *which)]
        reasons = _reasons(tx, tournament, entrants, rounds) if explained else {}
        named = tuple([_named(paired, names, reasons.get(paired.number, ())) for paired in rounds])
        even = balance([*names], [paired.pairing for paired in rounds]) if round is None else None
        return PairingsNamed(name, tournament.format, names, named, even)


def last_rounds(storage: Storage, name: str, tables: int) -> Sequence[RoundNamed]:
    """Return the last rounds of a tournament, all that have at most so many tables together.

    Raise UnknownError.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        names = {entrant.number: entrant.name for entrant in list_entrants(tx, tournament)}
        before = tables_paired(tx, tournament.id, tournament.paired) - tables
        return [
            _named(paired, names)
            for paired in paired_rounds(tx, tournament, col(Round.tables_before) >= before)
        ]


def _named(paired: PairedRound, names: Mapping[int, str], reasons: Sequence[TableReason] = ()) -> RoundNamed:
    return RoundNamed(
        paired.number,
        paired.state,
        tuple([tuple([names[who] for who in seated]) for seated in paired.pairing.tables]),
        tuple([names[who] for who in paired.pairing.byes]),
        tuple(reasons),
        _is_only(paired),
    )


def _reasons(
    tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo], rounds: Sequence[PairedRound]
) -> dict[int, list[TableReason]]:
    """Return by round the reasons for each of the tables of these rounds."""
    format, setup = FORMATS[tournament.format], setup_of(tournament)
    explained = {paired.number for paired in rounds if not _is_only(paired)}
    last = max(explained, default=0)
    played = cache(partial(outcomes, tx, tournament, col(Round.number) < last))
    reasons, past = {}, Past()
    for paired in paired_rounds(tx, tournament, col(Round.number) <= last):
        if paired.number in explained:
            pairing = paired.pairing
            situation = Situation(
                entrants=[entrant.number for entrant in entrants],
                present={*pairing.byes, *(entrant for table in pairing.tables for entrant in table)},
                paired=len(past),
                past=past,
                owners={entrant.number: entrant.owner_id for entrant in entrants},
                results=partial(_results_before, paired.number, played, past),
            )
            reasons[paired.number] = format.reasons(setup, situation, pairing)
        past.add(paired.pairing)
    return reasons


def _is_only(round: PairedRound) -> bool:
    """Return whether all who could be seated in a round exactly filled one table."""
    seated = sum(map(len, round.pairing.tables))
    return len(round.pairing.tables) == 1 and round.present == seated


def _results_before(round: int, played: Callable[[], Sequence[MatchOutcome]], past: Past) -> Results:
    """Return what the standings before a round followed from; ``past`` has the earlier rounds."""
    byes = [entrant for of_round in past.byes for entrant in of_round]
    return results_of([outcome for outcome in played() if outcome.round < round], byes)


def reason_lines(reason: TableReason, names: Mapping[int, str]) -> Iterator[str]:
    """Yield lines with the reasons for a table; ``names`` are those of the entrants."""
    places = ", ".join(map(str, reason.places))
    scores = ", ".join(map(_number, reason.scores))
    yield f"places {places}; scores {scores}; gap {_number(reason.gap)}"
    counts = [
        ("avoided: same owner", reason.owners_avoided),
        ("avoided: they have met", reason.repeats_avoided),
        ("accepted: same owner", reason.owners_accepted),
        ("accepted: they have met", reason.repeats_accepted),
    ]
    for what, pairs in counts:
        if pairs:
            yield f"{what}: {', '.join(f'{names[a]} – {names[b]}' for a, b in pairs)}"
    if reason.instead is None and (reason.owners_accepted or reason.repeats_accepted):
        yield "no exchange with a nearby table would improve it"
    if reason.instead is not None:
        best, change = reason.instead, reason.instead.change
        parts = [
            ("same owner", change.owners),
            ("repeats", change.repeats),
            ("squared gaps", change.gaps / 4),
        ]
        costs = ", ".join(f"{what} {'+' if more > 0 else ''}{_number(more)}" for what, more in parts)
        yield f"best exchange: {names[best.entrant]} for {names[best.other]} of table {best.table}: {costs}"


def _number(value: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
