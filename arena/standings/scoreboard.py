"""Standings and crosstables as they are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from arena.formats import FORMATS
from arena.models import Tournament
from arena.ratings.elo import spread
from arena.standings.keeping import current_sums
from arena.standings.ranking import Standing, ranked
from arena.standings.sums import Sum, Sums
from arena.storage import Storage
from arena.tournaments.entrants import EntrantInfo, list_entrants
from arena.tournaments.overview import find_tournament

CROSSED = 50
"""Lines of a crosstable, if no other number is asked for."""


@dataclass(frozen=True, slots=True)
class StandingLine:
    """A line of the standings with its name."""

    standing: Standing
    name: str
    """``owner/bot@version``."""
    raw: int
    """Points of all deals as they were scored; in a duplicate tournament other than those that count."""
    deals: int
    """Deals that the points come from."""
    plus_minus: float | None
    """Half the width of the 95 % interval around the points that count, as if the deals were drawn again;
    None for fewer than two deals."""


@dataclass(frozen=True, slots=True)
class Crosstable:
    """Who finished before whom how often, of some neighbours in the standings."""

    names: tuple[str, ...]
    """In the order of the standings."""
    before: Mapping[tuple[int, int], tuple[int, int]]
    """For two places in ``names``: deals that the first finished before the second, and that both sat in."""
    offset: int = 0
    """Lines of the standings before the first name."""
    entrants: int = 0
    """Lines of the standings in all."""


def standings(storage: Storage, name: str) -> list[StandingLine]:
    """Return the standings after all finished matches, best first; raise UnknownError.

    They follow from sums: no closed round is read.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        entrants = list_entrants(tx, tournament)
        sums = current_sums(tx, tournament)
        names = {entrant.number: entrant.name for entrant in entrants}
        ids = {entrant.number: entrant.entrant_id for entrant in entrants}
        return [
            StandingLine(
                line,
                names[line.entrant],
                found.raw,
                found.deals,
                spread(found.deals, found.total, found.squares),
            )
            for line in _ranked(tournament, entrants, sums)
            for found in [sums.entrants.get(ids[line.entrant], Sum())]
        ]


def _ranked(tournament: Tournament, entrants: Sequence[EntrantInfo], sums: Sums) -> list[Standing]:
    """Return the standings by these sums."""
    numbers = {entrant.entrant_id: entrant.number for entrant in entrants}
    criteria = FORMATS[tournament.format].criteria
    size = tournament.table_size if sums.pairs else 1
    lines = ranked(list(numbers), sums.totals(), size, criteria)
    return [replace(line, entrant=numbers[line.entrant]) for line in lines]


def crosstable(storage: Storage, name: str, limit: int = CROSSED, offset: int = 0) -> Crosstable:
    """Return how often each bot finished before each other one, in the deals of all finished matches.

    Covers ``limit`` lines of the standings after the first ``offset``, and follows from sums as these do.
    Raise UnknownError if there is no such tournament.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        entrants = list_entrants(tx, tournament)
        sums = current_sums(tx, tournament)
        by_number = {entrant.number: entrant for entrant in entrants}
        lines = _ranked(tournament, entrants, sums)
        shown = [by_number[line.entrant] for line in lines[offset : offset + limit]]
        place = {entrant.entrant_id: at for at, entrant in enumerate(shown)}
        before = dict.fromkeys(permutations(place.values(), 2), (0, 0))
        for (one, other), pair in sums.pairs.items():
            if one in place and other in place:
                before[place[one], place[other]] = (pair.ahead, pair.deals)
                before[place[other], place[one]] = (pair.behind, pair.deals)
        return Crosstable(tuple(entrant.name for entrant in shown), before, offset, len(lines))
