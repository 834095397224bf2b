"""How long it takes to pair rounds, and how good they are: ``python -m benchmarks.pairing``.

``--meetings`` prints the table of ``docs/fairness.md`` instead: the rounds until all have met.

Plays a Swiss tournament of bots of random strength for each size of field, and shows how long pairing the
last round took and what it cost, compared with tables cut from the standings in order. Owners have three bots
each.
"""

import argparse
import random
import time
from collections.abc import Sequence

from arena.core.formats.round_robin import round_robin, round_robin_rounds
from arena.core.formats.swiss import swiss
from arena.core.pairing import History, Pairing, balance
from arena.core.pairing.coverings import covering, least_rounds
from arena.core.pairing.search import Cost, Costs

FIELDS = ((16, 4, 5), (24, 4, 6), (40, 4, 6), (1_000, 4, 7), (10_000, 4, 7), (10_000, 8, 7), (10_000, 2, 13))
"""Numbers of entrants, sizes of tables and numbers of rounds."""

MEETINGS = (
    *((8, 3), (15, 3), (24, 3), (30, 3), (8, 4), (12, 4), (16, 4), (20, 4), (24, 4), (30, 4), (40, 4)),
    *((60, 4), (100, 4), (21, 5), (30, 5), (40, 5), (60, 5), (20, 6), (36, 6), (60, 6), (21, 7), (49, 7)),
    *((32, 8), (64, 8)),
)
"""Numbers of entrants and sizes of tables whose rounds are compared with the lower bound."""

SCHEDULES = ((12, 4), (16, 4), (28, 4), (40, 4), (52, 4), (100, 4), (21, 3), (30, 5), (42, 6), (64, 8))
"""Numbers of entrants and sizes of tables of whole round-robins."""


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairing", description=__doc__)
    parser.add_argument("--most", type=int, default=10_000, help="only fields of at most so many entrants")
    parser.add_argument("--meetings", action="store_true", help="print the rounds of both kinds of meetings")
    options = parser.parse_args()
    if options.meetings:
        print_meetings()
    else:
        print_times(options.most)


def print_times(most: int) -> None:
    """Print how long pairing takes, and how good it is."""
    print("Swiss, last round    seconds   same owner / repeats / squared gaps      cut in order")
    for entrants, size, rounds in FIELDS:
        if entrants <= most:
            seconds, found, plain = play(entrants, size, rounds)
            print(
                f"{entrants:6} x {size}, {rounds:2} rounds {seconds:8.2f}   {_told(found):34}",
                f"  {_told(plain)}",
            )
    print("\nRound-robin          seconds   rounds   meetings   positions   byes")
    for entrants, size in SCHEDULES:
        if entrants <= most:
            start = time.perf_counter()
            rounds = round_robin_rounds(entrants, size)
            found_rounds = round_robin(range(entrants), size, b"benchmark")
            seconds = time.perf_counter() - start
            even = balance(range(entrants), found_rounds)
            spreads = (f"{least}-{most}" for least, most in (even.meetings, even.positions, even.byes))
            print(
                f"{entrants:6} x {size} {seconds:19.2f} {rounds:8} {'{:>10} {:>11} {:>6}'.format(*spreads)}"
            )


def print_meetings() -> None:
    """Print how many rounds it takes until all have met equally often, and at least once."""
    print("| entrants × table | equal meetings | at least once | no fewer than | seconds |")
    print("|---|---|---|---|---|")
    for entrants, size in MEETINGS:
        equal = round_robin_rounds(entrants, size)
        start = time.perf_counter()
        once = len(covering(entrants, size))
        seconds = time.perf_counter() - start
        least = least_rounds(entrants, size)
        print(f"| {entrants} × {size} | {equal} | {once} | {least} | {seconds:.1f} |", flush=True)


def play(entrants: int, size: int, rounds: int) -> tuple[float, Cost, Cost]:
    """Run a Swiss tournament; return its last round's seconds and cost, and that of tables cut in order."""
    rng = random.Random(entrants * size)
    strength = [rng.gauss(0, 1) for _ in range(entrants)]
    score = [0.0] * entrants
    played: list[Pairing] = []
    for number in range(1, rounds + 1):
        standing = sorted(range(entrants), key=lambda bot: (-score[bot], bot))
        history = History(
            [table for one in played for table in one.tables],
            [bot for one in played for bot in one.byes],
            {bot: bot // 3 for bot in range(entrants)},
            dict(enumerate(score)),
        )
        start = time.perf_counter()
        played.append(swiss(standing, size, history, number, b"benchmark"))
        seconds = time.perf_counter() - start
        _score(played[-1], strength, score, rng)
    out = set(played[-1].byes)
    playing = [bot for bot in standing if bot not in out]
    costs = Costs(playing, size, history, gaps=True)
    place = {bot: at for at, bot in enumerate(playing)}
    found = costs.parts([[place[bot] for bot in table] for table in played[-1].tables])
    plain = costs.parts([range(at, at + size) for at in range(0, len(playing), size)])
    return seconds, found, plain


def _score(pairing: Pairing, strength: Sequence[float], score: list[float], rng: random.Random) -> None:
    for table in pairing.tables:
        for beaten, bot in enumerate(sorted(table, key=lambda bot: rng.gauss(strength[bot], 1))):
            score[bot] += beaten
    for bot in pairing.byes:
        score[bot] += (len(pairing.tables[0]) - 1) / 2


def _told(cost: Cost) -> str:
    return f"{cost.owners} / {cost.repeats} / {cost.gaps / 4:.0f}"


if __name__ == "__main__":
    main()
