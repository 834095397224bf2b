"""Round-robin tournaments: every pair of entrants at a table equally often, or as nearly as possible."""

from collections.abc import Sequence
from itertools import chain
from random import Random

from arena.core.formats.base import Choice, Format, Setup, Situation
from arena.core.pairing.coverings import covering
from arena.core.pairing.designs import (
    LARGE,
    Schedule,
    constructed,
    fewest_rounds,
    meets_equally,
    part,
    schedule,
)
from arena.core.pairing.meetings import Classes, Meetings, base_rounds, settle
from arena.core.pairing.search import Costs, Positions, placed, seat, sitting_out
from arena.core.pairing.values import History, Pairing, Past, Tables, generator, shuffled
from arena.core.ranking import BY_SCORE
from arena.errors import SpecError

WHOLE = 400
"""The most entrants whose round-robin may be whole; larger ones need a number of rounds."""

AT_LEAST_ONCE = "at-least-once"
MEETINGS = Choice("meetings", ("equal", AT_LEAST_ONCE))
"""Whether every two meet equally often, or at least once in as few rounds as possible."""

WHOLE_ONCE = 200
"""The most entrants for a schedule in which all meet at least once."""

SWAPS, SWAPS_EACH, COLD = 100_000, 100, 0.6
"""Swaps in the search for rounds that continue others, more for each seat, and its final temperature."""

ALL = 1 << 40
"""More tables than any round-robin has."""

SEATS = 4_000
"""Schedules with more seats (entrants times rounds) than this are not searched as a whole."""


AHEAD = 2_000
"""The most tables that are planned at a time: a large schedule is planned part by part."""


class RoundRobin(Format):
    """Everyone meets everyone, by a schedule."""

    name = "round-robin"
    summary = "everybody meets everybody"
    criteria = BY_SCORE
    schedule = "a round-robin follows its schedule: see the balance of all rounds"
    options = (MEETINGS,)

    def check(self, setup: Setup, entrants: int, *, more: bool = False) -> None:
        """Raise SpecError if options or rounds do not suit the number of entrants, or never will."""
        super().check(setup, entrants, more=more)
        if MEETINGS.of(setup) == AT_LEAST_ONCE:
            if setup.rounds is not None:
                raise SpecError("rounds", f"leave this out: {AT_LEAST_ONCE} takes as many as it needs")
            if entrants > WHOLE_ONCE:
                rule = f"{AT_LEAST_ONCE} is for {WHOLE_ONCE} entrants at most, not {entrants}"
                raise SpecError("options.meetings", rule)

    def check_rounds(self, rounds: int | None, entrants: int) -> None:
        """Raise SpecError for a large field without a number of rounds."""
        if rounds is None and entrants > WHOLE:
            raise SpecError("rounds", f"a round-robin of more than {WHOLE} entrants needs a number of rounds")

    def tables_to_come(self, setup: Setup, entrants: int, paired: int) -> int:
        """Return how many tables are still to be paired; 0 without set rounds, as searching takes long."""
        return 0 if setup.rounds is None else super().tables_to_come(setup, entrants, paired)

    def total(self, setup: Setup, entrants: int) -> int | None:
        """Return the rounds asked for, or those of a whole schedule."""
        if MEETINGS.of(setup) == AT_LEAST_ONCE:
            return len(covering(entrants, setup.size))
        return setup.rounds or round_robin_rounds(entrants, setup.size)

    def next(self, setup: Setup, situation: Situation) -> list[Pairing]:
        """Return the next rounds of the schedule; none after the last."""
        if MEETINGS.of(setup) == AT_LEAST_ONCE:
            return round_robin_on(
                situation.entrants, setup.size, setup.lots, None, situation.past, AHEAD, meet_once=True
            )
        return round_robin_on(situation.entrants, setup.size, setup.lots, setup.rounds, situation.past, AHEAD)


def round_robin_rounds(entrants: int, size: int) -> int:
    """Return the number of rounds of a whole round-robin of at most ``WHOLE`` entrants."""
    if entrants <= LARGE:
        return len(schedule(entrants, size))
    return len(constructed(entrants, size) or range(entrants - (entrants % size == 0)))


def round_robin(
    entrants: Sequence[int], size: int, seed: bytes, rounds: int | None = None, *, meet_once: bool = False
) -> list[Pairing]:
    """Return all rounds of a round-robin, drawn by lot from ``seed``.

    Without ``rounds`` the schedule is whole: every pair meets equally often if we know such a schedule, in as
    few rounds as possible, and everyone sits out equally often (see ``designs.schedule``). With ``rounds`` a
    whole schedule is played as often as it fits, drawn anew each time, and for the remaining rounds a search
    makes meetings and byes as even as it can. With ``meet_once``, and without ``rounds``, every pair meets at
    least once (see ``coverings.covering``). There are at least ``size`` entrants.
    """
    pairings: list[Pairing] = []
    past = Past()
    while more := round_robin_on(entrants, size, seed, rounds, past, most=ALL, meet_once=meet_once):
        pairings += more
        for pairing in more:
            past.add(pairing)
    return pairings


