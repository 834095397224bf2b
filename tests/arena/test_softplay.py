"""Soft play: which turns are chances, and which bots stand out."""

from collections.abc import Sequence
from math import hypot, sqrt
from statistics import NormalDist
from typing import Any

import pytest
from sqlmodel import select

from arena.core.chances import Chance, chances, count_chances
from arena.core.softplay import LEVEL, NESTED, Chances, Key, treatments
from arena.queries.softplay import soft_play
from arena.results.luck.references import weigh_due
from arena.results.ratings.rebuild import rebuild
from arena.store.models import Entrant, EntrantChances, Session, SessionRecords
from arena.store.records import unpack_records
from referee.records.reading import read_record
from referee.records.record import full_record
from referee.rules.rulebook import rules_of
from tests.arena.fakes import ROOT
from tests.arena.random_play import play_randomly
from tests.arena.world import World

RULES = rules_of("hong-kong").ruleset.to_object()
ACTIONS = (
    *("0:3D 5D TD JD KD", "3:-", "2:4S 5S 8S 9S KS", "1:6H 6S 7D 7C 7H", "0:-", "3:-", "2:-"),
    *("1:4H 8H JH QH KH", "0:-", "3:-", "2:-", "1:AC AS", "0:-", "3:2H 2S", "2:-", "1:-", "0:-", "3:QD QS"),
    *("2:-", "1:-", "0:-", "3:9D 9C", "2:TH TS", "1:-", "0:-", "3:-", "2:8D", "1:2D"),
)
DEAL = {
    "deal": 1,
    "seed": "e4d996f9dd06454746a502dc7c32da86dd8bf9002160486fdea63ae23c520a2c",
    "dealer": 0,
    "direction": "anticlockwise",
    "hands": [
        "3D 3C 3S 5D 6C 7S 8C TD TC JD QC KD AD",
        "4H 6H 6S 7D 7C 7H 8H JH QH KH AC AS 2D",
        "4S 5S 8D 8S 9H 9S TH TS JS KC KS AH 2C",
        "3H 4D 4C 5C 5H 6D 9D 9C JC QD QS 2H 2S",
    ],
    "leftover": "",
    "leader": 0,
    "out": [1],
    "left": ["3C 3S 6C 7S 8C TC QC AD", "", "9H JS KC AH 2C", "3H 4D 4C 5C 5H 6D JC"],
    "points": [-8, 0, -5, -7],
    "end": "out",
}


def situation(
    widest: int, cards: int, place: int, height: int, own: int, led: int, fewest: int = 2, behind: int = 0
) -> int:
    """Return the number of a situation in which the next seat has many cards.

    ``place`` is how many seats on the other one sits.
    """
    middle = (widest * 4 + cards - 1) * 7 + place - 1
    return (middle * 42 + height * 6 + own * 2 + led) * 12 + fewest * 4 + behind * 2


TENS = situation(0, cards=2, place=1, height=3, own=1, led=1, fewest=0, behind=1) + 1
"""Seat 2 may beat nines with tens; seat 1, the next, holds a card."""
FOUND = [
    # seat 0 has as few cards as anybody, and a king beats it
    Chance(2, 2, 0, situation(2 + 1, 4, place=2, height=1, own=2, led=1, fewest=1, behind=1), passed=False),
    # seats 0 and 2 have eight cards each
    Chance(3, 1, 2, situation(2, 4, place=1, height=4, own=2, led=0, fewest=1, behind=1), passed=False),
    Chance(22, 2, 3, TENS, passed=False),  # at 13 the pair of twos is part of a straight
    Chance(27, 1, 2, situation(1, 1, place=1, height=0, own=0, led=1, fewest=0), passed=False),
]


def found(actions: Sequence[str] = ACTIONS, ruleset: Any = RULES, **fields: object) -> list[Chance]:
    """Return the chances of the deal with these actions."""
    lean = {**DEAL, "actions": [*actions], **fields}
    seats = [f"bots/{seat}@1" for seat in range(4)]
    record = full_record(lean, ruleset=ruleset, tournament="any", round=1, table=1, session=1, seats=seats)
    return [*chances(read_record(record))]


def test_chances_when_plays_can_be_beaten_then_they_are_turns_at_which_that_costs_nothing() -> None:
    assert found() == FOUND
    assert found([*ACTIONS[:22], "2:-"]) == [*FOUND[:2], Chance(22, 2, 3, TENS, passed=True)]


def test_chances_when_a_bot_passes_by_a_fault_then_it_gave_way_as_by_a_pass_of_its_own() -> None:
    late = {"seat": 2, "action": 22, "kind": "timeout"}
    given_way = [*FOUND[:2], Chance(22, 2, 3, TENS, passed=True)]
    assert found([*ACTIONS[:22], "2:-"], faults=[late]) == given_way
    leaving = {"seat": 2, "deal": 1, "action": 22, "by": "default_action", "why": "faults"}
    assert found([*ACTIONS[:22], "2:-"], faults=[late], played_for=[leaving]) == given_way


def test_chances_when_a_bot_has_left_then_there_are_none() -> None:
    gone = {"seat": 2, "deal": 1, "action": 20, "by": "default_action", "why": "faults"}
    assert found(played_for=[gone]) == [FOUND[0], FOUND[1], FOUND[3]]


def test_chances_when_seats_are_partners_then_there_are_none_between_them() -> None:
    partners = found(ruleset={**RULES, "name": "partners", "partners": "opposite"})
    assert partners == [one for one in FOUND if (one.seat - one.other) % 2]
    assert len(partners) < len(FOUND)


