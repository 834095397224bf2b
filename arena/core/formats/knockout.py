"""Knockouts: the best of each table advance, until one table is left."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from arena.core.formats.base import Format, Option, Setup, Situation
from arena.core.pairing.search import Costs, placed
from arena.core.pairing.values import History, Pairing, Tables, below, generator
from arena.core.ranking import Criteria, MatchOutcome
from arena.errors import SpecError

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
    summary = "the best of each table go on"
    criteria = Criteria(("reached", "last", "score", "points", "wins"))
    schedule = "a knockout follows its seeding: best seeds apart, then owners and earlier opponents apart"
    eliminates = True
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

    def next(self, setup: Setup, situation: Situation) -> list[Pairing]:
        """Return the next round; none once the final has been played."""
        advance, size = ADVANCE.of(setup), setup.size
        gone = set(situation.entrants).difference(situation.present)
        alive = still_in(situation.entrants, size, advance, _played(situation), gone)
        history = situation.history(setup)
        paired = knockout(situation.entrants, size, advance, alive, history, situation.paired + 1, setup.lots)
        return [paired] if paired else []


@dataclass(frozen=True, slots=True)
class KnockoutRound:
    """A round of a knockout that has been played."""

    tables: Sequence[MatchOutcome]
    """The result of every table."""
    byes: Sequence[int] = ()
    """Who advanced without playing."""


def _played(situation: Situation) -> list[KnockoutRound]:
    """Return the rounds so far."""
    tables: dict[int, list[MatchOutcome]] = {}
    for outcome in situation.outcomes():
        tables.setdefault(outcome.round, []).append(outcome)
    return [
        KnockoutRound(tables.get(number, []), byes)
        for number, byes in enumerate(situation.past.byes, start=1)
    ]


def knockout_rounds(entrants: int, size: int, advance: int) -> int:
    """Return how many rounds a knockout takes, the last of them a single table."""
    return len(knockout_tables(entrants, size, advance))


def knockout_tables(entrants: int, size: int, advance: int) -> list[int]:
    """Return how many tables each round of a knockout has if nobody withdraws."""
    counts: list[int] = []
    while entrants > size:
        tables, entrants = _plan(entrants, size, advance, first=not counts)
        counts.append(tables)
    return [*counts, 1]


def still_in(
    seeding: Sequence[int], size: int, advance: int, rounds: Sequence[KnockoutRound], gone: Collection[int]
) -> set[int]:
    """Return who plays the next round; with fewer than ``size`` the final has been played.

    Of the final, a single table with nobody sitting out, only the first advances. From any other round go on
    those who sat out, the first of all tables, then the second and so on, until the next round is full; among
    those of the same place it takes the ones with the most points, then the better seeds. So those who
    withdrew (``gone``) are replaced, and whoever forfeited all of a match goes on only after all others.
    """
    if not rounds:
        return set(seeding).difference(gone)
    last = rounds[-1]
    alive = len(last.byes) + size * len(last.tables)
    left = 1 if alive == size else _plan(alive, size, advance, first=len(rounds) == 1)[1]
    best = _best_first(last.tables)
    return set(islice((entrant for entrant in (*last.byes, *best) if entrant not in gone), left))


def _best_first(tables: Sequence[MatchOutcome]) -> list[int]:
    """Return everyone at these tables by place at the table, then by points, then by seed.

    Those who played no session come last.
    """
    places = []
    for table in tables:
        # Negative, so that the best are the first.
        ordered = sorted(([-value for value in merit], entrant) for entrant, merit in table.merits.items())
        places += [(merit[0], place, merit, entrant) for place, (merit, entrant) in enumerate(ordered)]
    return [entrant for *_, entrant in sorted(places)]


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
    count = 1 if len(going) == size else _plan(len(going), size, advance, first=round == 1)[0]
    byes, playing = going[: len(going) - count * size], going[len(going) - count * size :]
    rows = [range(row * count, (row + 1) * count) for row in range(size)]
    snake = [[*row] if number % 2 == 0 else [*reversed(row)] for number, row in enumerate(rows)]
    tables = [[row[column] for row in snake] for column in range(count)]
    rng = generator(seed, f"knockout/{round}")
    _keep_apart(tables, Costs(playing, size, history, gaps=False), rng)
    return placed([[playing[place] for place in table] for table in tables], byes, history, rng)


def _plan(alive: int, size: int, advance: int, *, first: bool) -> tuple[int, int]:
    """Return how many tables a round before the final has, and how many bots are left after it.

    These fill the tables of the next round, so that nobody sits out again. In the ``first`` round as many
    play as it takes for that, with ``advance`` of each table going on; fewer do if there are not enough for
    that, but the first of each table always does, if need be in one round more.
    """
    most, left = alive // size, _left(alive, size, advance)
    if _left(alive + 1, size, advance) == alive or (alive % size == 0 and not first):
        return most, left
    if alive - left > most * (size - 1):
        left = most * size
    return min(most, -(-(alive - left) // (size - advance))), left


def _left(alive: int, size: int, advance: int) -> int:
    """Return the number of bots, below ``alive``, of the largest round that leads to a final by full tables.

    Seen from the final, each round has as many tables as it takes for ``advance`` of each to fill the tables
    of the next one, and at least so many that each eliminates somebody.
    """
    tables = more = 1
    while more * size < alive:
        tables, more = more, max(more * size // advance, -(-more * size // (size - 1)))
    return tables * size


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
