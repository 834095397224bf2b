"""Knockouts: the best of each table advance, until one table is left."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from arena.errors import SpecError
from arena.formats.base import Course, Format, Option, Setup
from arena.pairing.chance import below, generator
from arena.pairing.search import Costs, placed
from arena.pairing.values import History, Pairing, Tables
from arena.standings.ranking import Criteria, MatchOutcome

ADVANCE = Option(
    "advance",
    default=lambda size: max(1, size // 2),
    limits=lambda entrants, size: (1, size - 1),
)
"""How many of a table advance."""

SWAPS_EACH = 200
"""Exchanges tried for each table that can be improved."""


class Knockout(Format):
    """Each round eliminates the worse of every table."""

    name = "knockout"
    criteria = Criteria(("reached", "last", "score", "points", "wins"))
    schedule = "a knockout follows its seeding: best seeds apart, then owners and earlier opponents apart"
    options = (ADVANCE,)
    withdrawal = True

    def check_rounds(self, rounds: int | None, entrants: int) -> None:
        """Raise SpecError for any number of rounds."""
        if rounds is not None:
            raise SpecError("rounds", "a knockout has as many rounds as it needs; leave this out")

    def total(self, setup: Setup, entrants: int) -> int | None:
        """Return the rounds that it takes; it may turn out shorter if bots withdraw."""
        return setup.rounds or knockout_rounds(entrants, setup.size, ADVANCE.of(setup))

    def tables_to_come(self, setup: Setup, entrants: int, paired: int) -> int:
        """Return how many tables are still to be paired if nobody withdraws; ``entrants`` began."""
        return sum(knockout_tables(entrants, setup.size, ADVANCE.of(setup))[paired:])

    def next(self, setup: Setup, course: Course) -> list[Pairing]:
        """Return the next round; none once the final has been played."""
        advance, size = ADVANCE.of(setup), setup.size
        gone = set(course.entrants).difference(course.present)
        alive = still_in(course.entrants, size, advance, _played(course), gone)
        history = course.history(setup)
        found = knockout(course.entrants, size, advance, alive, history, course.paired + 1, setup.lots)
        return [found] if found else []


@dataclass(frozen=True, slots=True)
class KnockoutRound:
    """A round of a knockout that has been played."""

    tables: Sequence[Sequence[int]]
    """Every table, those with more points first."""
    byes: Sequence[int] = ()
    """Who advanced without playing."""


def _played(course: Course) -> list[KnockoutRound]:
    """Return the rounds so far, each table by points, most first; ties go to the better seed."""
    tables: dict[int, list[list[int]]] = {}
    for outcome in course.outcomes():
        tables.setdefault(outcome.round, []).append(_by_points(outcome))
    return [
        KnockoutRound(tables.get(number, []), pairing.byes)
        for number, pairing in enumerate(course.pairings, start=1)
    ]


def _by_points(outcome: MatchOutcome) -> list[int]:
    return sorted(outcome.points, key=lambda entrant: (-outcome.points[entrant], entrant))


def knockout_rounds(entrants: int, size: int, advance: int) -> int:
    """Return how many rounds a knockout takes, the last of them a single table."""
    return len(knockout_tables(entrants, size, advance))


def knockout_tables(entrants: int, size: int, advance: int) -> list[int]:
    """Return how many tables each round of a knockout has if nobody withdraws."""
    tables = []
    while entrants > size:
        tables.append(_table_count(entrants, size, advance))
        entrants -= _eliminated(entrants, size, advance)
    return [*tables, 1]


def survivors(round: KnockoutRound, size: int, advance: int) -> set[int]:
    """Return who advances after a round: the first ``advance`` of every table and all who sat out.

    If that would leave too few for a table, enough more of the first table advance to fill one. Of the final,
    a single table with nobody sitting out, only the first advances.
    """
    alive = len(round.byes) + size * len(round.tables)
    if alive == size:
        return {round.tables[0][0]}
    on = set(round.byes)
    for table in round.tables:
        on.update(table[:advance])
    spare = alive - _eliminated(alive, size, advance) - len(on)
    return on | set(round.tables[0][advance : advance + spare])


def still_in(
    seeding: Sequence[int], size: int, advance: int, rounds: Sequence[KnockoutRound], gone: Collection[int]
) -> set[int]:
    """Return who plays the next round; with fewer than ``size`` the final has been played.

    ``gone`` are those who withdrew. If they leave too few for a table, the best seeds of those whom the
    latest round eliminated play on.
    """
    alive, before = set(seeding), set(seeding)
    for round in rounds:
        before = {*round.byes, *(entrant for table in round.tables for entrant in table)}
        alive = survivors(round, size, advance)
    ended = len(before) == size and bool(rounds)
    alive.difference_update(gone)
    losers = (entrant for entrant in seeding if entrant in before - alive and entrant not in gone)
    return alive if ended else alive | set(islice(losers, max(0, size - len(alive))))


def knockout(
    seeding: Sequence[int],
    size: int,
    advance: int,
    alive: Collection[int],
    history: History,
    round: int,
    seed: bytes,
) -> Pairing | None:
    """Return the tables of the next round; None once the final has been played (too few alive for a table).

    ``seeding`` is all entrants, best first. The best seeds sit out if not all are needed at tables; the
    others are seated in a snake, so that the best meet as late as possible. Entrants of the same row of the
    snake change places to keep apart first bots of one owner, then those who have met.
    """
    going = [entrant for entrant in seeding if entrant in alive]
    if len(going) < size:
        return None
    count = _table_count(len(going), size, advance)
    byes, playing = going[: len(going) - count * size], going[len(going) - count * size :]
    rows = [range(row * count, (row + 1) * count) for row in range(size)]
    snake = [[*row] if number % 2 == 0 else [*reversed(row)] for number, row in enumerate(rows)]
    tables = [[row[column] for row in snake] for column in range(count)]
    rng = generator(seed, f"knockout/{round}")
    _keep_apart(tables, Costs(playing, size, history, gaps=False), rng)
    return placed([[playing[place] for place in table] for table in tables], byes, history, rng)


def _table_count(alive: int, size: int, advance: int) -> int:
    """Return the number of tables of a round: the most after which enough are left for a whole table."""
    if alive == size:
        return 1
    return min(alive // size, -(-(alive - size) // (size - advance)))


def _eliminated(alive: int, size: int, advance: int) -> int:
    """Return how many a round other than the final eliminates."""
    return min(_table_count(alive, size, advance) * (size - advance), alive - size)


def _keep_apart(tables: Tables, costs: Costs, rng: Random) -> None:
    """Exchange entrants of the same row between tables, in place, as long as that lowers the cost."""
    if len(tables) < 2:
        return
    for _ in range(SWAPS_EACH):
        bad = [table for table in tables if costs.table(table)]
        if not bad:
            return
        for one in bad:
            two, row = tables[below(rng, len(tables))], below(rng, len(one))
            before = costs.table(one) + costs.table(two)
            one[row], two[row] = two[row], one[row]
            if costs.table(one) + costs.table(two) > before:
                one[row], two[row] = two[row], one[row]