def test_treatments_when_rates_differ_then_the_interval_is_newcombes_for_all_pairs() -> None:
    near, far = 0, NESTED[-1]
    counts = {
        (1, 2, near): Chances(100, 30),
        (1, 2, far): Chances(50, 10),
        (1, 2, 2 * far): Chances(40, 40),  # not met with the rest, nor anything like it: left out
        (1, 3, near): Chances(200, 20),
        (1, 4, near): Chances(200, 0),
        (1, 4, far): Chances(300, 30),
        (4, 1, near): Chances(100, 50),
    }
    first, *others = treatments(counts)
    assert (first.bot, first.other, first.chances, first.passed) == (1, 2, 150, 40)
    assert first.rest == pytest.approx((100 * 20 / 400 + 50 * 30 / 300) / 150)
    assert first.difference == pytest.approx(40 / 150 - first.rest)
    z = NormalDist().inv_cdf(1 - LEVEL / 2 / 4)  # four pairs
    weight = 150**2 / (100**2 / 400 + 50**2 / 300)
    low, high = bounds(40 / 150, 150, z)
    rest_low, rest_high = bounds(first.rest, weight, z)
    assert first.low == pytest.approx(first.difference - hypot(40 / 150 - low, rest_high - first.rest))
    assert first.high == pytest.approx(first.difference + hypot(high - 40 / 150, first.rest - rest_low))
    assert {(pair.bot, pair.other) for pair in others} == {(1, 3), (1, 4)}  # 4 has met nobody but 1
    assert not any(pair.stands_out for pair in others)


def test_treatments_when_a_manner_explains_the_difference_then_nobody_stands_out() -> None:
    single, pair = situation(0, 1, 1, 0, 2, 1), situation(0, 2, 1, 0, 2, 1)
    counts: dict[Key, Chances] = {}
    for other in range(1, 5):  # bot 0 answers singles alone; bot 1 plays more pairs than the rest
        pairs = 1_500 if other == 1 else 500
        counts[0, other, single] = Chances(2_000 - pairs, 0)
        counts[0, other, pair] = Chances(pairs, pairs)
    assert treatments(counts)[0].difference == pytest.approx(0, abs=0.001)
    counts[0, 1, single] = Chances(500, 150)
    first = treatments(counts)[0]
    assert (first.bot, first.other) == (0, 1)
    assert first.difference == pytest.approx(150 / 2_000, abs=0.001)


def test_treatments_when_a_situation_is_new_to_the_rest_then_wider_ones_make_up_for_it() -> None:
    there, nearby = situation(0, 1, 1, 0, 2, 1), situation(0, 1, 1, 0, 1, 1)
    counts = {(0, 1, there): Chances(100, 40), (0, 2, nearby): Chances(400, 40)}
    first = treatments(counts)[0]
    assert (first.chances, first.passed) == (100, 40)
    assert first.rest == pytest.approx(0.1)
    counts[0, 3, there] = Chances(50, 50)  # so its rates do vary within the wider situation
    rest = {pair.other: pair.rest for pair in treatments(counts)}
    assert 0.9 < rest[1] < 1


def bounds(share: float, number: float, z: float) -> tuple[float, float]:
    """Return Wilson's bounds: the rates p at which (share - p)² = z² p (1 - p) / number."""
    a, b, c = 1 + z * z / number, -(2 * share + z * z / number), share * share
    root = sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def test_treatments_when_bots_are_equal_or_pass_little_then_nobody_stands_out() -> None:
    equal: dict[Key, Chances] = {
        (bot, other, 0): Chances(1_000, 400) for bot in range(4) for other in range(4) if bot != other
    }
    assert not any(one.stands_out for one in treatments(equal))
    few = {**equal, (0, 1, 0): Chances(8, 8)}
    assert not any(one.stands_out for one in treatments(few))
    small = {**equal, (0, 1, 0): Chances(100_000, 44_900)}  # within what is allowed for
    assert not any(one.stands_out for one in treatments(small))
    soft = {**equal, (0, 1, 0): Chances(1_000, 550)}
    assert [(one.bot, one.other) for one in treatments(soft) if one.stands_out] == [(0, 1)]


def test_taking_in_when_rounds_end_then_the_chances_of_entrants_are_those_of_the_records(
    world: World,
) -> None:
    tournament = world.tournament(8, rounds=2, sessions=4)
    world.finish(tournament.id, play_randomly)
    clock = iter(range(10**9))
    weigh_due(world.storage, world.clock, lambda: float(next(clock)), seconds=1e9)
    right = 0
    with world.storage.read() as tx:
        for packed in tx.exec(select(SessionRecords.records).join(Session)).all():
            rows = count_chances(rules_of("chinese").ruleset.to_object(), unpack_records(packed))
            right += sum(row[3] for row in rows)
        stored = tx.exec(select(EntrantChances)).all()
        assert sum(row.chances for row in stored) == right > 100
        ids = {*tx.exec(select(Entrant.id)).all()}
    assert all({row.entrant_id, row.other_id} <= ids and row.entrant_id != row.other_id for row in stored)
    assert all(0 <= row.passed <= row.chances for row in stored)
    assert rebuild(world.storage).problem is None
    shown = soft_play(world.storage, ROOT, "cup", limit=5)
    assert shown.looked_at == len({(row.entrant_id, row.other_id) for row in stored})
    assert len(shown.pairs) == 5
    assert shown.next is not None
    again = soft_play(world.storage, ROOT, "cup", limit=500, cursor=shown.next)
    assert len(shown.pairs) + len(again.pairs) == shown.looked_at
    assert all(line.deals > 0 for line in (*shown.pairs, *again.pairs))
    with world.storage.write() as tx:
        row = tx.exec(select(EntrantChances)).first()
        assert row is not None
        row.passed += 1
        tx.add(row)
    assert "chances" in (rebuild(world.storage).problem or "")
