"""How rounds are paired: what a format needs to know, read from the rows, and shown with its reasons."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlmodel import col, select

from arena.errors import UnknownError
from arena.models import Entrant, Match, Rating, Round, RoundState, Seat, Tournament
from arena.pairing import (
    Balance,
    History,
    KnockoutRound,
    Pairing,
    TableReason,
    Waiting,
    balance,
    continuous,
    explain,
    gauntlet,
    knockout,
    option,
    planned_rounds,
    round_robin_on,
    still_in,
    swiss,
)
from arena.ratings.elo import START, uncertainty
from arena.standings.outcomes import current_standings, outcomes
from arena.standings.ranking import MatchOutcome, standings
from arena.storage import Storage, Transaction
from arena.tournaments.entrants import EntrantInfo, list_entrants, playing
from arena.tournaments.overview import find_tournament

AHEAD = 2_000
"""Tables of a round-robin that are planned at a time, at most: a large one is planned part by part."""

RECENT = 3
"""Matches of each entrant that are too recent to be repeated in a continuous tournament.

Those of its latest batches, that is, as many as it has entrants: what lies further back is not even read.
"""


@dataclass(frozen=True, slots=True)
class RoundShown:
    """A round as it is shown; entrants stand as their places in ``names``."""

    number: int
    state: RoundState
    pairing: Pairing
    reasons: tuple[TableReason, ...]
    """Why each of the tables; empty where there is nothing to choose, or it was not asked for."""


@dataclass(frozen=True, slots=True)
class PairingsShown:
    """A tournament's pairings."""

    format: str
    names: Mapping[int, str]
    """Entrant to ``owner/bot@version``."""
    rounds: tuple[RoundShown, ...]
    balance: Balance
    """Of all rounds paired so far."""


def next_pairings(tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]) -> list[Pairing]:
    """The next round, or several of a round-robin; none: nothing more can be paired."""
    numbers = [entrant.number for entrant in entrants]
    size, round = tournament.table_size, tournament.paired + 1
    lots = bytes.fromhex(tournament.commitment)  # public, and not known before the entrants were
    before = [pairing for _, pairing in paired_rounds(tx, tournament)]
    if tournament.format == "round-robin":
        return round_robin_on(numbers, size, lots, tournament.rounds, before, AHEAD)
    history = _history(tournament, before, entrants)
    if tournament.format == "gauntlet":
        challengers = option(tournament.options, "challengers", size)
        return [gauntlet(numbers, challengers, size, history, round, lots)]
    if tournament.format == "knockout":
        advance = option(tournament.options, "advance", size)
        gone = set(numbers) - set(playing(tx, tournament, round))
        alive = still_in(numbers, size, advance, _knockout_rounds(tx, tournament, before), gone)
        found = knockout(numbers, size, advance, alive, history, round, lots)
        return [found] if found else []
    lines = current_standings(tx, tournament, entrants)
    there = set(playing(tx, tournament, round))
    standing = [line.entrant for line in lines if line.entrant in there]
    scores = {line.entrant: line.score for line in lines}
    history = _history(tournament, before, entrants, scores)
    pairing = swiss(standing, size, history, round, lots)
    return [pairing] if pairing.tables else []


def rounds_in_all(tournament: Tournament, entrants: int, more: int) -> int | None:
    """Rounds of the tournament when ``more`` are paired now; None: until it is stopped.

    With no more to be paired, those paired are all. A knockout may turn out shorter than planned.
    """
    if not more:
        return tournament.paired
    size = tournament.table_size
    planned = planned_rounds(tournament.format, tournament.options, entrants, size, tournament.rounds)
    return planned if planned is None else max(planned, tournament.paired + more)


def next_batch(
    tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo], free: Collection[int]
) -> Pairing:
    """The next tables of a continuous tournament, of entrants that are ``free``; none: owners are too few."""
    size = tournament.table_size
    latest = paired_rounds(tx, tournament, after=tournament.paired - len(entrants))
    before = [pairing for _, pairing in latest]
    tables = [table for pairing in before for table in pairing.tables]
    rated = _ratings(tx, tournament, entrants)
    matches = Counter(number for table in tables[-len(entrants) :] for number in table)
    first = sorted(free, key=lambda number: (matches[number], rated[number][1], number))
    waiting = [Waiting(number, rated[number][0], uncertainty(rated[number][1], size) / 2) for number in first]
    apart = not tournament.allow_same_owner
    recent = History(_recent(tables), owners=_owners(entrants), owners_apart=apart)
    batch = continuous(waiting, size, recent, tournament.paired + 1, bytes.fromhex(tournament.commitment))
    return Pairing(batch.tables)  # who waits on has not missed anything


def free_entrants(
    tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]
) -> tuple[list[EntrantInfo], int]:
    """Those of a continuous tournament's entrants that have not withdrawn and sit at no open table.

    And how many sit at one.
    """
    open_seats = (
        select(Seat.entrant_id)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(Round.tournament_id == tournament.id, Round.state == RoundState.OPEN)
        .where(col(Match.finished_at).is_(None))
    )
    busy = set(tx.exec(open_seats))
    there = set(playing(tx, tournament, tournament.paired + 1))
    free = [one for one in entrants if one.entrant_id not in busy and one.number in there]
    return free, len(busy)