def round_robin_on(
    entrants: Sequence[int],
    size: int,
    seed: bytes,
    rounds: int | None,
    before: Past,
    most: int,
    *,
    meet_once: bool = False,
) -> list[Pairing]:
    """Return the rounds of ``round_robin`` after those ``before``: as many as fit ``most`` tables, or one.

    This way a large round-robin is made part by part; after its last round there are none.
    """
    first = len(before)
    if rounds is not None and _one_by_one(len(entrants), size, rounds):
        return [_next(entrants, size, seed, before)] if first < rounds else []
    rng = generator(seed, "round-robin")
    plan = [covering(len(entrants), size)] if meet_once else _plan(len(entrants), size, rounds, rng)
    drawn = [(tables, names) for part in plan for names in [shuffled(entrants, rng)] for tables in part]
    positions = Positions(before.tables)
    stop = min(len(drawn), first + max(1, most // (len(entrants) // size)))
    return [
        _named(*drawn[number], positions, generator(seed, f"round-robin/{number + 1}"))
        for number in range(first, stop)
    ]


def _one_by_one(points: int, size: int, rounds: int) -> bool:
    """Return whether each round is searched only after those before it."""
    return points > LARGE and points * rounds > SEATS and not _wholes(points, size, rounds)


def _wholes(points: int, size: int, rounds: int) -> int:
    """Return how many whole round-robins a large field plays in exactly this many rounds."""
    times, rest = divmod(rounds, round_robin_rounds(points, size)) if points <= WHOLE else (0, 1)
    return 0 if rest else times


def _next(entrants: Sequence[int], size: int, seed: bytes, before: Past) -> Pairing:
    """Return a round in which as few as possible sit together who have met."""
    rng = generator(seed, f"round-robin/{len(before) + 1}")
    history = History(before.tables, [*chain.from_iterable(before.byes)])
    drawn = shuffled(entrants, rng)
    byes = sitting_out(drawn, history.byes, len(entrants) % size)
    out = set(byes)
    playing = [entrant for entrant in drawn if entrant not in out]
    tables = seat(len(playing), size, Costs(playing, size, history, gaps=False), rng)
    return placed([[playing[place] for place in table] for table in tables], byes, history, rng)


def _plan(points: int, size: int, rounds: int | None, rng: Random) -> list[Schedule]:
    """Return schedules to be played one after another, each with entrants drawn anew."""
    if rounds is None:
        return [schedule(points, size)]
    if points > LARGE:
        wholes = _wholes(points, size, rounds)
        return [schedule(points, size)] * wholes or [part(points, size, rounds)]
    if rounds < fewest_rounds(points, size) and constructed(points, size) is None:
        return [part(points, size, rounds)]  # too few to be whole, and nothing to take a part of
    whole = schedule(points, size)
    times, rest = divmod(rounds, len(whole))
    if times and not meets_equally(whole, points):
        repeated = max(0, min(times - 1, (rounds * points - SEATS) // (len(whole) * points)))
        rest = rounds - (repeated + 1) * len(whole)
        return [*[whole] * repeated, (*whole, *_after(whole, points, size, rest, rng))]
    meets_once = len(whole) * (size - 1) <= points
    return [*[whole] * times, whole[:rest] if meets_once else part(points, size, rest)]


def _after(before: Schedule, points: int, size: int, rounds: int, rng: Random) -> Schedule:
    """Return ``rounds`` rounds, searched so that meetings, with those ``before``, and byes are even."""
    if not rounds:
        return ()
    classes = Classes(points, 1)
    base = base_rounds(classes, size, rounds, rng)
    meetings = Meetings(classes)
    for tables in (*before, *base):
        meetings.add(tables[:-1])
    settle(base, meetings, SWAPS + SWAPS_EACH * points * rounds, COLD, rng)
    return tuple(base)


def _named(tables: Tables, names: Sequence[int], positions: Positions, rng: Random) -> Pairing:
    """Return entrants for points, each in the position that evens out best."""
    *full, byes = ([names[point] for point in table] for table in tables)
    ordered = tuple(positions.order(table, rng) for table in full)
    for table in ordered:
        positions.add(table)
    return Pairing(ordered, tuple(byes))
