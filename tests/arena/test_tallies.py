"""Tallies, which queries read in place of history, agree with the deals, whatever happens to a tournament."""

import json
from dataclasses import astuple, replace
from typing import Any, get_args

import pytest
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.bots import versions
from arena.core.duplicate import PlayedSession
from arena.errors import LeaseLost
from arena.play.matches import leases, storing
from arena.play.matches.playing import Run
from arena.play.rounds import advance
from arena.results.ratings.rebuild import rebuild
from arena.results.sessions import Highlighted, highlights
from arena.results.strength.sums import CountedDeals, Met, SeatSum, Sums
from arena.store.models import BotVersion, HighlightKind
from arena.tournaments import entry
from referee.deals.action import OnForfeit
from referee.ruleset import load_ruleset
from tests.arena.exported import play_by_table
from tests.arena.fakes import ROOT, session_result
from tests.arena.tallied import counted, kept
from tests.arena.test_rating_forfeits import leaving
from tests.arena.test_verify_forfeits import failing, played_with
from tests.arena.world import LEASE, World


def played(*points: tuple[int, ...], seating: tuple[int, ...] = (0, 1, 2), **more: Any) -> CountedDeals:
    """Return a session with these points by deal and seat."""
    session = PlayedSession(1, seating, points, None, **{"faults": (0,) * len(seating), **more})
    return CountedDeals(session, points)


MEETINGS = {
    "one ahead": (
        [played((0, -2, -5))],
        {(7, 8): Met(1, 1, 1, 0, 2, 3, 2.0), (7, 9): Met(1, 1, 1, 0, 5, 3, 5.0)},
    ),
    "tied": ([played((0, 0, -5))], {(7, 8): Met(1, 1, 0, 0, 0, 3, 0.0)}),
    "each once": ([played((0, -2, -5), (-9, 0, -1))], {(7, 8): Met(2, 1, 1, 1, -7, 3, -7.0)}),
    "seated otherwise": ([played((0, -2, -5), seating=(1, 0, 2))], {(7, 8): Met(1, 1, 0, 1, -2, 3, -2.0)}),
    "two sessions": (
        [played((0, -2, -5)), played((0, -2, -5), seating=(1, 2, 0))],
        {(7, 8): Met(2, 1, 1, 1, -3, 3, -3.0)},
    ),
}


@pytest.mark.parametrize("name", MEETINGS)
def test_meetings_when_a_match_is_added_then_they_are_those_of_its_deals(name: str) -> None:
    sessions, expected = MEETINGS[name]
    sums = Sums(3)
    sums.add_match(3, (7, 8, 9), sessions)
    for pair, met in expected.items():
        assert astuple(sums.meetings[pair]) == pytest.approx(astuple(met))
    assert set(sums.meetings) == {(7, 8), (7, 9), (8, 9)}


def test_meetings_when_no_deal_counts_then_there_are_none_but_forfeits_and_faults_count() -> None:
    sums = Sums(3)
    sums.add_match(3, (9, 8, 7), [played(forfeits=(0,), faults=(10, 0, 1))])
    assert sums.meetings == {}
    assert sums.seats == {
        (9, 0): SeatSum(faults=10, forfeits=1),
        (8, 1): SeatSum(),
        (7, 2): SeatSum(faults=1),
    }


def test_meetings_when_there_are_more_matches_then_the_latest_is_that_with_the_highest_id() -> None:
    sums = Sums(3)
    for match_id in (5, 9, 2):
        sums.add_match(match_id, (8, 7, 9), [played((0, -2, -5))])
    assert sums.meetings[7, 8] == Met(3, 3, 0, 3, -6, 9, -6.0)


SEATS = {
    "alone": (
        (0, -2, -5),
        {(7, 0): SeatSum(1, 0, 0, 1.0), (8, 1): SeatSum(1, -2, 4), (9, 2): SeatSum(1, -5, 25)},
    ),
    "shared by two": ((3, 3, -5), {(7, 0): SeatSum(1, 3, 9, 0.5), (8, 1): SeatSum(1, 3, 9, 0.5)}),
    "shared by all": ((1, 1, 1), {(9, 2): SeatSum(1, 1, 1, 1 / 3)}),
}