def paired_rounds(tx: Transaction, tournament: Tournament, after: int = 0) -> list[tuple[Round, Pairing]]:
    """The rounds paired so far with their pairings, in order: all, or those after number ``after``."""
    wanted = (Round.tournament_id == tournament.id, col(Round.number) > after)
    rounds = select(Round).where(*wanted).order_by(col(Round.number))
    seats = (
        select(Match.round_id, Match.table_number, Entrant.number)
        .select_from(Round)
        .join(Match, col(Match.round_id) == Round.id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(*wanted)
        .order_by(col(Match.round_id), col(Match.table_number), col(Seat.position))
    )
    tables: dict[int, list[tuple[int, ...]]] = {}
    for (round_id, _), rows in groupby(tx.exec(seats), key=lambda row: (row[0], row[1])):
        tables.setdefault(round_id, []).append(tuple(number for _, _, number in rows))
    return [
        (round, Pairing(tuple(tables.get(round.id, ())), tuple(round.byes)))
        for round in tx.exec(rounds).all()
    ]


def pairings(
    storage: Storage, name: str, round: int | None = None, *, explained: bool = False
) -> PairingsShown:
    """The pairings of a tournament, of one round or of all, if asked for with their reasons. UnknownError."""
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        entrants = list_entrants(tx, tournament)
        rounds = paired_rounds(tx, tournament)
        if round is not None and not 1 <= round <= len(rounds):
            raise UnknownError(f"no round {round} in {name}: {len(rounds)} paired so far")
        whys = (
            _reasons(tx, tournament, entrants, rounds) if explained and tournament.format == "swiss" else {}
        )
        shown = [
            RoundShown(row.number, row.state, pairing, tuple(whys.get(row.number, ())))
            for row, pairing in rounds
            if round in (None, row.number)
        ]
        numbers = [entrant.number for entrant in entrants]
        return PairingsShown(
            format=tournament.format,
            names={entrant.number: entrant.name for entrant in entrants},
            rounds=tuple(shown),
            balance=balance(numbers, [pairing for _, pairing in rounds]),
        )


def _reasons(
    tx: Transaction,
    tournament: Tournament,
    entrants: Sequence[EntrantInfo],
    rounds: Sequence[tuple[Round, Pairing]],
) -> dict[int, list[TableReason]]:
    """Why each table of the Swiss rounds after the first, which is drawn by lot."""
    results = outcomes(tx, tournament)
    numbers = [entrant.number for entrant in entrants]
    found = {}
    for at, (row, pairing) in enumerate(rounds[1:], start=1):
        before = [earlier for _, earlier in rounds[:at]]
        byes = [entrant for earlier in before for entrant in earlier.byes]
        past = [outcome for outcome in results if outcome.round < row.number]
        lines = standings(numbers, past, byes, tournament.format)
        there = {*pairing.byes, *(entrant for table in pairing.tables for entrant in table)}
        scores = {line.entrant: line.score for line in lines}
        standing = [line.entrant for line in lines if line.entrant in there]
        history = _history(tournament, before, entrants, scores)
        found[row.number] = explain(standing, tournament.table_size, history, pairing)
    return found


def _history(
    tournament: Tournament,
    before: Sequence[Pairing],
    entrants: Sequence[EntrantInfo],
    scores: Mapping[int, float] | None = None,
) -> History:
    return History(
        tables=[table for pairing in before for table in pairing.tables],
        byes=[entrant for pairing in before for entrant in pairing.byes],
        owners=_owners(entrants),
        scores=scores or {},
        owners_apart=not tournament.allow_same_owner,
    )


def _owners(entrants: Sequence[EntrantInfo]) -> dict[int, int]:
    return {entrant.number: entrant.owner_id for entrant in entrants}


def _knockout_rounds(
    tx: Transaction, tournament: Tournament, before: Sequence[Pairing]
) -> list[KnockoutRound]:
    """The rounds of a knockout, every table with those of more points first; ties go to the better seed."""
    tables: dict[int, list[list[int]]] = {}
    for outcome in outcomes(tx, tournament):
        tables.setdefault(outcome.round, []).append(_by_points(outcome))
    return [
        KnockoutRound(tables.get(number, []), pairing.byes) for number, pairing in enumerate(before, start=1)
    ]


def _by_points(outcome: MatchOutcome) -> list[int]:
    return sorted(outcome.points, key=lambda entrant: (-outcome.points[entrant], entrant))


def _ratings(
    tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]
) -> dict[int, tuple[float, int]]:
    """By entrant its rating in the tournament's pool, and the number of matches that it comes from."""
    rows = select(Rating.version_id, Rating.value, Rating.matches).where(
        Rating.ruleset_id == tournament.ruleset_id, Rating.table_size == tournament.table_size
    )
    rated = {version_id: (value, matches) for version_id, value, matches in tx.exec(rows)}
    return {entrant.number: rated.get(entrant.version_id, (START, 0)) for entrant in entrants}


def _recent(tables: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """The latest tables, as many as leave each entrant with ``RECENT`` of its own."""
    found = []
    seen: dict[int, int] = {}
    for table in reversed(tables):
        if any(seen.get(entrant, 0) < RECENT for entrant in table):
            found.append(table)
            for entrant in table:
                seen[entrant] = seen.get(entrant, 0) + 1
    return found[::-1]
