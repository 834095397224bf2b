"""Comparing the arena's seatings and pairings with those that docs/pairings.md specifies.

``python -m tests.arena.compared_pairings`` compares many tournaments, and large ones; that takes long.
"""

import sys
from collections.abc import Iterator
from hashlib import sha256
from random import Random
from typing import Any

from arena.core.seating import seatings
from tests.arena import pairing_from_page
from tests.vectors import pair

ROUNDS = 5
Given = dict[str, Any]

LARGE = (
    *((10, 2), (27, 3), (39, 3), (64, 4), (73, 4), (25, 5), (49, 7), (64, 8), (73, 8)),
    *((24, 6), (28, 4), (30, 5), (52, 4), (60, 4), (66, 5)),
)
"""Entrants and table sizes of whole round-robins, among them all kinds of constructions."""
LARGE_ROUNDS = ((70, 4, 10), (73, 4, 100), (66, 3, 70), (101, 8, 41), (410, 8, 10))
"""The same with a number of rounds: in all ways in which rounds for many are made."""


def tournament(format_: str, seed: int, largest: int = 6) -> Given:
    """Return a tournament before its first round, of tables of 2 to 8 and up to ``largest`` tables."""
    rng = Random(f"{format_}/{seed}")
    size = rng.randrange(2, 9)
    number = rng.randrange(size, largest * size + size)
    owners = [rng.randrange(max(1, number * rng.choice((1, 2, 3)) // 2)) for _ in range(number)]
    given: Given = {"format": format_, "size": size, "lots": sha256(b"%d" % seed).hexdigest()}
    given |= {"rounds": None, "options": {}, "owners": owners, "owners_apart": rng.random() < 0.5}
    given |= {"played": [], "withdrawn": [], "free": None}
    match format_:
        case "knockout" if size > 2 and rng.random() < 0.7:
            given["options"] = {"advance": rng.randrange(1, size)}
        case "gauntlet":
            given["options"] = {"challengers": rng.randrange(1, number - size + 2)}
            given["rounds"] = rng.choice((None, rng.randrange(1, 12)))
        case "round-robin":
            given["owners"] = [*range(min(number, 3 * size))]
            most = len(given["owners"]) * rng.choice((1, 2))
            if rng.random() < 0.15:
                given["options"] = {"meetings": "at-least-once"}
            else:
                given["rounds"] = rng.choice((None, 2, rng.randrange(1, most)))
    return given


def compared(format_: str, seed: int) -> Iterator[tuple[Given, object, object]]:
    """Play a tournament; yield for each round what was asked, and both answers."""
    rng = Random(seed)
    given = tournament(format_, seed)
    numbers = range(1, len(given["owners"]) + 1)
    for _ in range(ROUNDS):
        if format_ == "continuous":
            given["free"] = [_free(number, rng) for number in numbers if rng.random() < 0.8]
            if not given["free"]:
                return
        expected: list[Given] = pair.answer(given)
        yield given, expected, pairing_from_page.answer(given)
        if not expected or format_ == "round-robin":
            return
        points = [[rng.randrange(4) - 2 for _ in table] for table in expected[0]["tables"]]
        given = {**given, "played": [*given["played"], {**expected[0], "points": points}]}
        if format_ in ("swiss", "knockout") and rng.random() < 0.3:
            given["withdrawn"] = [*given["withdrawn"], rng.choice(numbers)]


def _free(number: int, rng: Random) -> Given:
    rating = 1500 + rng.gauss(0, rng.choice((30, 200)))
    return {"entrant": number, "rating": rating, "weight": rng.random() * rng.choice((0, 3, 40))}


def differing(format_: str, seed: int) -> str:
    """Return where the two differ in a tournament; empty if they do not."""
    for given, expected, got in compared(format_, seed):
        if expected != got:
            return f"{given}: {expected} is {got} on the page"
    return ""


def _compared_large() -> Iterator[str]:
    """Yield the large round-robins in which the two differ."""
    for number, size, rounds in [*((*both, None) for both in LARGE), *LARGE_ROUNDS]:
        given = tournament("round-robin", 0) | {"size": size, "owners": [*range(number)], "options": {}}
        given["rounds"] = rounds
        while len(given["played"]) < (rounds or 1):
            expected = pair.answer(given)
            if pairing_from_page.answer(given) != expected:
                yield f"round {len(given['played']) + 1} of {number} entrants at tables of {size}"
                break
            given["played"] = [*given["played"], *expected]


def main() -> int:
    """Compare many tournaments, and large ones; return the exit status."""
    found = [differing(format_, seed) for format_ in pairing_from_page.FORMATS for seed in range(40)]
    found += _compared_large()
    found += [
        f"seatings of {size} in {sessions} sessions"
        for size in range(2, 9)
        for sessions in (*range(1, 3 * size), 56, 113)
        if seatings(size, sessions, duplicate=False)
        != [*map(tuple, pairing_from_page.seatings(size, sessions))]
    ]
    differences = [one for one in found if one]
    print(*differences, f"{len(differences)} differences from docs/pairings.md", sep="\n")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