@pytest.mark.parametrize("name", SEATS)
def test_seats_when_a_deal_is_added_then_who_had_the_most_points_was_first(name: str) -> None:
    points, expected = SEATS[name]
    sums = Sums(3)
    sums.add_match(3, (7, 8, 9), [played(points)])
    assert {key: sums.seats[key] for key in expected} == expected


def deal(number: int, points: list[int], actions: str = "0:3D,1:-", **more: object) -> dict[str, object]:
    return {"deal": number, "points": points, "actions": actions.split(","), **more}


HIGHLIGHTS = {
    "no deal": ([], {}),
    "forfeited": ([deal(1, [0, -9], forfeit=0), deal(2, [0, -9], played_for=[{}])], {}),
    "one": ([deal(1, [0, -9])], {"closest": (1, 9), "swing": (1, 9), "longest": (1, 2)}),
    "two": (
        [deal(1, [0, -9]), deal(2, [0, -3], "0:3D,1:-,0:4D")],
        {"closest": (2, 3), "swing": (1, 9), "longest": (2, 3)},
    ),
    "alike": ([deal(1, [0, -3]), deal(2, [-3, 0])], {"closest": (1, 3), "swing": (1, 3), "longest": (1, 2)}),
    "third far behind": ([deal(1, [-2, -40, 0])], {"closest": (1, 2), "swing": (1, 40), "longest": (1, 2)}),
    "all alike": ([deal(1, [0, 0])], {"closest": (1, 0), "longest": (1, 2)}),
    "bombs": (
        [deal(1, [0, -3], "0:3D 3C 3H 3S 4D,1:-"), deal(2, [0, -3], "0!3D 3C 3H 3S 4D,1:4D 5D 6D 7D 8D")],
        {"closest": (1, 3), "swing": (1, 3), "longest": (1, 2), "bombs": (2, 2)},
    ),
}


@pytest.mark.parametrize("name", HIGHLIGHTS)
def test_highlights_when_a_session_is_over_then_they_are_its_first_best_deals(name: str) -> None:
    deals, expected = HIGHLIGHTS[name]
    found = highlights(deals, load_ruleset("taiwan").to_object())
    assert found == [Highlighted(HighlightKind(kind), *value) for kind, value in expected.items()]


def test_highlights_when_the_ruleset_has_no_bombs_then_the_same_cards_are_none() -> None:
    found = highlights([deal(1, [0, -3], "0:3D 3C 3H 3S 4D,1:-")], load_ruleset("chinese").to_object())
    assert HighlightKind.BOMBS not in {one.kind for one in found}


TOURNAMENTS: dict[str, dict[str, object]] = {
    "round-robin": {"rounds": 2},
    "swiss with byes": {"format": "swiss", "rounds": 2},
    "continuous": {"format": "continuous", "rounds": 3},
    "duplicate": {"rounds": 1, "duplicate": True, "deals": 1, "ruleset": "hong-kong"},
    "with bombs": {"rounds": 1, "ruleset": "taiwan", "deals": 6},
    "of three": {"rounds": 1, "ruleset": "choi-dai-di-3", "sessions": 3},
    "not rated": {"rounds": 1, "rated": False},
}


@pytest.mark.parametrize("name", TOURNAMENTS)
def test_tallies_when_a_tournament_is_over_then_they_are_what_its_deals_come_to(
    world: World, name: str
) -> None:
    count = {"swiss with byes": 9, "of three": 6}.get(name, 8)
    world.finish(world.tournament(count, **TOURNAMENTS[name]).id, play_by_table)
    found = kept(world.storage)
    assert found == counted(world.storage)
    assert found["highlights"]
    assert bool(found["meetings"]) == bool(found["seats"]) == (name != "not rated")
    assert any(kind == "bombs" for _, kind in found["highlights"]) == (name == "with bombs")


