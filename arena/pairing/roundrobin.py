"""Round-robin tournaments: every pair of entrants at a table equally often, or as nearly as can be."""

from collections.abc import Sequence
from random import Random

from arena.pairing.balance import Classes, Meetings, base_rounds, settle
from arena.pairing.by_standing import Costs, seat, sitting_out
from arena.pairing.chance import generator, shuffled
from arena.pairing.designs import Schedule, meets_equally, schedule
from arena.pairing.values import History, Pairing, Tables

LARGE = 64
"""From more entrants than this on, a given number of rounds is searched without looking for a design."""

SWAPS, COLD = 100_000, 0.6
"""Effort and final temperature of the search for a given number of rounds."""

SEATS = 4_000
"""Schedules of more seats (entrants times rounds) are searched round by round."""


def round_robin(entrants: Sequence[int], size: int, seed: bytes, rounds: int | None = None) -> list[Pairing]:
    """All rounds of a round-robin, drawn by lot from ``seed``.

    Without ``rounds`` the schedule is whole: every pair meets equally often wherever that is known to us,
    in as few rounds as possible, and everyone sits out equally often (see ``designs.schedule``). With
    ``rounds`` a whole schedule is played as often as it fits, drawn anew each time, and what remains is
    searched so that meetings and byes are as even as the search finds. Needs ``size`` entrants or more.
    """
    rng = generator(seed, "round-robin")
    plan = _plan(len(entrants), size, rounds, rng)
    return [
        _named(tables, names, rng) for part in plan for names in [shuffled(entrants, rng)] for tables in part
    ]


def _plan(points: int, size: int, rounds: int | None, rng: Random) -> list[Schedule]:
    """Schedules to be played one after another, each with entrants drawn anew."""
    if rounds is None:
        return [schedule(points, size)]
    if size > 2 and points > LARGE:
        return [searched(points, size, rounds, rng)]
    whole = schedule(points, size)
    if rounds > len(whole) and not meets_equally(whole, points):
        return [(*whole, *searched(points, size, rounds - len(whole), rng, whole))]
    times, rest = divmod(rounds, len(whole))
    meets_once = len(whole) * (size - 1) <= points
    return [*[whole] * times, whole[:rest] if meets_once else searched(points, size, rest, rng)]


def searched(points: int, size: int, rounds: int, rng: Random, before: Schedule = ()) -> Schedule:
    """So many rounds, searched for meetings that are even with those ``before``, and byes within one."""
    if points * rounds > SEATS:
        return tuple(_one_by_one(points, size, rounds, rng, before))
    classes = Classes(points, 1)
    found = base_rounds(classes, size, rounds, rng)
    meetings = Meetings(classes)
    for tables in (*before, *found):
        meetings.add(tables[:-1])
    settle(found, meetings, SWAPS, COLD, rng)
    return tuple(found)


def _one_by_one(points: int, size: int, rounds: int, rng: Random, before: Schedule) -> list[Tables]:
    tables = [table for earlier in before for table in earlier[:-1]]
    byes: list[int] = []
    found = []
    for _ in range(rounds):
        drawn = shuffled(range(points), rng)
        out = sitting_out(drawn, byes, points % size)
        playing = [point for point in drawn if point not in out]
        seats = seat(len(playing), size, Costs(playing, size, History(tables), gaps=False), rng)
        found.append([*([playing[place] for place in table] for table in seats), list(out)])
        tables += found[-1][:-1]
        byes += out
    return found


def _named(tables: Tables, names: Sequence[int], rng: Random) -> Pairing:
    """Entrants for points; the order inside a table is by lot."""
    *full, byes = ([names[point] for point in table] for table in tables)
    return Pairing(tuple(tuple(shuffled(table, rng)) for table in full), tuple(byes))