@pytest.mark.parametrize("mode", get_args(OnForfeit))
@pytest.mark.parametrize(
    "run", [failing, played_with(lambda number: number != 2), leaving], ids=["faults", "absent", "leaving"]
)
@pytest.mark.parametrize("duplicate", [False, True])
def test_tallies_when_bots_forfeit_then_deals_without_them_count_only_for_the_first_that_left(
    world: World, run: Run, mode: OnForfeit, duplicate: bool
) -> None:
    limits: dict[str, object] = {"decision_ms": 5000, "join_seconds": 10, "faults": 3, "sessions": 4}
    limits |= {"deals": 1 if duplicate else 2, "duplicate": duplicate, "on_forfeit": mode}
    world.finish(world.tournament(12 if duplicate else 8, rounds=1, **limits).id, run)
    found = kept(world.storage)
    assert found == counted(world.storage)
    assert sum(forfeits for *_, forfeits in found["seats"].values()) > 0
    kinds = {"illegal"} if run is leaving or (run is failing and mode != "end_session") else set()
    assert bool(found["left"]) == (run is leaving)
    assert {kind for *_, kind in found["faults"]} == kinds
    assert rebuild(world.storage).problem is None


def test_tallies_when_an_entrant_withdraws_then_those_of_what_it_played_stay(world: World) -> None:
    cup = world.tournament(8, format="swiss", rounds=3)
    world.advance(cup.id)
    world.play(world.messages.pop(), play_by_table)
    entry.withdraw(world.storage, ROOT, "cup", "owner-1/bot-1", world.clock())
    world.finish(cup.id, play_by_table)
    found = kept(world.storage)
    assert found == counted(world.storage)
    [gone] = versions_of(world, "owner-1/bot-1")
    assert 0 < sum(row[1] for key, row in found["meetings"].items() if gone in key[3:]) < 9


def test_tallies_when_a_bot_is_registered_again_then_its_versions_have_their_own(world: World) -> None:
    names = world.register(4)
    world.finish(world.tournament_of(names, name="one", rounds=1).id, play_by_table)
    again = versions.register_version(world.storage, ROOT, "owner-1/bot-1", world.clock()).bot
    world.clock.move(60)
    world.finish(world.tournament_of([*names[:1], again, *names[2:]], rounds=1).id, play_by_table)
    found = kept(world.storage)
    assert found == counted(world.storage)
    old, new = versions_of(world, "owner-1/bot-1")
    assert not [key for key in found["meetings"] if {old, new} <= set(key[3:])]
    assert found["last_played"][1, 4, old] < found["last_played"][1, 4, new]


def versions_of(world: World, bot: str) -> list[int]:
    """Return the ids of a bot's versions, oldest first."""
    with world.storage.read() as tx:
        rows = select(BotVersion.id).where(col(BotVersion.name).startswith(f"{bot}@"))
        return list(tx.exec(rows.order_by(col(BotVersion.id))))


def test_session_when_it_cannot_be_stored_again_then_its_tallies_are_not_either(world: World) -> None:
    world.tournament(4, rounds=1)
    world.advance(1)
    claimed = leases.claim(world.storage, world.messages.pop(), world.clock(), LEASE)
    assert claimed is not None
    first = session_result(claimed.spec, claimed.spec.sessions[0])
    faulty = [json.loads(record) | {"faults": [{"seat": 1, "kind": "stall"}]} for record in first.records]
    result = replace(first, records=tuple(map(json.dumps, faulty)))
    storing.store_session(world.storage, claimed, result, world.clock())
    before = kept(world.storage)
    assert list(before["faults"].values()) == [len(first.records)]
    with pytest.raises(IntegrityError):
        storing.store_session(world.storage, claimed, result, world.clock())
    with pytest.raises(LeaseLost):
        storing.store_session(world.storage, replace(claimed, owner="another"), result, world.clock())
    assert kept(world.storage) == before == counted(world.storage)


def test_round_when_it_is_closed_already_then_nothing_is_added(world: World) -> None:
    world.finish(world.tournament(8, format="swiss", rounds=2).id)
    before = kept(world.storage)
    assert not advance.close_round(world.storage, 1, world.clock())
    assert kept(world.storage) == before
